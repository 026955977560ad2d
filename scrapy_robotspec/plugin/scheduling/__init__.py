"""Where requests wait, and which request goes next."""

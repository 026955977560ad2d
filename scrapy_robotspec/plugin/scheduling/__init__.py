"""Queues of waiting requests, and which request goes next."""

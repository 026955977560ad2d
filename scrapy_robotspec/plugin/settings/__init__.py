"""The ``ROBOTSPEC_*`` settings, validated."""

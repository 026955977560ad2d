"""The spiders, one idea each. What they share stands in ``example/base.py``."""

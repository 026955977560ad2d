"""Spiders that single tests need besides the plain one."""

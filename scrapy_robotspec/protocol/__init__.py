"""Reads robots.txt: bytes in, verdict out. No HTTP, no clock, no I/O."""

"""Reads robots.txt responses from archives, folders and tables."""

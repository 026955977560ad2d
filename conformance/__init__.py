"""A conformance suite for robots.txt parsers in any language; see ``README.md``."""

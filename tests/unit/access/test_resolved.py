"""Placeholder of the prototype: the tests of Resolved stand in tests/unit/lookup today."""

"""The linter: reads a file a second time and reports findings."""

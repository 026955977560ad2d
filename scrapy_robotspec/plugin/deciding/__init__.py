"""From a request and its rules to an answer; nothing waits here."""

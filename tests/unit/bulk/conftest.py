"""The same numbers of generated examples as for the parser."""

from __future__ import annotations

from tests.unit.protocol.property import conftest  # noqa: F401  # loads the profile

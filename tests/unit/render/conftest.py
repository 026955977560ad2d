"""The fixtures of the command line."""

from __future__ import annotations

from tests.support.command_line import folder, tell

__all__ = ["folder", "tell"]

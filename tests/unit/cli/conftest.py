"""The fixtures of the command line."""

from __future__ import annotations

from tests.support.command_line import folder, run_command

__all__ = ["folder", "run_command"]

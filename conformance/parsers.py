"""All parsers that the suite knows, in the order of the scoreboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.adapters import ADAPTERS
from conformance.programs import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.adapters import Adapter
    from conformance.programs import Program

PARSERS: Mapping[str, Adapter | Program] = {**ADAPTERS, **PROGRAMS}

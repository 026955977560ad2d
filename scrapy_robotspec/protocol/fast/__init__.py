"""The verdicts of ``plain``, sooner. Removing this package would change no verdict.

``compile`` is for verdicts, ``RuleSet`` for the rules of one group and many URLs, ``matching`` for
many patterns and one path. ``pack`` makes plain values of a rule set, from which ``unpack`` makes
it again. Other packages use nothing else.
"""

from __future__ import annotations

from scrapy_robotspec.protocol.fast.compiled import CompiledFile, unpack
from scrapy_robotspec.protocol.fast.packed_rules import pack
from scrapy_robotspec.protocol.fast.ruleset import RuleSet
from scrapy_robotspec.protocol.fast.wildcards import matching

__all__ = ["RuleSet", "compile", "matching", "pack", "unpack"]

#: Compile a file; its groups are compiled on first use.
compile = CompiledFile  # noqa: A001  # as re.compile()

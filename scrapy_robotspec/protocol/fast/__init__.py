"""The verdicts of ``plain``, sooner. Removing this package would change no verdict.

``compile`` is for the verdicts of a file, ``RuleSet`` for the rules of one group and many URLs.
Other packages use nothing else.
"""

from __future__ import annotations

from scrapy_robotspec.protocol.fast.compiled import CompiledFile
from scrapy_robotspec.protocol.fast.ruleset import RuleSet

__all__ = ["RuleSet", "compile"]

#: Compile a file; its groups are compiled on first use.
compile = CompiledFile  # noqa: A001  # as re.compile()

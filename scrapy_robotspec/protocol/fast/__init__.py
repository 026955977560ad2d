"""The verdicts of ``plain``, sooner. Removing this package would change no verdict.

``CompiledFile`` is for the verdicts of a file, ``RuleSet`` for the rules of one group and many
URLs, ``Wildcards`` for other patterns. Other packages use nothing else.
"""

from __future__ import annotations

from scrapy_robotspec.protocol.fast.compiled import CompiledFile
from scrapy_robotspec.protocol.fast.ruleset import RuleSet
from scrapy_robotspec.protocol.fast.wildcards import Wildcards

__all__ = ["CompiledFile", "RuleSet", "Wildcards"]

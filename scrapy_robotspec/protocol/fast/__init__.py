"""The verdicts of ``plain``, sooner. Removing this package would change no verdict.

``compile`` is for verdicts, ``matcher`` for many patterns and one path. Only ``bulk`` uses more of
it: the index of user agents.
"""

from __future__ import annotations

from scrapy_robotspec.protocol.fast.compiled import CompiledFile
from scrapy_robotspec.protocol.fast.wildcards import matcher

__all__ = ["compile", "matcher"]

#: Compile a file; its groups are compiled on first use.
compile = CompiledFile  # noqa: A001  # as re.compile()

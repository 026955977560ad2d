"""``python -m fuzz.run NAME [options of libFuzzer]``: coverage-guided, by atheris.

Only the driving is here. Twenty minutes by default (``-max_total_time``); what the fuzzer finds on
its way goes to a folder outside the project, so that the corpus stays small.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["scrapy_robotspec"]):
    from fuzz.targets import TARGETS

CORPUS = Path(__file__).parent / "corpus"
MINUTES = 20


def main(arguments: list[str]) -> int:
    """Run one target; does not return if the fuzzer finds something."""
    if not arguments or arguments[0] not in TARGETS:
        print(f"usage: python -m fuzz.run {'|'.join(TARGETS)} [-max_total_time=SECONDS …]")
        return 2
    name, *options = arguments
    found = tempfile.mkdtemp(prefix=f"fuzz-{name}-")
    longest = 16384 if name == "evidence" else 4096
    defaults = [f"-max_total_time={MINUTES * 60}", f"-max_len={longest}", "-timeout=10"]
    defaults.append(f"-artifact_prefix={found}/found-")
    replayed = any(Path(option).is_file() for option in options)
    corpora = [] if replayed else [found, str(CORPUS / name)]
    atheris.Setup([sys.argv[0], *defaults, *options, *corpora], TARGETS[name])
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

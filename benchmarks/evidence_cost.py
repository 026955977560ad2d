"""What evidence costs a crawl: processor time a request, against the same crawl without it.

    python benchmarks/evidence_cost.py [--pairs 10] [--pages 3000] [--origins 1 1000]

Measured as in ``crawl_cost.py``; the time of the writing thread is included.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.crawl_cost import measure, read_arguments


def main() -> None:
    arguments = read_arguments(__doc__ or "")
    with tempfile.TemporaryDirectory() as folder:
        obeying = {"ROBOTSTXT_OBEY": True}
        measure((obeying, {**obeying, "ROBOTSPEC_EVIDENCE": folder}), arguments)


if __name__ == "__main__":
    main()

"""What evidence costs a crawl: processor time a request, against the same crawl without it.

    python benchmarks/evidence_cost.py [--pairs 10] [--pages 3000] [--origins 1 1000]
    python benchmarks/evidence_cost.py --first-visits --origins 1000

Measured as in ``crawl_cost.py``; the time of the writing thread is included. ``--first-visits``
measures one page of each origin together with its robots.txt.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.crawl_cost import arguments_parser, measure


def main() -> None:
    parser = arguments_parser(__doc__ or "")
    parser.add_argument("--first-visits", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        obeying = {"ROBOTSTXT_OBEY": True}
        sides = (obeying, {**obeying, "ROBOTSPEC_EVIDENCE": folder})
        measure(sides, arguments, "first_visits" if arguments.first_visits else "steady")


if __name__ == "__main__":
    main()

"""Pictures of what ``run.py`` measured, for the documentation.

matplotlib draws them; where it is not installed there are none, and a line says so.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from benchmarks.peers import PROTEGO

if TYPE_CHECKING:
    from pathlib import Path

    Result = dict[str, Any]


#: The measure by the number of verdicts.
CURVE = "by number of verdicts"


def draw(results: Result, folder: Path) -> list[Path]:
    """Write one picture for each measure, and return their paths; none without matplotlib."""
    if find_spec("matplotlib") is None:
        print("matplotlib is not installed: no pictures")
        return []
    import_module("matplotlib").use("Agg")
    pyplot = import_module("matplotlib.pyplot")
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for name, title, kind, values in _pictures(results):
        figure, axes = pyplot.subplots(figsize=(7, 3.5), layout="constrained")
        if "bars" in kind:
            bars = axes.barh(list(values), list(values.values()), log=kind == "log bars")
            axes.bar_label(bars, fmt="%.3g", padding=2)
            axes.margins(x=0.12)
            axes.invert_yaxis()
        else:
            is_ratio = name == "verdicts-curve"
            plot = axes.semilogx if is_ratio else axes.loglog
            for side, points in values.items():
                plot([int(size) for size in points], list(points.values()), "o-", label=side)
            axes.set_xlabel("verdicts" if is_ratio else "rules")
            if is_ratio:
                axes.set_ylim(bottom=0)
            else:
                axes.legend()
        axes.set_title(title)
        drawn.append(folder / f"{name}.svg")
        figure.savefig(drawn[-1])
        pyplot.close(figure)
    return drawn


def _pictures(results: Result) -> list[tuple[str, str, str, Result]]:
    def column(measure: str, label: str) -> Result:
        return {side: row[label] for side, row in results[measure].items()}

    ratios = results[CURVE][f"{PROTEGO}, times as long as ours"]
    worst = {name: max(row.values()) for name, row in results["hostile"].items()}
    return [
        ("verdicts-curve", "Read a file, some verdicts: Protego / this", "lines", {CURVE: ratios}),
        ("parse", "Read a file, first verdict: µs, mean", "log bars", column("parse", _PER_FILE)),
        ("verdicts", "A further verdict: µs, mean", "log bars", column("verdicts", _PER_VERDICT)),
        ("growth-prefix", "µs a verdict, prefix rules", "lines", results["growth"]["prefix"]),
        ("growth-wildcard", "µs a verdict, wildcards", "lines", results["growth"]["wildcard"]),
        ("hostile", "Hostile files, slowest edition: ms", "bars", worst),
        ("memory", "Bytes kept for each byte of a file", "bars", results["memory"]),
    ]


_PER_FILE = "µs a file, mean"
_PER_VERDICT = "µs a verdict, mean"

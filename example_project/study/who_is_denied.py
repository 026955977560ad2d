"""A picture of who is denied by how many sites: ``who_is_denied.py VERDICTS PICTURE.svg``.

VERDICTS is the folder that ``robotspec bulk`` has written, or a Parquet file in it. Prints the
shares as a table, too. Of several editions the first one counts.
"""

import sys
from collections import Counter
from pathlib import Path

import pyarrow.dataset as ds
from jinja2 import Template

#: The classes of a site that has a robots.txt file, with their colours.
CLASSES = {"denies all": "#b2182b", "some": "#f4a582", "allows all": "#4393c3"}

PICTURE = Template(
    """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {{ 70 + 26 * crawlers|length }}"
 role="img" aria-label="{{ title }}" font-family="sans-serif" font-size="13">
<rect width="100%" height="100%" fill="#fff"/>
<text x="10" y="22" font-size="15">{{ title }}</text>
<text x="650" y="45">denies all</text>
{% for name, colour in classes.items() -%}
<rect x="{{ 150 + 130 * loop.index0 }}" y="34" width="12" height="12" fill="{{ colour }}"/>
<text x="{{ 168 + 130 * loop.index0 }}" y="45">{{ name }}</text>
{% endfor -%}
{% for crawler, shares in crawlers -%}
{% set y = 58 + 26 * loop.index0 -%}
<text x="140" y="{{ y + 15 }}" text-anchor="end">{{ crawler }}</text>
{% set start = namespace(x=150) -%}
{% for name, colour in classes.items() -%}
<rect x="{{ '%.1f' % start.x }}" y="{{ y }}" width="{{ '%.1f' % (500 * shares[name]) }}" \
height="20" fill="{{ colour }}"/>
{% set start.x = start.x + 500 * shares[name] -%}
{% endfor -%}
<text x="658" y="{{ y + 15 }}">{{ '%.1f' % (100 * shares['denies all']) }} %</text>
{% endfor -%}
</svg>
""",
    autoescape=True,
)


def count(path: str) -> dict[str, Counter[str]]:
    """For each crawler the number of sites of each class, a batch of rows at a time."""
    found: dict[str, Counter[str]] = {}
    edition = None
    verdicts = ds.dataset(path, format="parquet")
    for batch in verdicts.to_batches(columns=["token", "edition", "class"]):
        for row in batch.to_pylist():
            edition = edition or row["edition"]
            if row["edition"] == edition:
                found.setdefault(row["token"], Counter())[row["class"]] += 1
    return found


def main(verdicts: str, picture: str) -> None:
    rows = []
    sites = 0
    for crawler, kinds in count(verdicts).items():
        sites = sum(kinds[name] for name in CLASSES)
        rows.append((crawler, {name: kinds[name] / max(1, sites) for name in CLASSES}))
    rows.sort(key=lambda row: (-row[1]["denies all"], row[0]))
    print(f"{'':16}" + "".join(f"{name:>12}" for name in CLASSES))
    for crawler, shares in rows:
        print(f"{crawler:16}" + "".join(f"{shares[name]:12.1%}" for name in CLASSES))
    title = f"{sites:,} sites with a robots.txt file: what it allows each crawler"
    svg = PICTURE.render(title=title, crawlers=rows, classes=CLASSES)
    Path(picture).write_text(svg, "utf-8", newline="")


if __name__ == "__main__":
    main(*sys.argv[1:])

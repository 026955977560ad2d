#!/usr/bin/env bash
# DuckDB reads a crawl delay of 0.4 s as 0 if 21,000 rows with whole seconds precede it, and 2.5 s as 3 s or as 2 s.
#
# Version: duckdb 2.0.1, against polars 2.1.0 and pyarrow 26.0.1 (PyPI), each with its defaults.
# Source: its documentation: types are detected from a sample of 20,480 rows, and a value that the type found cannot hold
# is an error, which names sample_size=-1 as a remedy.
# Expected: 0.4 is read, as it is within the sample, or reported: "none" in that place is.
# Behaviour: the column is one of whole numbers by then, and a fraction is rounded to it without a word; half a second
# goes up in CSV, and to the even number in JSON.
# What follows: in a table of the robots.txt files of many sites, a rare short delay is none. It depends on the order of
# the rows, so one that is sorted by delay is right from its other end.
# Output:
#   0.4 and 2.5 behind 20000 rows: CSV 0.4 2.5, JSON 0.4 2.5
#   0.4 and 2.5 behind 21000 rows: CSV 0 3, JSON 0 2
#   0.4 and 2.5 behind 21000 rows, sample_size=-1: CSV 0.4 2.5, JSON 0.4 2.5
#   none behind 21000 rows: CSV ConversionException
#   polars, 0.4 and 2.5 behind 21000 rows: ComputeError
#   pyarrow, 0.4 and 2.5 behind 21000 rows: 0.4 2.5
source "$(dirname "$0")/common.sh"

pypi duckdb==2.0.1 polars==2.1.0 pyarrow==26.0.1
cd "$work"
"$python" - <<'PY' | confirm
import json
from pathlib import Path

import duckdb
import polars
import pyarrow.csv


def write(rows, *last):
    delays = ["1"] * rows + list(last)
    lines = [f"site{number}.example,{delay}\n" for number, delay in enumerate(delays)]
    Path("delays.csv").write_text("site,crawl_delay\n" + "".join(lines))
    records = [{"site": f"site{number}.example", "crawl_delay": 1} for number in range(rows)]
    records += [{"site": "last.example", "crawl_delay": float(each)} for each in last if each != "none"]
    Path("delays.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records))


def last(count, reader, name, options=""):
    rows = duckdb.sql(f"SELECT crawl_delay FROM {reader}('{name}'{options})").fetchall()
    return " ".join(str(value) for (value,) in rows[-count:])


for rows, options in ((20_000, ""), (21_000, ""), (21_000, ", sample_size=-1")):
    write(rows, "0.4", "2.5")
    seen = (last(2, "read_csv", "delays.csv", options), last(2, "read_json", "delays.jsonl", options))
    print(f"0.4 and 2.5 behind {rows} rows{options}: CSV {seen[0]}, JSON {seen[1]}")
write(21_000, "none")
try:
    print(f"none behind 21000 rows: CSV {last(1, 'read_csv', 'delays.csv')}")
except duckdb.Error as error:
    print(f"none behind 21000 rows: CSV {type(error).__name__}")
write(21_000, "0.4", "2.5")
try:
    seen = " ".join(map(str, polars.read_csv("delays.csv")["crawl_delay"][-2:]))
except polars.exceptions.ComputeError as error:
    seen = type(error).__name__
print(f"polars, 0.4 and 2.5 behind 21000 rows: {seen}")
seen = pyarrow.csv.read_csv("delays.csv")["crawl_delay"].to_pylist()[-2:]
print(f"pyarrow, 0.4 and 2.5 behind 21000 rows: {seen[0]} {seen[1]}")
PY

#!/usr/bin/env bash
# pandas reads the timestamp "20260112031500" of an archive's index as the 23rd of August 1970.
#
# Version: pandas 2.3.3 (PyPI).
# Source: pywb's documentation of the CDX server API: a timestamp has 14 digits, year to second; pandas's of read_json:
# columns named timestamp are converted to dates, date_unit is detected unless given.
# Expected: 12 January 2026, or text as it stands in the file, as to_datetime and DuckDB have it.
# Behaviour: the digits are taken for a number of microseconds since 1970. Seconds of the capture are its
# microseconds, and captures of 1996 and 2026 are three days apart.
# What follows: a study of changing robots.txt files has all of them in one week of August 1970, in order, and
# no error.
# Output:
#   read_json: 19961012031500 -> 1970-08-20 00:43:32.031500, 20260112031500 -> 1970-08-23 11:48:32.031500
#   to_datetime: 1996-10-12 03:15:00, 2026-01-12 03:15:00
source "$(dirname "$0")/common.sh"

pypi pandas==2.3.3
"$python" - <<'PY' 2>/dev/null | confirm
import io
import json

import pandas

TIMES = ("19961012031500", "20260112031500")
LINES = "".join(
    json.dumps(
        {
            "urlkey": "com,example)/robots.txt",
            "timestamp": time,
            "url": "https://example.com/robots.txt",
            "mime": "text/plain",
            "status": "200",
        }
    )
    + "\n"
    for time in TIMES
)
found = pandas.read_json(io.StringIO(LINES), lines=True)["timestamp"]
pairs = (f"{time} -> {moment}" for time, moment in zip(TIMES, found, strict=True))
print(f"read_json: {', '.join(pairs)}")
print(f"to_datetime: {', '.join(map(str, pandas.to_datetime(list(TIMES))))}")
PY

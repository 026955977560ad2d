#!/usr/bin/env bash
# img2dataset does not see "noai" in an X-Robots-Tag that has a directive with a value, too.
#
# Version: img2dataset 1.47.0 (PyPI).
# Source: its README: images are left out if a directive of disallowed_header_directives (noai, noimageai,
# noindex, noimageindex) is present in the header; Google's page on the header: directives are combined
# with commas, and some have a value, such as "max-image-preview: large".
# Expected: "noai, max-image-preview: large" excludes the image as "noai" does.
# Behaviour: of each header line, all that precedes the first colon is taken for the name of a robot. A value
# anywhere in the line makes it a line for others.
# What follows: an owner who allows previews and forbids training gets neither read.
# Output:
#   noai -> excluded
#   noai, max-image-preview: large -> in the dataset
#   max-image-preview: large, noai -> in the dataset
#   unavailable_after: 2030-01-01, noai -> in the dataset
#   otherbot: noai -> in the dataset
#   examplebot: noai -> excluded
source "$(dirname "$0")/common.sh"

pypi img2dataset==1.47.0
cd "$work"
export NO_ALBUMENTATIONS_UPDATE=1
cat >download.py <<'PY'
from pathlib import Path

import cv2
import numpy
from img2dataset import download
from loopback import serving
from pyarrow import parquet

HEADERS = (
    "noai",
    "noai, max-image-preview: large",
    "max-image-preview: large, noai",
    "unavailable_after: 2030-01-01, noai",
    "otherbot: noai",
    "examplebot: noai",
)
IMAGE = cv2.imencode(".png", numpy.zeros((64, 64, 3), numpy.uint8))[1].tobytes()


def answer(path):
    return 200, {"Content-Type": "image/png", "X-Robots-Tag": HEADERS[int(path[1])]}, IMAGE


if __name__ == "__main__":
    with serving(answer) as server:
        Path("urls.txt").write_text("".join(f"{server.url}/{n}.png\n" for n in range(len(HEADERS))))
        download(
            url_list="urls.txt",
            output_folder="images",
            output_format="files",
            processes_count=1,
            thread_count=1,
            retries=0,
            user_agent_token="examplebot",
        )
    rows = parquet.read_table("images/00000.parquet").sort_by("url").to_pylist()
    with open("result", "w") as result:
        for header, row in zip(HEADERS, rows, strict=True):
            taken = row["status"] == "success"
            assert taken or "X-Robots-Tag" in row["error_message"], row
            print(f"{header} -> {'in the dataset' if taken else 'excluded'}", file=result)
PY
"$python" download.py >download.log 2>&1 || { tail -5 download.log; exit 1; }
confirm <result

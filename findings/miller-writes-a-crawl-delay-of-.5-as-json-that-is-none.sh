#!/usr/bin/env bash
# Miller turns a CSV with the crawl delays ".5" and "0x10" into JSON that no parser reads.
#
# Version: Debian's miller 6.6.0-2+b3.
# Source: RFC 8259, section 6: a number begins with a digit or a minus, and is decimal; Miller's manual: --ojson
# writes JSON, and fields that look like numbers are numbers.
# Expected: 0.5, or the text ".5".
# Behaviour: what Miller takes for a number is written as it stood in the input, without quotation marks. It knows
# more forms of numbers than JSON.
# What follows: one site's "Crawl-delay: .5" makes a file of all sites unreadable, far from where it was made.
# Output:
#   CSV delay 10 -> JSON "delay": 10, read by Python: 10
#   CSV delay .5 -> JSON "delay": .5, read by Python: JSONDecodeError
#   CSV delay 5. -> JSON "delay": 5., read by Python: JSONDecodeError
#   CSV delay 0x10 -> JSON "delay": 0x10, read by Python: JSONDecodeError
#   CSV delay none -> JSON "delay": "none", read by Python: none
source "$(dirname "$0")/common.sh"

debian 'miller=6.6.0-*'
"$python" - <<'PY' | confirm
import json
import re
import subprocess

for delay in ("10", ".5", "5.", "0x10", "none"):
    table = f"origin,delay\nhttps://example.com,{delay}\n"
    command = ["mlr", "--icsv", "--ojsonl", "cat"]
    line = subprocess.run(command, input=table, check=True, capture_output=True, text=True).stdout
    member = re.search(r'"delay": [^}]*', line)[0]
    try:
        read = json.loads(line)["delay"]
    except json.JSONDecodeError as error:
        read = type(error).__name__
    print(f"CSV delay {delay} -> JSON {member}, read by Python: {read}")
PY

#!/usr/bin/env bash
# sfvparse reads Content-Usage: train-ai="y" and writes train-ai=y, a statement that the site did not make.
#
# Version: sfvparse 0.1.0, against http-sf 1.5.0 (PyPI).
# Source: RFC 8941, which its README names, sections 3.3.3 and 3.3.4: a String and a Token are different types, and
# section 3.2: a key without a value is true; the drafts of Content-Usage know the tokens y and n alone.
# Expected: what is read and written again is the same value, or an error.
# Behaviour: a String and a Token both become a str, and a str that could be a token is written as one. Base64 is not
# decoded, and encoded anew. A key alone, true by the standard, is an error for the whole field.
# What follows: a proxy or an archive that parses headers and writes them again changes what an owner said of
# training, or finds nothing where one member has no value.
# Output:
#   train-ai=n -> sfvparse train-ai=n, http-sf train-ai=n
#   train-ai="y" -> sfvparse train-ai=y, http-sf train-ai="y"
#   train-ai=n, proof=:YQ==: -> sfvparse train-ai=n, proof=:WVE9PQ==:, http-sf train-ai=n, proof=:YQ==:
#   train-ai=n, signed -> sfvparse ValueError, http-sf train-ai=n, signed
source "$(dirname "$0")/common.sh"

pypi sfvparse==0.1.0 http-sf==1.5.0
"$python" - <<'PY' | confirm
import http_sf
import sfvparse

FIELDS = ("train-ai=n", 'train-ai="y"', "train-ai=n, proof=:YQ==:", "train-ai=n, signed")
for field in FIELDS:
    try:
        written = sfvparse.serialize_dict(sfvparse.parse_dict(field)).decode()
    except ValueError:
        written = "ValueError"
    same = http_sf.ser(http_sf.parse(field.encode(), tltype="dictionary"))
    print(f"{field} -> sfvparse {written}, http-sf {same}")
PY

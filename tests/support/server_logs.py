"""Sample logs of real servers, and what was sent to them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from hypothesis import strategies as st

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.evidence.access_logs import Request
from scrapy_robotspec.protocol.paths import path_of

Reader = Callable[[bytes], Request | None]
FOLDER = Path(__file__).parents[1] / "unit/evidence/server_logs"
#: When the samples were made (epoch seconds, a day).
DAY = (1795890000, 1795900000 + 24 * 3600)


def lines_of(name: str) -> list[bytes]:
    """The lines of a sample."""
    return (FOLDER / f"{name}.log").read_bytes().splitlines(keepends=True)


def sent_targets() -> dict[str, str]:
    """The request targets by their numbers."""
    found = json.loads((FOLDER / "sent.json").read_text("utf-8"))
    return {
        number: text.encode("latin-1").decode("utf-8", "surrogateescape")
        for number, text in found.items()
    }


def read_one(read: Reader, line: bytes) -> Request | None:
    """None for a line that is refused, or has no URL."""
    try:
        return read(line)
    except ValueError:
        return None


def urls_of(name: str, read: Reader) -> Iterator[str]:
    """The URLs of a sample."""
    for line in lines_of(name):
        if request := read_one(read, line):
            yield request.url


def canonical(target: str) -> str:
    """A path or an absolute URL as rules are compared with it."""
    url = target if target.startswith("http") else f"http://a{target}"
    return path_of(url, EDITIONS["google-2019"])


def check_lines(name: str, read: Reader, hosts: str, changed: str) -> None:
    """Each line gives the URL that was sent, except *changed* ones.

    *changed*: numbers in URLs. *hosts*: beginnings of URLs that are among them; none: no line has
    a host of the site.
    """
    sent = sent_targets()
    seen, wrong = set(), []
    for line in lines_of(name):
        number = re.search(rb"/n(\d\d)", line)  # none where the server refused the request
        target = sent.get(number[1].decode()) if number else None
        if number is None or target is None:
            continue
        request = read_one(read, line)
        if request is None:
            wrong.append(number[1].decode())
            continue
        if canonical(re.sub(r"\A//[^/]*", "", request.url)) != canonical(target):
            wrong.append(number[1].decode())
        seen.add(re.match(r"([a-z]*:?//[^/]*)", request.url)[0])  # type: ignore[index]
        assert DAY[0] < request.time < DAY[1]
    if name.startswith("apache"):  # it logs no version behind a path with a blank, and answers 400
        wrong.remove("13")
    assert wrong == changed.split()
    assert {*hosts.split()} <= seen
    assert hosts or not [each for each in seen if "shop" in each or "other" in each]


#: Bytes of a request target on the wire: no controls, no blanks (RFC 9112 section 3.2).
TARGETS = st.lists(
    st.binary(max_size=6).map(lambda raw: re.sub(rb"[\0- \x7f]", b"", raw))
    | st.sampled_from([b'"', b"\\", b"%22", b"?", b"]", b"[", b'"200', b"|", b"//", b"HTTP/1.1"])
).map(lambda parts: b"/" + b"".join(parts))
#: Values of headers and names of users, some made to look like the rest of a line.
FORGED = b'x [31/Jan/2026:12:00:00 +0000] "GET /forged HTTP/1.1" 200 5 "-" "y'
VALUES = st.binary(max_size=9).map(
    lambda raw: re.sub(rb"[\0-\x1f\x7f]", b"", raw)
) | st.sampled_from(
    [FORGED, b'" 200 5 "-" "', b"- - ", b'GET /forged HTTP/1.1" 200 5', b"\\", b"-"]
)


def as_apache(raw: bytes) -> bytes:
    """A value as Apache escapes it, and lighttpd."""
    raw = raw.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    return re.sub(rb"[^ -~]", lambda found: b"\\x%02x" % ord(found[0]), raw)


def as_nginx(raw: bytes) -> bytes:
    """A value as nginx escapes it."""
    return re.sub(rb'[^ -~]|["\\]', lambda found: b"\\x%02X" % ord(found[0]), raw)

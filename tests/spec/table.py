"""Spellings of a robots.txt file that no edition reads differently.

The cases and their answers are in ``conformance/tables``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from conformance.tables import TableCase


def _comment_lines(body: bytes) -> bytes:
    """A comment line before every line: line n becomes line 2n."""
    return b"".join(b"# a: b\n" + line for line in body.splitlines(keepends=True))


def _comments_behind(body: bytes) -> bytes:
    """A comment at the end of every line that is not blank."""
    lines = body.splitlines()
    return b"".join((line + b" # c: /d" if line.strip() else line) + b"\n" for line in lines)


def _upper_fields(body: bytes) -> bytes:
    return _each_field(body, bytes.upper)


def _spaced(body: bytes) -> bytes:
    """White space around the line, the field, the colon and the value."""
    spaced = _each_field(body, lambda name: b" \t" + name + b"\t ")
    lines = (line.replace(b":", b": \t ", 1) for line in spaced.splitlines())
    return b"".join((line + b" \t" if line else line) + b"\n" for line in lines)


def _each_field(body: bytes, change: Callable[[bytes], bytes]) -> bytes:
    parts = (line.partition(b":") for line in body.splitlines(keepends=True))
    return b"".join(change(name) + colon + value if colon else name for name, colon, value in parts)


#: Spellings of a file that every edition reads alike.
DELIVERIES: Mapping[str, Callable[[bytes], bytes]] = {
    "as it stands": lambda body: body,
    "CR": lambda body: body.replace(b"\n", b"\r"),
    "CR LF": lambda body: body.replace(b"\n", b"\r\n"),
    "a byte order mark": lambda body: b"\xef\xbb\xbf" + body,
    "no final line end": lambda body: body.rstrip(b"\n"),
    "comment lines between": _comment_lines,
    "comments behind": _comments_behind,
    "fields in upper case": _upper_fields,
    "white space everywhere": _spaced,
}


def deliveries(case: TableCase) -> Iterator[tuple[str, bytes, int]]:
    """The spellings of a case's file: name, bytes, factor of its line numbers."""
    for name, spell in DELIVERIES.items():
        yield name, spell(case.body), 2 if spell is _comment_lines else 1
        if case.as_is:
            return

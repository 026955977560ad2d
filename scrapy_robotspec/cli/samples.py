"""Paths made from the rules of files, for questions without URLs.

Each rule yields a path that it matches and one that it does not, so that two readings of a file
usually differ on one of them if they differ at all. Other paths may differ all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy_robotspec.protocol.groups import Group

#: Max number of paths.
MOST = 2000


def sample_paths(groups: Iterable[Group], most: int = MOST) -> list[str]:
    """Distinct paths made from the rules of groups, ``/`` first.

    ``most``: max number of paths.
    """
    paths: dict[str, None] = {"/": None}
    for group in groups:
        for rule in group.rules:
            paths.update(dict.fromkeys(_around(rule.pattern)))
            if len(paths) > most:
                return _whole(list(paths)[:most])
    return _whole(paths)


def _around(pattern: str) -> Iterator[str]:
    slashed = pattern if pattern.startswith(("/", "*")) else f"/{pattern}"
    plain = slashed.removesuffix("$")
    for star in ("", "x", "x/y"):
        path = plain.replace("*", star)
        path = path if path.startswith("/") else f"/{path}"
        yield path
        yield f"{path}x"
        if path.endswith("/"):
            yield path.rstrip("/") or "/"
        if "*" not in plain:
            break
    yield from (slashed for special in "*$" if special in slashed[1:])


def _whole(paths: Iterable[str]) -> list[str]:
    # Two slashes begin a host, so such a path needs one before it.
    urls = (f"http://example.com{path}" if path.startswith("//") else path for path in paths)
    return [url for url in urls if "#" not in url]

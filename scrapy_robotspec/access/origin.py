"""Origins: the (scheme, host, port) that one robots.txt is valid for (LOC-01 to LOC-12).

Only the way from a URL to its origin belongs here. What a path means is the protocol's business.
"""

from __future__ import annotations

import re
from ipaddress import IPv6Address
from urllib.parse import urlsplit

from w3lib.url import safe_url_string

#: The schemes that have a robots.txt (LOC-12), and the port each takes for granted (LOC-08).
DEFAULT_PORTS = {"http": 80, "https": 443, "ftp": 21}

#: What may stand before or inside a URL and is no part of it.
_BLANKS = "".join(map(chr, range(33)))
_REMOVED = str.maketrans("", "", "\t\n\r")

#: An IPv6 address with its brackets, and maybe a port.
_BRACKETED = re.compile(r"\[[^\[\]]*\](:\d*)?")

#: Up to the last "@" of the authority; Python's releases differ in what they take in there.
_USER_INFO = re.compile(r"\A([a-z]+://)[^/?#]*@", re.IGNORECASE)

#: No host's name is nearly as long (RFC 1035: 253 octets), and mapping one to its ASCII form takes
#: time that grows faster than the name (characters).
_LONGEST_MAPPED = 1000

#: Beginnings of URLs whose origins are remembered, and how long one may be (characters): a longer
#: one is no plain "scheme://host:port". A plain dict, as every request asks it and a crawl fills it
#: with thousands: of the standard library's cache the garbage collector follows each entry.
_REMEMBERED: dict[str, Origin | None] = {}
_MOST_REMEMBERED = 16_384
_LONGEST_REMEMBERED = 300


class Origin(str):
    """Scheme, host and port as one text, written as the beginning of a URL is.

    Origins are keys of the tables that every request passes, and a crawl holds thousands: a text
    is compared at the speed of memory, and refers to nothing that had to be looked at in turn.
    """

    __slots__ = ()

    def __new__(cls, scheme: str, host: str, port: int) -> Origin:
        host = f"[{host}]" if ":" in host else host
        default = port == DEFAULT_PORTS.get(scheme)
        return super().__new__(
            cls, f"{scheme}://{host}" if default else f"{scheme}://{host}:{port}"
        )

    def __reduce__(self) -> tuple[type[Origin], tuple[str, str, int]]:
        return (Origin, (self.scheme, self.host, self.port))

    @classmethod
    def of(cls, url: str) -> Origin | None:
        """The origin of *url*, or None where no robots.txt applies (LOC-11, LOC-12).

        Never raises for a string. Cheap when the same origin comes again and again.
        """
        end = url.find("/", 8) + 1  # behind "http://" and at least one character
        base = url[:end] if end else url
        try:
            origin = _REMEMBERED[base]
        except KeyError:
            origin = _remember(base)
        if origin is None and (head := url[:16]) != _clean(head):
            return cls.of(_clean(url))
        return origin

    @property
    def scheme(self) -> str:
        """``"http"``, ``"https"`` or ``"ftp"`` (LOC-12)."""
        return self.partition("://")[0]

    @property
    def host(self) -> str:
        """Lower case, in its ASCII form, without a trailing dot; an IPv6 address in its shortest
        spelling, without brackets (LOC-05, LOC-10)."""
        rest = self.partition("://")[2]
        if rest.startswith("["):
            return rest[1:].partition("]")[0]
        return rest.partition(":")[0]

    @property
    def port(self) -> int:
        """Always a number, though the default one is not written (LOC-08)."""
        port = self.rpartition(":")[2]  # that of a scheme or of an address is no number
        return int(port) if port.isdecimal() else DEFAULT_PORTS[self.scheme]

    @property
    def robots_url(self) -> str:
        """Where the robots.txt of this origin is (LOC-01), without any user info (LOC-10)."""
        return f"{str.__str__(self)}/robots.txt"

    def __str__(self) -> str:
        text = str.__str__(self)
        if text.isprintable():
            return text
        # The name of no host, and nothing for a terminal (SAF-04).
        return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)

    def __repr__(self) -> str:
        return f"Origin({self.scheme!r}, {self.host!r}, {self.port})"


def _remember(base: str) -> Origin | None:
    origin = _parse(base)
    if len(base) <= _LONGEST_REMEMBERED:
        if len(_REMEMBERED) >= _MOST_REMEMBERED:
            _REMEMBERED.clear()
        _REMEMBERED[base] = origin
    return origin


def _parse(base: str) -> Origin | None:
    if not _may_have_one(base):
        return None
    try:
        # A backslash ends the authority as a slash does: so browsers and Scrapy read it.
        read = _clean(base).rstrip(_BLANKS).replace("\\", "/")
        parts = urlsplit(_USER_INFO.sub(r"\1", read))
        if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
            return None
        port = DEFAULT_PORTS[parts.scheme] if parts.port is None else parts.port
        host = _host(parts.hostname, parts.netloc)
    except ValueError:
        return None
    return Origin(parts.scheme, host, port) if host else None


def _host(name: str, with_port: str) -> str:
    """The one spelling of a host (LOC-05, LOC-10). Raises ``ValueError`` for what is none."""
    if "[" in with_port or "]" in with_port:
        if not _BRACKETED.fullmatch(with_port):
            raise ValueError(with_port)
        return IPv6Address(name).compressed
    if not name.isascii():
        name.encode()  # a lone surrogate is no text
        if len(name) <= _LONGEST_MAPPED:
            # The function that Scrapy writes the URLs of its requests with, in whatever release: so
            # a raw URL and a request's lead to one origin.
            name = urlsplit(safe_url_string(f"http://{name}/")).hostname or ""
    name = name.lower()
    return name if name.endswith("..") else name.removesuffix(".")


def _may_have_one(base: str) -> bool:
    """Spare ``data:`` URLs and their like, which may be long, the careful look."""
    return _clean(base[:16]).lower().startswith(("http", "ftp"))


def _clean(url: str) -> str:
    """*url* without what readers of URLs skip: blanks before it, tabs and line ends anywhere."""
    return url.translate(_REMOVED).lstrip(_BLANKS)

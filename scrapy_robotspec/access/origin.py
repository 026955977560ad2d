"""Origins: scheme, host and port of one robots.txt (LOC-01 to LOC-12)."""

from __future__ import annotations

import re
from ipaddress import IPv6Address
from urllib.parse import urlsplit

from w3lib.url import safe_url_string

#: Schemes with a robots.txt (LOC-12), and their default ports (LOC-08).
DEFAULT_PORTS = {"http": 80, "https": 443, "ftp": 21}

#: Characters before or inside a URL that readers of URLs skip.
_BLANKS = "".join(map(chr, range(33)))
_REMOVED = str.maketrans("", "", "\t\n\r")

#: A base that is its origin already, but for a slash: the quick path of a broad crawl.
_CANONICAL = re.compile(r"(https?://[a-z0-9-]+(?:\.[a-z0-9-]+)+)/?")

#: An IPv6 address with its brackets, and maybe a port.
_BRACKETED = re.compile(r"\[[^\[\]]*\](:\d*)?")

#: Up to the last "@" of the authority; Python's releases differ in what they take in there.
_USER_INFO = re.compile(r"\A([^/?#]*?://)[^/?#]*@")

#: Max length of a host that is mapped to ASCII, and of what is cached (characters): the time for
#: mapping grows faster than the name. A valid name has at most 253 (RFC 1035).
MAX_MAPPED = 1000

#: Characters that no host contains.
NOT_IN_HOSTS = re.compile(r"""[\x00-\x20"#%<>@\\^`{|}\x7f-\U0010ffff]""")
#: Labels of a host (RFC 1035, 2.3.4).
_LABELS = re.compile(r"(?!.{254})[^.]{1,63}(?:\.[^.]{1,63})*")

#: Origins by the beginning of a URL, and max number of them. A plain dict, because the garbage
#: collector visits every entry of an lru_cache.
_CACHE: dict[str, Origin | None] = {}
_MAX_CACHED = 16_384


class Origin(str):
    """Scheme, host and port as one string.

    A string, because origins are the keys of the tables that every request passes, and a crawl
    holds thousands: strings compare fast, and the garbage collector does not visit them.
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

    @staticmethod
    def of(url: str) -> Origin | None:
        """The origin of *url*, or None where no robots.txt applies (LOC-11, LOC-12).

        Never raises for a string. Cached by the beginning of the URL.
        """
        end = url.find("/", 8) + 1  # after "http://" and at least one character
        base = url[:end] if end else url
        try:
            origin = _CACHE[base]
        except KeyError:
            origin = _parse(base)
            if len(base) <= MAX_MAPPED:
                if len(_CACHE) >= _MAX_CACHED:
                    _CACHE.clear()
                _CACHE[base] = origin
        if origin is None and (head := url[:16]) != _clean(head):
            return Origin.of(_clean(url))
        return origin

    @property
    def scheme(self) -> str:
        """``"http"``, ``"https"`` or ``"ftp"`` (LOC-12)."""
        return self.partition("://")[0]

    @property
    def host(self) -> str:
        """The host in lower-case ASCII without a trailing dot (LOC-05, LOC-10).

        An IPv6 address is in its shortest spelling, without brackets.
        """
        return urlsplit(self).hostname or ""

    @property
    def port(self) -> int:
        """The port, also a default one (LOC-08)."""
        port = urlsplit(self).port
        return DEFAULT_PORTS[self.scheme] if port is None else port

    @property
    def is_address(self) -> bool:
        """Whether the host is an IP address, in any spelling."""
        host = self.host
        return ":" in host or host.rpartition(".")[2][:1].isdecimal()  # no name ends so

    @property
    def is_possible(self) -> bool:
        """Whether the host can be asked for anything."""
        host = self.host  # an IPv6 address may have a zone, as in fe80::1%25eth0
        is_name = _LABELS.fullmatch(host) is not None and not NOT_IN_HOSTS.search(host)
        return is_name or ":" in host

    @property
    def robots_url(self) -> str:
        """URL of the robots.txt (LOC-01), without user info (LOC-10)."""
        return f"{str.__str__(self)}/robots.txt"

    def __str__(self) -> str:
        text = str.__str__(self)
        if text.isprintable():
            return text
        # Such a host does not exist, and must not steer a terminal (SAF-04).
        return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def is_web(url: str) -> bool:
    """Whether the scheme of *url* is http or https."""
    return url[:8].lower().startswith(("http://", "https://"))


def without_user_info(url: str) -> str:
    """*url* without a user name and password (LOC-10)."""
    return _USER_INFO.sub(r"\1", url) if "@" in url else url  # hot path


def _parse(base: str) -> Origin | None:
    canonical = _CANONICAL.fullmatch(base)
    if canonical:
        return str.__new__(Origin, canonical[1])
    if not _clean(base[:16]).lower().startswith(("http", "ftp")):  # data: URLs may be long
        return None
    try:
        # A backslash ends the authority as a slash does: so browsers and Scrapy read it.
        read = _clean(base).rstrip(_BLANKS).replace("\\", "/")
        parts = urlsplit(without_user_info(read))
        if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
            return None
        port = DEFAULT_PORTS[parts.scheme] if parts.port is None else parts.port
        host = _host(parts.hostname, parts.netloc)
    except ValueError:
        return None
    return Origin(parts.scheme, host, port) if host else None


def _host(name: str, with_port: str) -> str:
    """The canonical spelling of a host (LOC-05, LOC-10). Raises ValueError for an invalid one."""
    if "[" in with_port or "]" in with_port:
        if not _BRACKETED.fullmatch(with_port):
            raise ValueError(with_port)
        return IPv6Address(name).compressed
    if not name.isascii():
        name.encode()  # raises for a lone surrogate
        if len(name) <= MAX_MAPPED:
            # As Scrapy spells the URLs of its requests, in every release: a raw URL and the URL of
            # its request have one origin.
            name = urlsplit(safe_url_string(f"http://{name}/")).hostname or ""
    name = name.lower()
    return name if name.endswith("..") else name.removesuffix(".")


def _clean(url: str) -> str:
    """*url* without leading controls and spaces, and without any tabs and line ends."""
    return url.translate(_REMOVED).lstrip(_BLANKS)

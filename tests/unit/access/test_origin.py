"""Which robots.txt governs a URL (LOC-01 to LOC-12): URLs in, origins out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request

from scrapy_robotspec.access import origin as origins
from scrapy_robotspec.access.origin import Origin, is_web, without_user_info


def covered(robots_url: str, url: str) -> bool:
    """Whether the robots.txt at *robots_url* is the one that counts for *url*."""
    origin = Origin.of(url)
    return origin is not None and origin.robots_url == robots_url


#: (ID, robots.txt, URL, whether it is valid for it), besides those of ``location.toml``.
VALIDITY = [
    ("LOC-01", "http://example.com/robots.txt", "http://example.com/ROBOTS.TXT", True),
    ("LOC-05", "http://xn--r8jz45g.jp/robots.txt", "http://例え。jp/", True),
    ("LOC-06", "ftp://example.com/robots.txt", "ftp://me:secret@example.com/file", True),
    ("LOC-08", "ftp://example.com/robots.txt", "ftp://example.com:21/x", True),
    ("LOC-08", "http://example.com:443/robots.txt", "http://example.com:443/", True),
    ("LOC-10", "http://example.com/robots.txt", "HTTP://EXAMPLE.Com/", True),
    ("LOC-10", "http://example.com/robots.txt", "http://example.com.:80/", True),
    ("LOC-10", "http://example.com/robots.txt", "http://example.com../", False),
    ("LOC-10", "http://example.com../robots.txt", "http://example.com../", True),
    ("LOC-10", "http://example.com/robots.txt", "http://example.com:080/", True),
    ("LOC-10", "http://example.com/robots.txt", "http://me:p%40ss@example.com/", True),
    ("LOC-10", "http://example.com/robots.txt", "http://a@b@example.com/", True),
    ("LOC-10", "http://[2001:db8::1]/robots.txt", "http://[2001:DB8:0:0:0:0:0:1]:80/x", True),
    ("LOC-10", "http://[2001:db8::1]:81/robots.txt", "http://[2001:db8::0001]:81/x", True),
    ("LOC-10", "http://[2001:db8::1]/robots.txt", "http://[2001:db8::2]/x", False),
    ("LOC-10", "http://example.com/robots.txt", "http://me@[::1]@example.com/", True),
    ("LOC-10", "http://example.com/robots.txt", "HTTP://[x]@[y]@example.com?@other.example/", True),
    ("LOC-10", "http://other.example/robots.txt", "http://example.com?@other.example/", False),
    ("RFC 3986", "http://example.com/robots.txt", "http://example.com", True),
    ("RFC 3986", "http://example.com/robots.txt", "http://example.com \n", True),
    ("RFC 3986", "http://example.com/robots.txt", "http://example.com?a=http://b/", True),
    ("RFC 3986", "http://example.com/robots.txt", "http://example.com#/x", True),
    ("WHATWG", "http://example.com/robots.txt", " \t http://example.com/x", True),
    ("WHATWG", "http://example.com/robots.txt", "http://example.com\\@other.example/", True),
    ("WHATWG", "http://example.com/robots.txt", "http:\\\\example.com\\x", True),
    ("WHATWG", "http://example.com/robots.txt", "ht\ntp://exam\tple.com/x", True),
    ("WHATWG", "http://example.com/robots.txt", "h\t\tttp://example.com/x", True),
]


@pytest.mark.parametrize(("source", "robots_url", "url", "valid"), VALIDITY)
def test_range_of_validity(source: str, robots_url: str, url: str, valid: bool) -> None:
    """LOC-01 to LOC-10."""
    assert covered(robots_url, url) is valid


@pytest.mark.parametrize(
    "url",
    [
        *["data:text/plain,http://example.com/", "mailto:me@example.com", "//example.com/x", "/x"],
        *["example.com/x", "http:///x", "http:x", "http://./", "http://user@/"],
    ],
)
def test_urls_without_a_robots_txt(url: str) -> None:
    """LOC-11, LOC-12."""
    assert Origin.of(url) is None


@pytest.mark.parametrize(
    "authority",
    [
        *["[::1", "[example]", "example.com:-1", "example.com:abc", "\ud800.com", "[::1]]"],
        *["[::1]x", "x[::1]", "::1", "[127.0.0.1]", "[v1.x]"],
    ],
)
def test_broken_urls_have_no_origin_and_never_raise(authority: str) -> None:
    """Nothing can be requested there, by Scrapy neither."""
    assert Origin.of(f"http://{authority}/") is None


def test_names_longer_than_any_host_have_an_origin_without_being_mapped() -> None:
    """SAF-02: mapping a name of thousands of letters would take seconds; letting it go, a hole."""
    name = "\ufdfa" * 20_000
    origin = Origin.of(f"http://{name}/x")
    assert origin is not None
    assert origin.host == name
    assert Origin.of(f"http://{name}\ud800/x") is None


@given(st.text())
def test_any_text_has_an_origin_or_none(url: str) -> None:
    """No string raises, also behind a scheme."""
    for start in ("", "http://", "https://", "ftp://a@", "http://["):
        origin = Origin.of(start + url)
        assert origin is None or origin.robots_url.startswith(("http", "ftp"))


#: Without the signs that end a host: old releases of w3lib read those in ways of their own.
raw_hosts = st.text(st.characters(exclude_characters="\\/?#@:[]"), min_size=1)


@given(raw_hosts, st.sampled_from(["http", "https", "ftp"]))
def test_a_raw_url_and_scrapys_request_have_the_same_origin(host: str, scheme: str) -> None:
    """LOC-05, LOC-10: the mapping of host names is Scrapy's own."""
    url = f"{scheme}://{host}/page"
    try:
        written = Request(url).url
    except ValueError:
        return
    assert Origin.of(written) == Origin.of(url)


@given(st.text(min_size=1))
def test_a_robots_url_has_the_origin_that_it_is_of(host: str) -> None:
    """LOC-02: fetching a robots.txt never leads to another origin than the one asked about."""
    origin = Origin.of(f"http://{host}/")
    if origin is not None:
        assert Origin.of(origin.robots_url) == origin
        assert Origin(origin.scheme, origin.host, origin.port) == origin


def test_long_data_urls_are_not_looked_at_closely() -> None:
    """LOC-11: nothing of an inlined picture is kept or parsed."""
    assert Origin.of("data:image/png;base64," + "A" * 10_000_000) is None


@given(
    st.sampled_from(["http", "https"]),
    st.text("ab01-.xn", min_size=1, max_size=12),
    st.sampled_from(["", "/", "/page"]),
)
def test_usual_urls_have_the_origin_that_unusual_spellings_have(
    scheme: str, host: str, rest: str
) -> None:
    """LOC-10: the quick path of lower-case hosts, without port and user info, changes nothing."""
    usual = Origin.of(f"{scheme}://{host}{rest}")
    assert usual == Origin.of(f"{scheme.upper()}://{host.upper()}{rest}")
    assert usual == Origin.of(f"{scheme}://me@{host}:{443 if scheme == 'https' else 80}{rest}")
    assert type(usual) in (Origin, type(None))


@pytest.mark.parametrize("scheme", ["http", "https", "ftp"])
@pytest.mark.parametrize("host", ["example.com", "127.0.0.1", "::1", "2001:db8::80", "80", "a..b"])
@pytest.mark.parametrize("port", [0, 21, 80, 443, 8080])
def test_an_origin_gives_back_its_parts(scheme: str, host: str, port: int) -> None:
    """LOC-05, LOC-08: though it is one text."""
    origin = Origin(scheme, host, port)
    assert (origin.scheme, origin.host, origin.port) == (scheme, host, port)
    assert Origin.of(f"{origin}/x") == origin


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://me:secret@h/robots.txt", "http://h/robots.txt"),
        ("http://me@x@h:81?q=a@b", "http://h:81?q=a@b"),
        ("http://h/a@b", "http://h/a@b"),
        ("http://h#a@b/c", "http://h#a@b/c"),
        ("http://me:pw@h", "http://h"),
        ("odd", "odd"),
    ],
)
def test_user_info_is_removed_from_a_url(url: str, shown: str) -> None:
    """LOC-10: user info is removed from invalid URLs, too."""
    assert without_user_info(url) == shown


def test_the_cache_of_origins_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hostile page may link to any number of hosts, and to long ones (SAF-05)."""
    kept: dict[str, Origin | None] = {}
    monkeypatch.setattr(origins, "_CACHE", kept)
    monkeypatch.setattr(origins, "_MAX_CACHED", 4)
    for number in range(10):
        Origin.of(f"https://h{number}.example/")
        assert 0 < len(kept) <= 4
    before = len(kept)
    Origin.of(f"https://{'a' * origins.MAX_MAPPED}.example/")
    assert len(kept) == before


@pytest.mark.parametrize(
    ("host", "possible"),
    [
        ("a.example", True),
        (f"{'a' * 63}.example", True),
        (f"{'a' * 64}.example", False),
        ("a..example", False),
        (".example", False),
        ("a%20b.example", False),
        ("a_b.example", True),
        ("::1", True),
        ("fe80::1%25eth0", True),
        ("127.0.0.1", True),
        (".".join(["a" * 50] * 5), False),
    ],
)
def test_hosts_that_no_url_can_have(host: str, possible: bool) -> None:
    """RFC 1035 section 2.3.4."""
    name = f"[{host}]" if ":" in host else host
    origin = Origin.of(f"http://{name}/")
    assert origin is not None
    assert origin.is_possible is possible


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://a.example/", True),
        ("HTTPS://a.example", True),
        ("ftp://a.example/", False),
        ("file:///etc/passwd", False),
        ("//a.example/", False),
        ("httpss://a.example/", False),
        ("", False),
    ],
)
def test_urls_of_the_web(url: str, expected: bool) -> None:
    """Others are not requested because a file or a redirect names them."""
    assert is_web(url) is expected

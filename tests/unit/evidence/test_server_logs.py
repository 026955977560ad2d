"""Lines that real servers wrote, against what was sent to them.

``server_logs/``: one file for each server and format, of nginx 1.22, Apache 2.4, lighttpd 1.4,
HAProxy 2.6, Varnish 7.1, Squid 5.7, Caddy 2.6, h2o 2.2, gunicorn 27, aiohttp 3.14, CherryPy 18,
Twisted 26, hypercorn 0.18, uvicorn 0.54, Werkzeug 3.1 and granian 2.8. ``sent.json``: the request
targets, byte for character, by the numbers in them.
"""

from __future__ import annotations

from contextlib import suppress

import pytest

from scrapy_robotspec.evidence.access_logs import parse
from scrapy_robotspec.evidence.log_formats import reader
from tests.support.server_logs import check_lines, lines_of, urls_of

#: File, hosts in URLs (of a shop with and without a port, another), and numbers of the requests
#: whose path the server does not log as it was sent.
READ = [
    ("nginx-combined", "", ""),
    ("nginx-vhost", "//shop.example:18901 //other.example:18901 //[::1]:18901", ""),
    ("nginx-forwarded", "", ""),
    ("nginx-unescaped", "", "27"),
    ("nginx-json-url", "http://shop.example http://other.example", ""),
    ("apache-combined", "", ""),
    ("apache-common", "", ""),
    ("apache-vhost_combined", "http://shop.example https://shop.example", ""),
    ("apache-forwarded", "", ""),
    ("apache-host", "//shop.example //SHOP.example:8080 //[::1]:18911", ""),
    ("lighttpd", "//shop.example //shop.example:8080 //[::1]:18921", ""),
    ("haproxy-clf", "", ""),
    ("varnishncsa", "http://shop.example http://SHOP.example:8080", ""),
    ("varnishncsa-host", "//shop.example //other.example", ""),
    ("squid-combined", "http://127.0.0.1:18901", "03 06 11 13 27"),
    ("caddy-json", "http://shop.example http://other.example", "05"),
    ("h2o", "", ""),
    ("gunicorn", "", ""),
    ("aiohttp", "", "10 27"),
    ("cherrypy", "", "07"),
    ("twisted", "", ""),
]


@pytest.mark.parametrize(("name", "hosts", "changed"), READ)
def test_lines_are_read_as_they_were_sent(name: str, hosts: str, changed: str) -> None:
    check_lines(name, parse, hosts, changed)


@pytest.mark.parametrize("name", [name for name, *_ in READ])
def test_nothing_forged_is_taken_for_a_request(name: str) -> None:
    """Paths, User-Agents and other headers contain what looks like a request line."""
    assert not [url for url in urls_of(name, parse) if "/forged" in url and "/n20/" not in url]


@pytest.mark.parametrize("own", ["[29/Nov/2026:07:00:35 UTC]", "[29/Nov/2026 07:00:35]", "07:00"])
@pytest.mark.parametrize(
    "head",
    ["192.0.2.7 - - ", "192.0.2.7 - a b ", "a.example 192.0.2.7 - - ", "::1, ::2 - - "],
)
def test_nothing_is_read_behind_a_time_of_another_format(head: str, own: str) -> None:
    """WEBrick and Python's own server log times that are not read, headers as they came."""
    forged = '[28/Nov/2026:19:37:46 +0000] "GET /forged HTTP/1.1" 200 5 "-" "x"'
    line = f'{head}{own} "GET /own HTTP/1.1" 200 1 "http://b.example/ {forged} "-"'
    for sent in (line, line.replace("/forged", "http://a.example/forged")):
        with pytest.raises(ValueError, match="ambiguous"):
            parse(sent.encode())


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("squid-native", "give --log-format squid"),
        ("haproxy-http", "give --log-format haproxy"),
        ("hypercorn", "a request line without HTTP/"),
        ("uvicorn", "uvicorn's lines have no time"),
        ("werkzeug", "neither Common or Combined"),
        ("granian", "neither Common or Combined"),
        ("nginx-own", "neither Common or Combined"),
        ("nginx-json", "no url .members: time, host, scheme, uri, agent"),
        ("caddy-console", "neither Common or Combined"),
    ],
)
def test_other_formats_are_refused_with_a_reason(name: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse(lines_of(name)[0])


#: Lines as the documentation of their servers has them: format, line, URL and User-Agent.
DOCUMENTED = [
    (
        None,
        (
            '192.0.2.7 - - [31/Jan/2026:12:00:01 +0000] "GET /shelf/n1?page=2 HTTP/2.0" 200 51 "-" '
            '"examplebot/1.0" 7 "shop@docker" "http://10.0.0.2:80" 3ms'
        ),
        "///shelf/n1?page=2",
        "examplebot/1.0",
    ),
    (
        None,
        (
            '192.0.2.7 - - [31/Jan/2026:12:00:01 +0000] "GET /n2 HTTP/1.1" 404 19 "-" "-" 8 '
            '"-" "-" '
            "0ms"
        ),
        "///n2",
        "",
    ),
    (
        "envoy",
        (
            '[2026-01-31T12:00:01.250Z] "GET /shelf/n3?page=2 HTTP/2" 200 - 0 51 3 2 "192.0.2.7" '
            '"examplebot/1.0 (+https://bot.example/)" "0a1b-2c" "shop.example" "10.0.0.2:80"'
        ),
        "//shop.example/shelf/n3?page=2",
        "examplebot/1.0 (+https://bot.example/)",
    ),
    (
        "envoy",
        (
            '[2026-01-31T12:00:01.250Z] "GET /n4 HTTP/1.1" 503 UH 0 19 0 - "-" "-" "0a1b-2d" '
            '"shop.example:8080" "-"'
        ),
        "//shop.example:8080/n4",
        "",
    ),
    ("envoy", '[2026-01-31T12:00:01.250Z] "- - -" 0 - 5 0 9 - "-" "-" "-" "-" "-"', None, None),
    (
        "alb",
        (
            "https 2026-01-31T12:00:01.250000Z app/shop/50dc6c495c0c9188 192.0.2.7:2817 "
            "10.0.0.2:80 "
            '0.001 0.002 0.000 200 200 34 366 "GET https://shop.example:443/shelf/n6?page=2 '
            'HTTP/1.1" '
            '"examplebot/1.0" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 '
            "arn:aws:elasticloadbalancing:shop "
            '"Root=1-58337281-1d84" "shop.example" "session-reused" 1 2026-01-31T12:00:01.247000Z '
            '"forward" "-" "-" "10.0.0.2:80" "200" "-" "-" TID_12'
        ),
        "https://shop.example:443/shelf/n6?page=2",
        "examplebot/1.0",
    ),
    (
        "alb",
        (
            "http 2026-01-31T12:00:01.250000Z app/shop/50dc6c495c0c9188 192.0.2.7:2817 - -1 "
            "-1 -1 400 "
            '- 0 0 "- http://shop.example:80- -" "-" - - - "-" "-" "-" - - "-" "-" "-" "-" '
            '"-" "-" "-"'
        ),
        None,
        None,
    ),
]


@pytest.mark.parametrize(("log_format", "line", "url", "agent"), DOCUMENTED)
def test_lines_of_proxies_as_documented(
    log_format: str | None, line: str, url: str | None, agent: str | None
) -> None:
    """Traefik by its looks, Envoy and AWS ALB by their names."""
    found = reader(log_format)(line.encode())
    assert (found and (found.url, found.agent)) == (url and (url, agent))
    if log_format is not None:  # by its looks, host and User-Agent would be lost
        with pytest.raises(ValueError, match=r"own format: give --log-format (envoy|alb)"):
            parse(line.encode())


@pytest.mark.parametrize("log_format", ["envoy", "istio", "alb"])
@pytest.mark.parametrize(
    "forged", ['x" "GET /forged HTTP/1.1" 200 "', 'x" "y" "forged.example" "', "x\\"]
)
def test_a_client_of_a_proxy_forges_no_request(log_format: str, forged: str) -> None:
    """Whatever its User-Agent contains, though none of these servers escapes it."""
    for name, line, url, agent in DOCUMENTED:
        if name == log_format and agent:
            with suppress(ValueError):
                found = reader(name)(line.replace(agent, forged).encode())
                assert found is not None
                assert found.url == url


@pytest.mark.parametrize(
    ("name", "is_named"), [("nginx-combined", True), ("haproxy-clf", False), ("caddy-json", True)]
)
def test_user_agents(name: str, is_named: bool) -> None:
    agents = {each.agent for line in lines_of(name) if (each := parse(line)) is not None}
    if not is_named:
        assert agents == {None}
        return
    assert "examplebot/1.0 (+https://bot.example/)" in agents
    assert 'bot"x\\y/1.0 [z] "GET /forged HTTP/1.1" 200 5' in agents

"""``ROBOTSPEC_EVIDENCE``: what crawls of awkward origins leave behind, read and replayed."""

from __future__ import annotations

import gzip
import json
import signal
import time
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from scrapy_robotspec.evidence.replay import ReplayResult, replay
from tests.support.crawl import MODES, Running, crawl
from tests.support.evidence import audited
from tests.support.ftp import ftp_site
from tests.support.responses import (
    Switch,
    after,
    in_turn,
    raw,
    redirect,
    reply,
    reset,
    silence,
)
from tests.support.server import Server

NO = "User-agent: *\nDisallow: /no\n"
PART = b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nUser"
PATHS = ("/", "/no")
QUICK = {
    "ROBOTSPEC_FETCH_TIMEOUT": 1.0,
    "ROBOTSPEC_HOLD_TIMEOUT": 1.0,
    "ROBOTSPEC_RETRY_DELAY": 0.1,
    "ROBOTSPEC_RETRY_MAX_DELAY": 0.2,
    "RETRY_ENABLED": False,
}


def lines_of(folder: Path, kind: str = "decision") -> list[dict[str, Any]]:
    """The lines of one kind in all logs, in order; a last line may be incomplete."""
    logs = sorted(folder.glob("decisions-*.jsonl"))
    lines = [line for log in logs for line in log.read_text().splitlines()]
    found = [json.loads(line) for line in lines if line.endswith("}")]
    return [line for line in found if line["type"] == kind]


def replayed(folder: Path, decisions: int) -> ReplayResult:
    """The replay of *folder*, in which all *decisions* agree."""
    result = replay(folder)
    assert result.problems == []
    assert (result.decisions, result.differ) == (decisions, 0)
    return result


def records_of(folder: Path) -> list[Any]:
    """Type, URL and content of every archived record, read by a library of others."""
    found = []
    for path in sorted(folder.glob("robots-*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                url = record.rec_headers.get_header("WARC-Target-URI")
                found.append((record.rec_type, url, record.raw_stream.read()))
    return found


def test_decisions_about_awkward_origins_replay_from_the_archive(
    server: Server, tmp_path: Path
) -> None:
    target = server.site("127.0.0.3", NO)
    packed = gzip.compress(NO.encode())
    answers = {
        "127.0.0.4": reply("gone", 404),
        "127.0.0.5": redirect(target.url("/robots.txt")),
        "127.0.0.6": redirect("/robots.txt"),
        "127.0.0.7": in_turn(reply("", 503), reply(NO)),
        "127.0.0.8": reply("", 503),
        "127.0.0.9": silence(),
        "127.0.0.10": raw(b"\x00\xff garbage\r\n\r\n"),
        "127.0.0.11": reply(packed, headers=[("Content-Encoding", "gzip")]),
        "127.0.0.12": reply(NO + "# more\n" * 20_000),
        "127.0.0.13": in_turn(reset(PART), reply(NO)),
        "127.0.0.14": reply(b"\xef\xbb\xbf" + b"\x00\xff\r" * 50 + NO.encode()),
        "127.0.0.15": reply("", 429),
        "127.0.0.16": redirect(None),
        "127.0.0.18": redirect(target.url("/robots.txt").replace("//", "//user:secret@")),
        "127.0.0.17": after(0.3, reply(NO, headers=[("Cache-Control", "max-age=0")])),
    }
    sites = [server.site(host, answer) for host, answer in answers.items()]
    urls = [site.url(path) for site in (target, *sites) for path in PATHS]
    folder = tmp_path / "evidence"
    settings = {
        **QUICK,
        "ROBOTSPEC_EVIDENCE": str(folder),
        "ROBOTSPEC_MAX_SIZE": 100_000,
        "ROBOTSPEC_STATUS_POLICY": {429: "disallow"},
        "CONCURRENT_REQUESTS": 100,
    }
    result = crawl(urls, settings)
    assert result.ended_once(urls)
    assert Counter(line["url"] for line in lines_of(folder)) == Counter(urls)
    logged = {line["url"]: line["allowed"] for line in lines_of(folder)}
    assert logged == {url: url in result.responses for url in urls}
    assert replayed(folder, len(urls)).notes == []
    kinds = Counter(kind for kind, _, _ in records_of(folder))
    assert kinds["response"] == kinds["request"]
    assert kinds["metadata"] == len(lines_of(folder, "record")) - kinds["response"] - 1
    assert kinds["metadata"] >= 3  # attempts without a response
    assert len(lines_of(folder, "state")) > len(sites)


def test_responses_that_may_be_a_proxys_replay(server: Server, tmp_path: Path) -> None:
    """The log says that they may not be the site's: the archived response does not."""
    answers = in_turn(reply("", 407), reply("", 503), reply(NO))
    site = server.site("site.example", answers, port=80)
    proxy = {"proxy": f"http://127.0.0.9:{server.port}"}
    requests = [{"url": site.url(path), "meta": dict(proxy)} for path in PATHS]
    folder = tmp_path / "evidence"
    settings = {**QUICK, "ROBOTSPEC_EVIDENCE": str(folder), "ROBOTSPEC_HOLD_TIMEOUT": 10}
    crawl(requests, settings)
    assert len(site.robots_asked) == 3
    replayed(folder, len(PATHS))


def test_the_archive_contains_each_hop_as_received(server: Server, tmp_path: Path) -> None:
    """Content coding kept; headers by an allow-list; read with a library of others."""
    packed = gzip.compress(NO.encode())
    target = server.site("127.0.0.3", reply(packed, headers=[("Content-Encoding", "gzip")]))
    site = server.site("127.0.0.2", redirect(target.url("/robots.txt")))
    settings = {
        "ROBOTSPEC_EVIDENCE": str(tmp_path),
        "ROBOTSPEC_EVIDENCE_HEADERS": "X-Mine",
        "DEFAULT_REQUEST_HEADERS": {"Cookie": "secret=1", "X-Key": "secret", "X-Mine": "shown"},
    }
    crawl([site.url("/no")], settings)
    records = records_of(tmp_path)
    assert [record[:2] for record in records] == [
        ("warcinfo", None),
        ("response", site.url("/robots.txt")),
        ("request", site.url("/robots.txt")),
        ("response", target.url("/robots.txt")),
        ("request", target.url("/robots.txt")),
    ]
    assert records[3][2] == packed
    archived = gzip.decompress(next(tmp_path.glob("*.warc.gz")).read_bytes())
    assert b"X-Mine: shown" in archived
    assert b"X-Key: blanked" in archived
    assert b"secret" not in archived


def test_overrides_exemptions_and_dry_runs_are_logged(server: Server, tmp_path: Path) -> None:
    sites = [server.site(f"127.0.0.{n}", NO) for n in range(2, 7)]
    ignored, closed, own, token, plain = sites
    settings = {
        "ROBOTSPEC_OVERRIDES": {
            "127.0.0.2": "ignore",
            "127.0.0.3": "disallow",
            "127.0.0.4": "User-agent: *\nDisallow: /own\nContent-Usage: search=n\n",
            "127.0.0.5": {"token": "other", "status_policy": {404: "disallow"}},
        },
    }
    urls = [ignored.url("/no"), closed.url("/"), own.url("/own"), own.url("/no"), token.url("/no")]
    exempt = {"url": plain.url("/no"), "meta": {"dont_obey_robotstxt": True}}
    expected = {
        ignored.url("/no"): (True, "override", ["ignore"]),
        closed.url("/"): (False, "override", ["disallow"]),
        own.url("/own"): (False, "override", ["robots_txt"]),
        own.url("/no"): (True, "override", ["robots_txt"]),
        token.url("/no"): (False, "rule", ["status_policy", "token"]),
        plain.url("/no"): (True, "dont_obey_robotstxt", None),
    }
    for name, more in {"obeyed": {}, "dry run": {"ROBOTSPEC_DRY_RUN": True}}.items():
        folder = tmp_path / name
        crawl([*urls, exempt], {**settings, **more, "ROBOTSPEC_EVIDENCE": str(folder)})
        if more:
            del expected[plain.url("/no")]
        lines = lines_of(folder)
        assert {
            line["url"]: (line["allowed"], line["reason"], line.get("override")) for line in lines
        } == expected
        stages = {line["stage"] for line in lines}
        assert stages == ({"dry_run"} if more else {"request"})
        replayed(folder, len(expected))


def test_refusals_for_usage_preferences_replay(server: Server, tmp_path: Path) -> None:
    """Before the download by robots.txt, and after it by the response's header."""
    robots = "User-agent: *\nAllow: /\nContent-Usage: /a train-ai=n\nContent-Usage: /b train-ai=y\n"
    pages = {
        "/b": reply("", headers=[("Content-Usage", "train-ai=n")]),
        "/c": reply("", headers=[("Content-Usage", "train-ai=y")]),
    }
    site = server.site("127.0.0.2", robots, pages=pages)
    settings = {
        "ROBOTSPEC_EVIDENCE": str(tmp_path),
        "ROBOTSPEC_USAGE": ["train-ai"],
        "ROBOTSPEC_USAGE_POLICY": "require-allowed",
    }
    urls = [site.url(path) for path in ("/a", "/b", "/c", "/d")]
    result = crawl(urls, settings)
    assert set(result.responses) == {site.url("/c")}
    said = {(line["url"][-2:], line["stage"]): line for line in lines_of(tmp_path)}
    assert {key: line["allowed"] for key, line in said.items()} == {
        ("/a", "request"): False,
        ("/b", "request"): True,
        ("/b", "response"): False,
        ("/c", "request"): True,
        ("/c", "response"): True,
        ("/d", "request"): True,
        ("/d", "response"): False,
    }
    assert said["/a", "request"]["label"] == "train-ai"
    assert said["/b", "request"]["usage"] == {"train-ai": "allow"}
    replayed(tmp_path, 7)


def test_the_urls_that_handlers_are_redirected_to_are_logged(
    server: Server, tmp_path: Path
) -> None:
    other = server.site("127.0.0.3", NO)
    pages = {"/x": reply("", headers=[("X-Final", other.url("/no"))])}
    site = server.site("127.0.0.2", NO, pages=pages)
    settings = {
        "ROBOTSPEC_EVIDENCE": str(tmp_path),
        "DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.FollowsRedirects": 900},
    }
    crawl([site.url("/x")], settings)
    assert [(line["url"], line["stage"], line["allowed"]) for line in lines_of(tmp_path)] == [
        (site.url("/x"), "request", True),
        (other.url("/no"), "final_url", False),
    ]
    replayed(tmp_path, 2)


def test_a_usage_header_behind_a_redirect_of_the_handler_replays(
    server: Server, tmp_path: Path
) -> None:
    """It is combined with the file of the site that sent it."""
    header = [("Content-Usage", "search=y")]
    stated = "User-agent: *\nAllow: /\nContent-Usage: train-ai=y\n"
    other = server.site("127.0.0.3", NO, page=reply("", headers=header))
    pages = {"/x": reply("", headers=[("X-Final", other.url("/yes")), *header])}
    site = server.site("127.0.0.2", stated, pages=pages)
    settings = {
        "ROBOTSPEC_EVIDENCE": str(tmp_path),
        "ROBOTSPEC_USAGE": ["train-ai"],
        "ROBOTSPEC_USAGE_POLICY": "require-allowed",
        "DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.FollowsRedirects": 900},
    }
    result = crawl([site.url("/x")], settings)
    assert set(result.errors) == {site.url("/x")}
    assert [(line["url"], line["stage"], line["allowed"]) for line in lines_of(tmp_path)] == [
        (site.url("/x"), "request", True),
        (other.url("/yes"), "final_url", True),
        (other.url("/yes"), "response", False),
    ]
    replayed(tmp_path, 3)


def test_a_file_from_a_shared_store_is_archived_with_its_digest_and_date(
    server: Server, tmp_path: Path
) -> None:
    """The second crawl fetches nothing, and its evidence can be replayed without the store."""
    site = server.site("127.0.0.2", NO)
    settings = {"ROBOTSPEC_CACHE": f"sqlite:///{tmp_path}/robots.db"}
    crawl([site.url("/")], settings)
    crawl([site.url("/no")], {**settings, "ROBOTSPEC_EVIDENCE": str(tmp_path / "evidence")})
    assert len(site.robots_asked) == 1
    (line,) = lines_of(tmp_path / "evidence")
    assert not line["allowed"]
    (state,) = lines_of(tmp_path / "evidence", "state")
    assert (state["id"], state["source"]) == (line["state"], "store")
    assert state["body_sha256"] == sha256(NO.encode()).hexdigest()
    assert state["record"]["fetched_at"] < line["time"]
    bodies = [block for kind, _, block in records_of(tmp_path / "evidence") if kind == "resource"]
    assert bodies == [NO.encode()]
    replayed(tmp_path / "evidence", 1)


def test_a_stale_copy_is_logged_as_stale(server: Server, tmp_path: Path) -> None:
    robots = Switch(reply(NO))
    site = server.site("127.0.0.2", robots)
    settings = {
        **QUICK,
        "ROBOTSPEC_CACHE": f"sqlite:///{tmp_path}/robots.db",
        "ROBOTSPEC_CACHE_TTL": 0.2,
        "ROBOTSPEC_CACHE_MIN_TTL": 0.1,
        "ROBOTSPEC_CACHE_MAX_TTL": 0.2,
        "ROBOTSPEC_EDITION": {"base": "google-2019", "stale_after": 0.5},
    }
    crawl([site.url("/")], settings)
    time.sleep(0.3)  # a quick machine begins the next crawl before the copy has expired
    robots.answer = reply("", 503)
    folder = tmp_path / "evidence"
    urls = [site.url("/"), site.url("/no")]
    result = crawl(urls, {**settings, "ROBOTSPEC_EVIDENCE": str(folder)})
    assert set(result.responses) == {site.url("/")}
    assert [(line["stale"], line["outcome"]) for line in lines_of(folder)] == [
        (True, "unreachable")
    ] * 2
    replayed(folder, 2)


def test_a_robots_txt_that_does_not_change_is_archived_once(server: Server, tmp_path: Path) -> None:
    """A refresh is a revisit record; each decision agrees with the body that it refers to."""
    body = NO + "# filled\n" * 1000
    site = server.site("127.0.0.2", body, page=after(0.1, reply("")))
    folder = tmp_path / "evidence"
    settings = {
        "ROBOTSPEC_EVIDENCE": str(folder),
        "ROBOTSPEC_CACHE_TTL": 0.3,
        "ROBOTSPEC_CACHE_MIN_TTL": 0.1,
        "CONCURRENT_REQUESTS": 1,
    }
    urls = [site.url(f"/{path}{n}") for n in range(10) for path in ("", "no")]
    result = crawl(urls, settings)
    assert len(result.responses) == 10
    kinds = [kind for kind, _, _ in records_of(folder) if kind in ("response", "revisit")]
    assert kinds[0] == "response"
    assert set(kinds[1:]) == {"revisit"}
    assert len(kinds) == len(site.robots_asked)
    lines = lines_of(folder)
    assert len({line["state"] for line in lines}) > 1, "later states decided, too"
    assert {line["url"] for line in lines} == set(urls)
    replayed(folder, len(lines))  # a page that leaves after its rules have ended is decided again


def test_a_killed_and_resumed_crawl_leaves_two_runs_that_replay(
    server: Server, tmp_path: Path
) -> None:
    """SIGKILL; what was decided more than a second before is in the log."""
    sites = [server.site(f"127.0.0.{n}", NO, page=after(0.05, reply(""))) for n in range(2, 12)]
    urls = [site.url(f"/{path}{n}") for n in range(40) for path in ("", "no") for site in sites]
    folder = tmp_path / "evidence"
    settings = {
        "JOBDIR": str(tmp_path / "job"),
        "ROBOTSPEC_EVIDENCE": str(folder),
        "CONCURRENT_REQUESTS": 4,
    }
    with Running(urls, settings) as running:
        running.wait_until(lambda: len(lines_of(folder)) > 50)
        sure = len(running.events)
        running.wait_until(lambda: len(running.events) > sure + 60)
        noted = {event["url"] for event in running.events[:sure] if "url" in event}
        running.wait_until(lambda: noted <= {line["url"] for line in lines_of(folder)})
        running.send(signal.SIGKILL)
    killed = replay(folder)
    assert killed.problems == []
    assert killed.decisions > 50
    assert len(killed.notes) >= 1
    crawl([site.url("/again") for site in sites], settings)
    result = replay(folder)
    assert result.problems == []
    assert len(result.runs) == 2
    assert result.decisions >= killed.decisions + len(sites)


def test_questions_of_a_spider_are_logged_as_such(server: Server, tmp_path: Path) -> None:
    site = server.site("127.0.0.2", NO)
    settings = {"ROBOTSPEC_EVIDENCE": str(tmp_path)}
    crawl([site.url("/no")], settings, spider="asking")
    assert [(line["url"], line["stage"]) for line in lines_of(tmp_path)] == [
        (site.url("/no"), "question")
    ]
    replayed(tmp_path, 1)


def test_a_browsers_request_that_could_not_wait_is_logged(server: Server, tmp_path: Path) -> None:
    """It was aborted without a robots.txt: nothing in the archive allows or refuses it."""
    silent, site = server.site("127.0.0.2", silence()), server.site("127.0.0.3", NO)
    urls = [site.url("/yes"), silent.url("/page"), site.url("/no")]
    settings = {
        "ROBOTSPEC_EVIDENCE": str(tmp_path),
        "PLAYWRIGHT_DEFAULT_NAVIGATION_TIMEOUT": 1000,
        "ROBOTSPEC_FETCH_TIMEOUT": 2,
    }
    result = crawl(urls, settings, spider="in_a_browser")
    assert [each["allowed"] for each in result.of("browser")] == [True, False, False]
    logged = lines_of(tmp_path)
    assert [(line["url"], line["stage"]) for line in logged] == [(url, "browser") for url in urls]
    waited = logged[1]
    assert (waited["allowed"], waited["reason"]) == (False, "unreachable")
    assert (waited["policy"], waited["outcome"]) == ("no_answer", None)
    assert "while the browser waited" in waited["failure"]
    replayed(tmp_path, 3)


def test_a_robots_txt_over_ftp_is_archived_as_a_resource(tmp_path: Path) -> None:
    public, folder = tmp_path / "public", tmp_path / "evidence"
    public.mkdir()
    for name in ("robots.txt", "yes", "no"):
        (public / name).write_text(NO)
    with ftp_site(public, tmp_path / "log") as site:
        urls = [site.url("/yes"), site.url("/no")]
        result = crawl(urls, {"ROBOTSPEC_EVIDENCE": str(folder)})
    assert set(result.errors) == {urls[1]}
    assert [block for kind, _, block in records_of(folder) if kind == "resource"] == [NO.encode()]
    replayed(folder, 2)


def everything_in(folder: Path) -> bytes:
    """The bytes of all files in *folder*, decompressed."""
    files = sorted(folder.iterdir())
    return b"".join(
        gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        for file in files
    )


def test_no_secret_of_the_crawl_is_in_its_evidence(server: Server, tmp_path: Path) -> None:
    """SAF-06: headers by an allow-list, cookies and user info blanked, files for the owner."""
    folder = tmp_path / "evidence"
    cookies = [("Set-Cookie", "session=S3CRET1"), ("Link", "<http://u:S3CRET2@a.example/>")]
    target = server.site("127.0.0.3", reply(NO, headers=cookies))
    moved = target.url("/robots.txt").replace("//", "//jane:S3CRET3@")
    sites = [
        server.site("127.0.0.2", redirect(moved)),
        server.site("127.0.0.4", reset()),
        server.site("127.0.0.5", NO),
    ]
    urls = [site.url(path).replace("//", "//jane:S3CRET4@") for site in sites for path in PATHS]
    settings = {
        **QUICK,
        "ROBOTSPEC_EVIDENCE": str(folder),
        "DEFAULT_REQUEST_HEADERS": {
            "Authorization": "Bearer S3CRET5",
            "Cookie": "a=S3CRET6",
            "X-Api-Key": "S3CRET7",
        },
        "MY_PASSWORD": "S3CRET8",
        "ROBOTSPEC_OVERRIDES": {"127.0.0.5": {"crawl_delay": 0.1}},
        "ROBOTSPEC_CACHE": f"sqlite:///{tmp_path}/S3CRET9.db",
    }
    crawl(urls, settings)
    replayed(folder, len(urls))
    written = everything_in(folder)
    assert b"S3CRET" not in written
    assert b"MY_PASSWORD" not in written
    for mark in (b"Set-Cookie: blanked", b"X-Api-Key: blanked", b"//blanked@127.0.0.3"):
        assert mark in written
    assert b"http://blanked@127.0.0.5" in written
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}


def test_a_body_behind_a_redirect_into_a_private_network_is_left_out(
    server: Server, tmp_path: Path
) -> None:
    """SAF-06: its hash and length stay, and what needs it cannot be checked. Else all is kept."""
    body = NO.replace("/no", "/no #internal") + "# internal\n"
    inside = server.site("127.0.0.3", body)
    public = server.site("public.example", redirect(inside.url("/robots.txt")), port=80)
    private = server.site("127.0.0.2", redirect(inside.url("/robots.txt")))
    proxy = {"proxy": f"http://127.0.0.9:{server.port}"}
    for site, not_checkable in ((public, 2), (private, 0)):
        folder = tmp_path / site.host
        requests = [{"url": site.url(path), "meta": dict(proxy)} for path in PATHS]
        result = crawl(requests, {"ROBOTSPEC_EVIDENCE": str(folder)})
        now = time.time()
        assert set(result.errors) == {site.url("/no")}
        found = replay(folder)
        assert (found.problems, found.decisions, found.differ) == ([], 2, 0)
        assert found.not_checkable == not_checkable
        audit = audited(folder, [(now, site.url(path)) for path in PATHS])
        assert (audit.unknown, audit.disallowed) == ((2, 0) if not_checkable else (0, 1))
        reading = audit._timeline.reading
        assert reading.problems == []
        is_noted = any("left out of the archive" in note for note in reading.notes)
        assert is_noted is (not_checkable > 0)
        assert (b"internal" in everything_in(folder)) is (not not_checkable)
        assert (b"Robotspec-Left-Out-Length: %d" % len(body) in everything_in(folder)) is bool(
            not_checkable
        )


def test_a_private_address_behind_a_public_host_that_is_down_agrees(
    server: Server, tmp_path: Path
) -> None:
    """No rule is left out where none decided."""
    inside = server.site("127.0.0.3", reply("internal", 503))
    public = server.site("public.example", redirect(inside.url("/robots.txt")), port=80)
    proxy = {"proxy": f"http://127.0.0.9:{server.port}"}
    settings = {**QUICK, "ROBOTSPEC_EVIDENCE": str(tmp_path)}
    crawl([{"url": public.url("/"), "meta": proxy}], settings)
    (line,) = lines_of(tmp_path)
    assert (line["reason"], line["rule"]) == ("unreachable", None)
    replayed(tmp_path, 1)


@pytest.mark.parametrize("mode", MODES)
def test_each_page_that_left_has_a_line_with_its_status(
    server: Server, mode: str, tmp_path: Path
) -> None:
    pages = {"/gone": reply("", 404), "/lost": reset()}
    site = server.site("127.0.0.2", NO, pages=pages)
    exempt = {"url": site.url("/no/exempt"), "meta": {"dont_obey_robotstxt": True}}
    urls = [site.url(path) for path in ("/", "/no", "/gone", "/lost")]
    settings = {**QUICK, "ROBOTSPEC_EVIDENCE": str(tmp_path)}
    crawl([*urls, exempt], settings, mode=mode)
    by_number = {line["number"]: line["url"] for line in lines_of(tmp_path)}
    sent = {by_number[line["decision"]]: line["status"] for line in lines_of(tmp_path, "sent")}
    assert sent == {
        site.url("/"): 200,
        site.url("/gone"): 404,
        site.url("/lost"): None,
        site.url("/no/exempt"): 200,
    }
    assert {site.url(asked.path) for asked in site.log} == {site.url("/robots.txt"), *sent}
    replayed(tmp_path, 5)


def test_the_first_line_says_who_crawls_with_what(server: Server, tmp_path: Path) -> None:
    site = server.site("127.0.0.2", NO)
    settings = {
        "ROBOTSPEC_EVIDENCE": str(tmp_path),
        "ROBOTSPEC_EVIDENCE_OPERATOR": "Example Ltd",
        "DEFAULT_REQUEST_HEADERS": {"X-Api-Key": "secret"},
        "DOWNLOAD_DELAY": 0.1,
    }
    crawl([site.url("/")], settings)
    (first,) = lines_of(tmp_path, "run")
    assert set(first["versions"]) == {"python", "scrapy", "twisted", "scrapy-robotspec"}
    assert first["operator"] == "Example Ltd"
    assert {"DEFAULT_REQUEST_HEADERS", "DOWNLOAD_DELAY"} <= set(first["changed_settings"])
    assert "DOWNLOAD_TIMEOUT" not in first["changed_settings"]
    assert first["values"]["DOWNLOAD_DELAY"] == 0.1
    assert "DEFAULT_REQUEST_HEADERS" not in first["values"]
    assert replay(tmp_path).runs[0].versions == first["versions"]


def test_an_audit_excuses_what_a_robots_txt_was_fetched_by(server: Server, tmp_path: Path) -> None:
    """Redirects to paths that the file disallows, and probes of a site that is down."""
    closed = "User-agent: *\nDisallow: /\n"
    pages = {"/x/one": redirect("/x/two"), "/x/two": reply(closed)}
    site = server.site("127.0.0.2", redirect("/x/one"), pages=pages)
    down = server.site("127.0.0.3", reply("", 503), page=reply("", 503))
    cancelled = server.site("127.0.0.4", redirect("/x/one"), pages={"/x/one": silence()})
    settings = {
        **QUICK,
        "ROBOTSPEC_EVIDENCE": str(tmp_path),
        "ROBOTSPEC_PROBE_SERVER_ERRORS": True,
        "ROBOTSPEC_FETCH_TIMEOUT": 60,
        "CLOSESPIDER_TIMEOUT": 3,
    }
    sites = (site, down, cancelled)
    crawl([each.url("/") for each in sites], settings)
    asked = [(asked.at, each.url(asked.path)) for each in sites for asked in each.log]
    assert len(asked) >= 3 + 2 + 2
    audit = audited(tmp_path, asked)
    assert (audit.requests, audit.disallowed, audit.unknown) == (len(asked), 0, 0)


def test_misplaced_server_errors_are_replayed_with_their_probes(
    server: Server, tmp_path: Path
) -> None:
    """FET-15: the state follows from the answers of both probes."""
    down = reply("", 503)
    site = server.site("127.0.0.2", down, page=down, pages={"/": reply("home")})
    settings = {"ROBOTSPEC_EVIDENCE": str(tmp_path), "ROBOTSPEC_PROBE_SERVER_ERRORS": True}
    crawl([site.url("/")], settings)
    (state,) = lines_of(tmp_path, "state")
    assert len(state["exchanges"]) == 3
    assert state["record"]["redirect_error"] == "server errors for missing pages"
    replayed(tmp_path, 1)


def test_a_shell_leaves_its_last_decisions(server: Server, tmp_path: Path) -> None:
    """Its process ends at once, without closing the spider."""
    site = server.site("127.0.0.2", NO)
    words = ["scrapy", "shell", site.url("/yes"), "-c", f"fetch({site.url('/no')!r})"]
    result = crawl([], {"ROBOTSPEC_EVIDENCE": str(tmp_path)}, words=words)
    assert result.exit_code == 0
    assert site.pages_asked == ["/yes"]
    assert replayed(tmp_path, 2).sent == 1


@pytest.mark.parametrize("mode", MODES)
def test_ctrl_c_after_the_spider_has_closed_leaves_an_end(
    server: Server, tmp_path: Path, mode: str
) -> None:
    """Scrapy then waits for no handler of ``engine_stopped``."""
    folder, site = tmp_path / "evidence", server.site("127.0.0.2", NO)
    settings = {
        "EXTENSIONS": {"tests.crawl.middlewares.SlowDisk": 1},
        "LOG_LEVEL": "INFO",
        "ROBOTSPEC_EVIDENCE": str(folder),
        "ROBOTSPEC_REPORT": str(tmp_path / "report.jsonl"),
    }
    with Running([site.url(path) for path in PATHS], settings, mode=mode) as running:
        running.wait_until(lambda: "Spider closed" in running.log)
        running.send(signal.SIGINT)
        assert "Traceback" not in running.finish(20).log
    (end,) = lines_of(folder, "end")
    assert (end["requests"]["rules"], end["requests"]["refused_rule"]) == (1, 1)
    replayed(folder, 2)


@pytest.mark.parametrize("mode", MODES)
def test_a_second_ctrl_c_leaves_evidence_without_a_contradiction(
    server: Server, tmp_path: Path, mode: str
) -> None:
    """Pages under way have left and get no line: an end must not count them."""
    folder = tmp_path / "evidence"
    site = server.site("127.0.0.2", NO, pages={"/slow": silence()})
    settings = {"LOG_LEVEL": "INFO", "ROBOTSPEC_EVIDENCE": str(folder)}
    with Running([site.url(path) for path in (*PATHS, "/slow")], settings, mode=mode) as running:
        running.wait_until(lambda: "/slow" in site.pages_asked)
        time.sleep(1.5)  # lines are written once a second
        for words in ("Received SIGINT", "Received SIGINT twice"):
            running.send(signal.SIGINT)
            running.wait_until(lambda words=words: words in running.log)  # type: ignore[misc]
        running.finish(20)
    replayed(folder, 3)

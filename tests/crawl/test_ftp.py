"""robots.txt by FTP (LOC-06, FET-17), against a real FTP server."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.support.crawl import MODES, crawl
from tests.support.ftp import ftp_site

DEAD = {"ROBOTSPEC_RETRY_TIMES": 0, "ROBOTSPEC_FETCH_TIMEOUT": 2}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two pages."""
    made = tmp_path / "public"
    made.mkdir()
    for name in ("yes", "no"):
        (made / name).write_text(f"page {name}")
    return made


def test_rules_hold(folder: Path, tmp_path: Path) -> None:
    """Found is as good as 200."""
    (folder / "robots.txt").write_text("User-agent: *\nDisallow: /no\n")
    with ftp_site(folder, tmp_path / "log") as site:
        result = crawl([site.url("/yes"), site.url("/no")])
        assert site.asked_for("robots.txt") == 1
        assert site.asked_for("no") == 0
    assert result.responses[site.url("/yes")]["body"] == "page yes"
    assert result.errors[site.url("/no")]["type"] == "ForbiddenByRobots"


def test_no_file_is_as_good_as_404(folder: Path, tmp_path: Path) -> None:
    """ "550 no such file": no restrictions."""
    with ftp_site(folder, tmp_path / "log") as site:
        result = crawl([site.url("/yes"), site.url("/no")])
    assert len(result.responses) == 2
    assert {r["robotspec"]["outcome"] for r in result.responses.values()} == {"unavailable"}


def test_robots_txt_is_asked_for_anonymously(folder: Path, tmp_path: Path) -> None:
    """LOC-06: also where the page request or the project has a login."""
    (folder / "robots.txt").write_text("User-agent: *\nDisallow: /no\n")
    with ftp_site(folder, tmp_path / "log") as site:
        meta = {"ftp_user": "somebody", "ftp_password": "secret"}
        settings = {"FTP_USER": "somebody", "FTP_PASSWORD": "secret"}
        crawl([{"url": site.url("/no"), "meta": meta}, site.url("/no", "user:pass@")], settings)
        users = [line for line in site.commands if line.startswith("USER")]
        assert users == ["USER anonymous"]
        assert not [line for line in site.commands if "secret" in line or "pass" in line]


def test_a_refused_login_is_unreachable(folder: Path, tmp_path: Path) -> None:
    """No answer about the file is no permission."""
    with ftp_site(folder, tmp_path / "log", anonymous=False) as site:
        result = crawl([site.url("/yes")], DEAD, seconds=100)
    assert result.errors[site.url("/yes")]["type"] == "RobotsUnreachable"


@pytest.mark.parametrize("answer", ["silence", "refused"])
def test_a_server_that_does_not_answer_is_unreachable(answer: str) -> None:
    """With a deadline of our own: Scrapy's handler has none."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        if answer == "silence":
            taken.listen()
        url = f"ftp://127.0.0.1:{taken.getsockname()[1]}/yes"
        result = crawl([url], DEAD, seconds=100)
    assert result.errors[url]["type"] == "RobotsUnreachable"


@pytest.mark.skipif("none" not in MODES, reason="this Scrapy always has a reactor")
def test_where_no_handler_runs_scrapy_says_so(folder: Path, tmp_path: Path) -> None:
    """LOC-12: such a request passes, and ends as it does without us."""
    with ftp_site(folder, tmp_path / "log") as site:
        result = crawl([site.url("/yes")], mode="none")
        assert site.commands == []
        assert result.errors[site.url("/yes")]["type"] != "RobotsUnreachable"
        assert "robotstxt/request_count" not in result.stats

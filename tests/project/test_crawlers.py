"""The comparison of crawlers: its sites, its judgement, and the page that shows the results."""

from __future__ import annotations

import http.client
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

import run
from conformance.crawlers import outcomes, page, results
from conformance.crawlers.install import variables
from conformance.crawlers.programs import DRIVERS, PROGRAMS, Program
from conformance.crawlers.site import Request, Site
from conformance.crawlers.situations import CLOSED, OPEN, SITUATIONS, TARGET
from scrapy_robotspec import RobotsTxt

NAME = "examplebot"
KEPT = results.read()["programs"]


def get(url: str) -> tuple[int, str | None, bytes]:
    """Status, redirect target and body; status 0 where there is no response."""
    parts = urlsplit(url)
    assert parts.hostname
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request("GET", path, headers={"User-Agent": NAME})
        response = connection.getresponse()
        return response.status, response.headers["Location"], response.read()
    except (OSError, http.client.HTTPException):
        return 0, None, b""
    finally:
        connection.close()


def obedient(url: str) -> Iterator[str]:
    """The URLs that a crawler fetches which does as RFC 9309 states; it fetches them here."""
    status, target, body = get(urljoin(url, "/robots.txt"))
    for _ in range(5):
        if target:
            status, target, body = get(urljoin(url, target))
    if status >= 500 or not status:
        return
    robots = RobotsTxt.parse(b"" if status >= 400 else body, "rfc9309")
    queue = [url]
    while queue:
        page_url = queue.pop()
        if robots.allowed(page_url, NAME):
            _, target, body = get(page_url)
            yield page_url
            links = [target] if target else re.findall(r'href="([^"]+)"', body.decode())
            queue += [urljoin(page_url, link) for link in links]


def careless(url: str) -> Iterator[str]:
    """A crawler that never asks."""
    for link in re.findall(r'href="([^"]+)"', get(url)[2].decode()):
        get(link)
        yield link


def crawl(crawler: Callable[[str], Iterator[str]]) -> dict[str, list[str]]:
    found = {}
    for name, situation in SITUATIONS.items():
        with Site(situation, NAME) as site:
            assert list(crawler(site.url)) is not None
        found[name] = outcomes.requested(situation, site.requests)
    return found


def test_obedient_crawler_does_as_rfc_9309_states_in_every_situation() -> None:
    found = crawl(obedient)
    wrong = [name for name in found if not outcomes.conforms(SITUATIONS[name], found[name])]
    assert wrong == []
    assert outcomes.faults(found) == []
    assert page._cells(found) == ("yes", "allowed", "refused", "own", "longest, `*`, `$`")


def test_careless_crawler_is_found_out() -> None:
    found = crawl(careless)
    assert not outcomes.asks(found)
    assert not any(
        outcomes.conforms(situation, found[name])
        for name, situation in SITUATIONS.items()
        if {*situation.disallowed} - {situation.moved}
    )
    assert page._cells(found) == ("no", "allowed", "allowed", "none", "`Allow`")


def test_every_fault_has_words() -> None:
    """A situation without a column of its own says what goes wrong in it."""
    without = [name for name, each in SITUATIONS.items() if not each.fault]
    assert {SITUATIONS[name].topic for name in without} <= {*page.COLUMNS}


@pytest.mark.parametrize("name", SITUATIONS)
def test_situations_are_decided_by_their_pages(name: str) -> None:
    situation = SITUATIONS[name]
    assert situation.allowed or situation.disallowed
    assert not {*situation.allowed} & {*situation.disallowed}


def test_requests_are_compared_decoded_and_others_do_not_count() -> None:
    situation = SITUATIONS["tilde"]
    log = [Request("GET", target, NAME) for target in ("/%7Eme/page.html", "/favicon.ico")]
    assert outcomes.requested(situation, log) == ["/~me/page.html"]


@pytest.mark.parametrize(
    ("meanings", "words"),
    [
        ({"status-401": [OPEN, CLOSED], "status-404": [OPEN, CLOSED]}, "allowed"),
        ({"status-401": [], "status-404": [OPEN, CLOSED], "status-410": [OPEN, CLOSED]},
         "allowed; 401 refused"),
        ({"status-500": [OPEN], "reset": [], "status-503": [OPEN]}, "read as rules; reset refused"),
    ],
)  # fmt: skip
def test_words_for_statuses(meanings: dict[str, list[str]], words: str) -> None:
    assert outcomes.statuses(meanings, [*meanings]) == words


@pytest.mark.parametrize(
    ("below", "above", "folder", "word"),
    [
        (1, 1, (1, 0), "longest"),
        (0, 1, (1, 1), "first"),
        (1, 0, (1, 0), "last"),
        (1, 1, (1, 1), "`Allow`"),
        (0, 0, (1, 0), "ignored"),
        (0, 0, (0, 1), "otherwise"),
    ],
)
def test_words_for_allow(below: int, above: int, folder: tuple[int, int], word: str) -> None:
    opened = ["/private/open.html"]
    found = {
        "allow-below": opened * below,
        "allow-above": opened * above,
        "allow-folder": [*(opened * folder[0]), *([CLOSED] * folder[1])],
    }
    assert outcomes.allows(found) == word


def test_words_for_redirects() -> None:
    unapplied = [OPEN, CLOSED, TARGET]
    names = ("redirect", "redirect-origin", "redirect-five")
    assert outcomes.redirects(dict.fromkeys(names, unapplied)) == "not applied"
    found = {name: [OPEN, TARGET] for name in names} | {"redirect-five": [OPEN, CLOSED]}
    assert outcomes.redirects(found) == "not five"


def test_results_belong_to_the_situations_and_programs() -> None:
    """After a change of either: ``python3 run.py crawlers``."""
    assert {name: kept["version"] for name, kept in KEPT.items()} == {
        name: program.version for name, program in PROGRAMS.items()
    }
    assert len(KEPT) >= 12
    assert all(kept["requested"].keys() == SITUATIONS.keys() for kept in KEPT.values())


def test_pages_show_the_results() -> None:
    """After a change of words: ``python3 run.py crawlers --render``."""
    assert page.PAGE.read_text("utf-8") == page.render(KEPT)
    assert page.DETAILS.read_text("utf-8") == page.render_details(KEPT)


@pytest.mark.parametrize("name", PROGRAMS)
def test_commands_name_a_file_of_ours_or_a_program(name: str) -> None:
    """A driver exists, and each is used."""
    for word in PROGRAMS[name].command:
        if "/drivers/" in word:
            assert Path(word).is_file()
            assert Path(word).parent == DRIVERS


def test_every_driver_is_used() -> None:
    words = {word for program in PROGRAMS.values() for word in program.command}
    assert {str(path) for path in DRIVERS.iterdir() if path.is_file()} <= words


def test_requirements_are_pinned() -> None:
    program = Program("debian", "wget", "1.21.3", "Wget", ())
    assert program.requirements() == ["wget=1.21.3*"]
    assert Program("npm", "@a/b", "1.0", "b", ()).requirements() == ["@a/b@1.0"]
    assert Program("pypi", "a[b]", "1.0", "a", (), ["c==2"]).requirements() == ["a[b]==1.0", "c==2"]


def test_packages_of_debian_are_found_where_they_were_unpacked(tmp_path: Path) -> None:
    for name in ("usr/lib/x86_64-linux-gnu/libx.so.1", "usr/lib/ruby/vendor_ruby/x.rb"):
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True)
        path.touch()
    found = variables(PROGRAMS["wget"], tmp_path)
    assert found["PATH"].startswith(str(tmp_path / "root/usr/bin"))
    assert found["LD_LIBRARY_PATH"] == str(tmp_path / "root/usr/lib/x86_64-linux-gnu")
    assert found["RUBYLIB"] == str(tmp_path / "root/usr/lib/ruby/vendor_ruby")


def test_task_exists() -> None:
    assert run.TASKS["crawlers"] == ("", ["-m", "conformance.crawlers"])

"""Redirects in archives: the rules at their end hold for the first origin (FET-03, FET-04)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.access.exchange import Exchange
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult, meaning
from scrapy_robotspec.access.redirects import RedirectChain, RedirectLimits
from scrapy_robotspec.bulk.answers import Answers
from scrapy_robotspec.bulk.documents import Document
from scrapy_robotspec.bulk.inputs import warc
from scrapy_robotspec.bulk.inputs.captures import Captures
from scrapy_robotspec.bulk.inputs.plan import plan
from scrapy_robotspec.bulk.questions import Questions
from scrapy_robotspec.editions import EDITIONS
from tests.support.warc import one_stream, response, write_warc

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from scrapy_robotspec.bulk.inputs.parts import Part
    from scrapy_robotspec.editions import Edition

A, B = "http://a.example/robots.txt", "https://www.a.example/robots.txt"
DENY = b"User-agent: *\nDisallow: /\n"
QUESTIONS = Questions.of("GPTBot", editions=["google-2019", "classic"])

Row = dict[str, Any]


def redirect(url: str, location: str, status: int = 301) -> Row:
    """A record with a redirect."""
    return response(url, b"moved", status=status, headers=[("Location", location)])


def chain(number: int) -> list[Row]:
    """A file behind some redirects, the last one first."""
    urls = [A, *(f"https://{n}.example/robots.txt" for n in range(1, number + 1))]
    hops = [redirect(url, target) for url, target in pairwise(urls)]
    return [response(urls[-1], DENY), *reversed(hops)]


def rows_of(parts: Sequence[Part], edition: str = "google-2019") -> list[Row]:
    """The rows of some parts in one edition."""
    answers = Answers(QUESTIONS)
    for part in parts:
        for each in part.read():
            if isinstance(each, Document):
                answers.add(each)
    found = [row for batch in answers.batches() for row in batch.to_pylist()]
    return [row for row in found if row["edition"] == edition]


def first(path: Path, edition: str = "google-2019", url: str = A) -> Row:
    """The row of the first URL."""
    (row,) = [row for row in rows_of(plan([str(path)]).parts, edition) if row["url"] == url]
    return row


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("target_first", [True, False])
def test_rules_at_the_end_hold_for_the_first_origin(
    tmp_path: Path, target_first: bool, compressed: bool
) -> None:
    records = [redirect(A, B), response(B, DENY)]
    if target_first:
        records.reverse()
    row = first(write_warc(tmp_path / "x.warc", records, compressed=compressed))
    assert (row["origin"], row["url"], row["redirects"]) == ("http://a.example", A, [B])
    assert (row["status"], row["outcome"], row["class"], row["line"]) == (
        200,
        "successful",
        "denies all",
        2,
    )
    assert row["bytes"] == len(DENY)


def test_target_has_its_own_row_and_redirects_come_last(tmp_path: Path) -> None:
    path = write_warc(tmp_path / "x.warc.gz", [redirect(A, B), response(B, DENY)])
    assert [(row["url"], row["redirects"]) for row in rows_of(plan([str(path)]).parts)] == [
        (B, None),
        (A, [B]),
    ]
    offset = int(first(path)["source"].rpartition(":")[2])
    assert path.read_bytes()[offset:].startswith(b"\x1f\x8b")  # that of the first response
    assert offset < int(first(path, url=B)["source"].rpartition(":")[2])


@pytest.mark.parametrize(
    "location",
    [B, "//www.a.example/robots.txt", "https://u:p@WWW.A.example:443/robots.txt#top"],
)
def test_locations_are_read_as_a_crawl_reads_them(tmp_path: Path, location: str) -> None:
    path = write_warc(
        tmp_path / "x.warc.gz",
        [redirect("https://a.example/robots.txt", location), response(B, DENY)],
    )
    row = first(path, url="https://a.example/robots.txt")
    assert row["class"] == "denies all"
    assert "u:p" not in row["redirects"][0]


def test_target_may_be_any_page(tmp_path: Path) -> None:
    """A page without rules allows everything; it has no row of its own."""
    records = [redirect(A, "/start?x"), response("http://a.example/start?x", b"<html>Hello")]
    (row,) = rows_of(plan([str(write_warc(tmp_path / "x.warc.gz", records))]).parts)
    assert (row["outcome"], row["allowed"], row["class"]) == ("successful", True, "unreadable")


@pytest.mark.parametrize("edition", ["google-2019", "classic"])
@pytest.mark.parametrize(("number", "outcome"), [(4, "successful"), (5, "successful")])
def test_five_redirects_are_followed(
    tmp_path: Path, number: int, outcome: str, edition: str
) -> None:
    row = first(write_warc(tmp_path / "x.warc.gz", chain(number)), edition)
    assert (row["outcome"], len(row["redirects"])) == (outcome, number)
    assert row["allowed"] is False


@pytest.mark.parametrize("number", [6, 7, 20])
def test_sixth_redirect_counts_as_no_file(tmp_path: Path, number: int) -> None:
    """Whether the archive contains its target or not."""
    row = first(write_warc(tmp_path / "x.warc.gz", chain(number)))
    assert (row["outcome"], row["allowed"], len(row["redirects"])) == ("unavailable", True, 6)


def test_loop_counts_as_no_file(tmp_path: Path) -> None:
    for records in ([redirect(A, A)], [redirect(A, B), redirect(B, A)]):
        path = write_warc(tmp_path / "x.warc.gz", records)
        for edition in ("google-2019", "classic"):
            assert first(path, edition)["outcome"] == "unavailable"


def test_url_may_come_twice_unless_the_edition_takes_it_for_a_loop(tmp_path: Path) -> None:
    """FET-03: a gate sends a crawler back, and the next response is the file."""
    records = [redirect(A, "/gate", 302), redirect("http://a.example/gate", A), response(A, DENY)]
    parts = plan([str(write_warc(tmp_path / "x.warc.gz", records))]).parts
    for edition, expected in (("google-2019", "successful"), ("classic", "unavailable")):
        (row,) = [row for row in rows_of(parts, edition) if row["redirects"]]
        assert row["outcome"] == expected


@pytest.mark.parametrize("location", ["ftp://a.example/robots.txt", "data:,x", "", "https://"])
def test_redirect_that_leads_nowhere_counts_as_no_file(tmp_path: Path, location: str) -> None:
    """FET-07, FET-18."""
    row = first(write_warc(tmp_path / "x.warc.gz", [redirect(A, location)]))
    assert (row["outcome"], row["allowed"]) == ("unavailable", True)


def test_failure_at_the_end_is_that_of_the_first_origin(tmp_path: Path) -> None:
    records = [redirect(A, B), response(B, b"", status=503)]
    row = first(write_warc(tmp_path / "x.warc.gz", records))
    assert (row["outcome"], row["allowed"], row["status"]) == ("unreachable", False, 503)


def test_target_elsewhere_is_named(tmp_path: Path) -> None:
    """In another file, in another part, or in no input at all."""
    one = write_warc(tmp_path / "1.warc.gz", [redirect(A, B), redirect(B, "//c.example/r?q")])
    write_warc(tmp_path / "2.warc.gz", [response("https://c.example/robots.txt", DENY)])
    row = rows_of(plan([str(tmp_path)]).parts)[0]
    assert (row["outcome"], row["allowed"], row["class"]) == ("redirect", None, "no file")
    assert row["redirects"] == [B, "https://c.example/r?q"]
    size = one.stat().st_size
    places = [int(row["source"].rpartition(":")[2]) for row in rows_of(plan([str(one)]).parts)]
    cut = max(places)
    parts = [warc.WarcPart(str(one), 0, cut), warc.WarcPart(str(one), cut, size)]
    assert [row["redirects"] for row in rows_of(parts)] == [[B], ["https://c.example/r?q"]]


def test_archive_in_one_stream_leaves_redirects_open(tmp_path: Path) -> None:
    """It cannot be read from the middle."""
    plain = write_warc(tmp_path / "x.warc", [redirect(A, B), response(B, DENY)], compressed=False)
    row = first(one_stream(tmp_path / "y.warc.gz", plain))
    assert (row["outcome"], row["redirects"]) == ("redirect", [B])


def test_number_of_places_in_memory_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redirects are followed in each stretch of the archive; nothing is lost or read twice."""
    urls = [f"http://{n}.example/robots.txt" for n in range(20)]
    records = [
        each for url in urls for each in (redirect(url, f"{url}?x"), response(f"{url}?x", DENY))
    ]
    path = write_warc(tmp_path / "x.warc.gz", records)
    whole = rows_of(plan([str(path)]).parts)
    assert [row["class"] for row in whole] == ["denies all"] * 20
    monkeypatch.setattr(warc, "MAX_CAPTURES", 7)
    found = rows_of(plan([str(path)]).parts)
    assert [row["url"] for row in found] == urls
    assert {row["outcome"] for row in found} == {"successful", "redirect"}


def test_target_that_is_damaged_is_unreachable(tmp_path: Path) -> None:
    records = [redirect(A, B), response(B, DENY * 50)]
    path = write_warc(tmp_path / "x.warc.gz", records)
    data = path.read_bytes()
    path.write_bytes(data[:-30])
    row = first(path)
    assert (row["outcome"], row["class"]) == ("unreachable", "unreadable")


PAGES = [f"https://{name}/robots.txt" for name in "abcdefg"]
locations = st.sampled_from(
    [*PAGES, "/robots.txt", "/x", "//B/robots.txt", "ftp://a/", "", "https://a:x/"]
)
responses = st.one_of(
    st.tuples(st.sampled_from([301, 302, 304, 399]), locations),
    st.tuples(st.sampled_from([200, 404, 429, 503, 206]), st.none()),
)


@pytest.mark.parametrize("edition", EDITIONS.values(), ids=lambda edition: edition.name)
@given(site=st.dictionaries(st.sampled_from([*PAGES, "https://a/x"]), responses, min_size=1))
def test_chains_end_as_those_of_a_crawl(
    edition: Edition, site: dict[str, tuple[int, str | None]]
) -> None:
    """The crawl is the plugin's own chain of redirects, over the same responses."""
    documents = {url: Document(url, b"", *answer) for url, answer in site.items()}
    captures = Captures()
    for place, url in enumerate(documents):
        captures.add(url, place)
    read = list(documents.values()).__getitem__
    for place, first in enumerate(documents.values()):
        if str(first.url).endswith("/robots.txt"):
            found = captures.follow(first, place, read) if first.target else first
            assert found.outcome(edition) == crawl(str(first.url), documents, edition)
            assert found.url == first.url


def crawl(url: str, documents: dict[str, Document], edition: Edition) -> str:
    """The outcome for a crawl; ``redirect`` for a URL without a document."""
    limits = RedirectLimits(max_redirects=5, recognises_loops=edition.recognises_redirect_loops)
    chain = RedirectChain(Origin.of(url) or pytest.fail(url), limits)
    while True:
        response = documents.get(chain.url.replace("//B/", "//b/"))
        if response is None or response.status is None:
            return "redirect"
        location = [] if response.location is None else [("Location", response.location)]
        if not chain.follow(Exchange(chain.url, response.status, tuple(location))):
            result = FetchResult(status=response.status, redirect_error=chain.error)
            named = {"rules": "successful", "allow": "unavailable"}
            return named.get(meaning(result, edition).value, "unreachable")

"""``bulk.verdicts``: a batch of responses in, a batch of verdicts out."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec import ConfigurationError, RobotsTxt, bulk
from scrapy_robotspec.bulk import answers as bulk_files
from scrapy_robotspec.bulk import batches
from scrapy_robotspec.bulk.questions import Crawlers
from scrapy_robotspec.editions import EDITIONS
from tests.unit.protocol import strategies as structures
from tests.unit.protocol.property import strategies

SHOP = b"""\
Sitemap: https://shop.example/sitemap.xml
User-agent: GPTBot
User-agent: CCBot
Crawl-delay: 7
Disallow: /

User-agent: *
Disallow: /cart/
Allow: /cart/help
Content-Usage: train-ai=n
"""
NAMES = ["a", "b", "a-b-c", "foo", "foo-bar", "FOO", "bar", "qux", "*", "MJ12bot", "360Spider"]
PATHS = ["/a", "/ab", "/a/b?a=b", "/robots.txt", "/%41%2a$", "/é"]

files = st.one_of(structures.bodies, strategies.wild_bodies)


def batch(**columns: Any) -> pa.RecordBatch:
    """A batch of these columns."""
    return pa.RecordBatch.from_pydict(columns)


def rows(body: bytes | None, tokens: str | Sequence[str] = "GPTBot", **values: Any) -> list[Any]:
    """The rows about one response."""
    options = {name: values.pop(name) for name in ("paths", "editions", "lint") if name in values}
    columns = {name: [value] for name, value in values.items()}
    url = columns.pop("url", ["https://shop.example/robots.txt"])
    found = bulk.verdicts(batch(url=url, body=[body], **columns), tokens=tokens, **options)
    answers: list[Any] = found.to_pylist()
    return answers


def test_a_row_names_the_deciding_line_and_all_about_the_file() -> None:
    """Every column, for a crawler that its own group denies everything."""
    (row,) = rows(SHOP, status=200, source="shop.warc:0", paths=["/cart/help"])
    assert row == {
        "token": "GPTBot",
        "product_token": "GPTBot",
        "origin": "https://shop.example",
        "url": "https://shop.example/robots.txt",
        "source": "shop.warc:0",
        "status": 200,
        "outcome": "successful",
        "redirects": None,
        "error": None,
        "bytes": len(SHOP),
        "sha256": sha256(SHOP).hexdigest(),
        "truncated": False,
        "sitemaps": ["https://shop.example/sitemap.xml"],
        "edition": "google-2019",
        "lint_errors": None,
        "lint_warnings": None,
        "lint_advice": None,
        "group": ["GPTBot"],
        "class": "denies all",
        "allowed": False,
        "reason": "rule",
        "line": 5,
        "rule": "Disallow: /",
        "paths": [
            {
                "path": "/cart/help",
                "allowed": False,
                "reason": "rule",
                "line": 5,
                "rule": "Disallow: /",
            }
        ],
        "crawl_delay": 7.0,
        "usage": None,
    }


@pytest.mark.parametrize("name", EDITIONS)
@given(bodies=st.lists(files, max_size=4))
def test_rows_equal_single_verdicts(name: str, bodies: list[bytes]) -> None:
    """Every row says what RobotsTxt says about the same file, crawler and path."""
    urls = ["https://h/robots.txt"] * len(bodies)
    found = bulk.verdicts(
        pa.RecordBatch.from_pydict({"url": urls, "body": pa.array(bodies, pa.binary())}),
        tokens=NAMES,
        paths=PATHS,
        editions=name,
    ).to_pylist()
    asked = [each.asked for each in Crawlers(NAMES, EDITIONS[name]).names]
    expected = [(body, tokens) for body in bodies for tokens in asked]
    assert len(found) == len(expected)
    for row, (body, tokens) in zip(found, expected, strict=True):
        robots = RobotsTxt.parse(body, name)
        for path, answer in [("/", row), *((each["path"], each) for each in row["paths"])]:
            verdict = robots.explain(f"https://h{path}", tokens)
            rule = verdict.rule
            assert (answer["allowed"], answer["reason"]) == (verdict.allowed, verdict.reason)
            assert answer["line"] == (rule.line if rule else None)
            assert answer["rule"] == (rule.text if rule else None)
        assert tuple(row["group"]) == robots.explain("https://h/", tokens).group
        assert row["crawl_delay"] == robots.crawl_delay(tokens)
        assert tuple(row["sitemaps"]) == robots.sitemaps
        usage = robots.usage("https://h/", tokens)
        assert row["usage"] == (sorted(usage.preferences.items()) if usage.applies else None)


#: Where other lines can be: before a group, between its agents, among its rules, in comments.
LINES = [
    *(f"User-agent: {name}" for name in ("a", "b", "foo", "*")),
    *(f"Crawl-delay: {seconds}" for seconds in (3, 5, "x")),
    "Content-Signal: search=yes",
    "Content-Usage: /a train-ai=n",
    "  content-usage : train-ai=y # content-usage: search=n",
    *("Disallow: /b", "Disallow:", "# user-agent: crawl-delay: 7", "Crawl-delay: user-agent", ""),
]


@pytest.mark.parametrize("name", EDITIONS)
@given(
    lines=st.lists(st.sampled_from(LINES), max_size=14), end=st.sampled_from(["\n", "\r\n", "\r"])
)
def test_other_lines_hold_for_the_same_crawlers(name: str, lines: list[str], end: str) -> None:
    """Delays and usage preferences are found without reading the groups one by one."""
    body = end.join(lines).encode()
    robots = RobotsTxt.parse(body, name)
    for row in rows(body, ["a", "b", "foo-bar", "qux"], editions=name):
        usage = robots.usage("https://h/", row["token"])
        assert row["crawl_delay"] == robots.crawl_delay(row["token"])
        assert row["usage"] == (sorted(usage.preferences.items()) if usage.applies else None)


@given(bodies=st.lists(files, min_size=1, max_size=5))
def test_the_same_rows_however_the_input_is_cut(bodies: list[bytes]) -> None:
    """A table, a batch and batches of one row give equal rows: no state passes between them."""
    whole = pa.RecordBatch.from_pydict(
        {"url": [f"https://{n}.example/" for n in range(len(bodies))], "body": bodies}
    )
    ask = partial(bulk.verdicts, tokens=NAMES, paths=PATHS)
    single = [ask(whole.slice(n, 1)) for n in range(len(bodies))]
    together = ask(whole)
    assert pa.Table.from_batches(single).combine_chunks() == pa.Table.from_batches([together])
    assert ask(pa.Table.from_batches([whole])).combine_chunks() == pa.Table.from_batches([together])


def test_the_function_with_its_questions_can_be_pickled() -> None:
    """Engines send it to other machines."""
    ask = partial(bulk.verdicts, tokens=["GPTBot"], paths=["/x"], editions=["google"])
    given_batch = batch(url=["https://a.example/"], body=[SHOP])
    assert pickle.loads(pickle.dumps(ask))(given_batch) == ask(given_batch)


STATUSES = [
    (200, "successful", False, "rule", "denies all"),
    (204, "successful", False, "rule", "denies all"),
    (404, "unavailable", True, "unavailable", "no file"),
    (403, "unavailable", True, "unavailable", "no file"),
    (429, "unavailable", True, "unavailable", "no file"),
    (301, "unavailable", True, "unavailable", "no file"),
    (500, "unreachable", False, "unreachable", "no file"),
    (503, "unreachable", False, "unreachable", "no file"),
    (99, "unreachable", False, "unreachable", "no file"),
    (999, "unreachable", False, "unreachable", "no file"),
    (None, "successful", False, "rule", "denies all"),
]


@pytest.mark.parametrize(("status", "outcome", "allowed", "reason", "kind"), STATUSES)
def test_the_status_decides_what_the_body_means(
    status: int | None, outcome: str, allowed: bool, reason: str, kind: str
) -> None:
    """FET-02 to FET-16, by the policy of the plugin; without a status it is a file."""
    (row,) = rows(SHOP, status=status)
    found = (row["outcome"], row["allowed"], row["reason"], row["class"])
    assert found == (outcome, allowed, reason, kind)


def test_an_edition_may_read_a_status_otherwise() -> None:
    """FET-09: 429 is a server error to Google's crawlers of today."""
    found = rows(b"", status=429, editions=["google-2019", "google"])
    assert [row["outcome"] for row in found] == ["unavailable", "unreachable"]


def test_a_redirect_with_a_target_decides_nothing() -> None:
    """What it leads to is another row, or not in the input."""
    (row,) = rows(b"", status=301, location="https://www.shop.example/robots.txt")
    assert (row["outcome"], row["allowed"], row["class"]) == ("redirect", None, "no file")


def test_an_incomplete_body_is_unreadable_unless_the_status_decides() -> None:
    """FET-14, FET-08."""
    (row,) = rows(SHOP, status=200, error="the record is cut")
    assert (row["outcome"], row["class"], row["error"]) == (
        "unreachable",
        "unreadable",
        "the record is cut",
    )
    (row,) = rows(SHOP, status=404, error="the record is cut")
    assert (row["outcome"], row["class"]) == ("unavailable", "no file")


def test_no_status_and_no_body_is_no_response() -> None:
    """FET-14."""
    (row,) = rows(None, status=None)
    assert (row["outcome"], row["allowed"], row["bytes"]) == ("unreachable", False, None)
    (row,) = rows(None, status=200)
    assert (row["outcome"], row["allowed"], row["class"]) == ("successful", True, "allows all")


def test_robots_txt_itself_is_allowed_whatever_the_response() -> None:
    """PRE-04."""
    for status in (200, 503):
        (row,) = rows(SHOP, paths=["/robots.txt"], status=status)
        assert row["paths"][0]["allowed"] is True


@pytest.mark.parametrize(
    "body",
    [
        b"<!doctype html><title>Not found</title>",
        b'{"error": 404}',
        b"\x1f\x8b\x08\0\0\0\0\0\0\3" + bytes(range(256)),
        "User-agent: *\nDisallow: /".encode("utf-16"),
        b"nothing here",
    ],
)
def test_another_kind_of_file_is_unreadable_and_allows_everything(body: bytes) -> None:
    """As the specifications have it, and still not an answer of the site."""
    (row,) = rows(body)
    assert (row["class"], row["allowed"], row["reason"]) == ("unreadable", True, "no_group")


def test_findings_are_counted_on_request() -> None:
    """They are those of the linter."""
    body = b"User-agent: *\nDisalow: /x\nDisallow: fish\nDisallow:/y\n<p>\n"
    (row,) = rows(body, lint=True)
    findings = [finding.severity for finding in RobotsTxt.parse(body).lint()]
    assert row["lint_errors"] == findings.count("error") > 0
    assert row["lint_warnings"] == findings.count("warning")
    assert row["lint_advice"] == findings.count("advice") > 0


TEXT_TYPES = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.dictionary(pa.int8(), pa.string()),
]
BODY_TYPES = [*TEXT_TYPES, pa.binary(), pa.large_binary(), pa.binary_view()]


@pytest.mark.parametrize("kind", BODY_TYPES, ids=str)
def test_every_arrow_type_of_text_and_bytes_is_read(kind: pa.DataType) -> None:
    """Engines choose different ones for the same column."""
    given_batch = pa.RecordBatch.from_arrays(
        [
            pa.array(["https://a.example/", None]),
            pa.array([SHOP.decode() if kind in TEXT_TYPES else SHOP, None]).cast(kind)
            if not pa.types.is_dictionary(kind)
            else pa.array([SHOP.decode(), None]).dictionary_encode(),
        ],
        names=["url", "body"],
    )
    found = bulk.verdicts(given_batch, tokens="GPTBot").to_pylist()
    assert [row["origin"] for row in found] == ["https://a.example", None]
    assert [row["class"] for row in found] == ["denies all", "no file"]


WRONG = [
    ({"body": [b""]}, "column 'url' is missing; the columns are: body"),
    ({"url": ["x"]}, "column 'body' is missing; the columns are: url"),
    ({"url": [1], "body": [b""]}, "url, location, error and source must be text, not 1"),
    ({"url": ["x"], "body": [1.5]}, "body must be bytes or text, not 1.5"),
    ({"url": ["x"], "body": [b""], "status": ["ok"]}, "status must be an HTTP status, not 'ok'"),
    ({"url": ["x"], "body": [b""], "status": [-5]}, "status must be an HTTP status, not -5"),
    ({"url": ["x"], "body": [b""], "status": [1 << 40]}, "status .* not 1099511627776"),
    ({"url": ["x"], "body": [b""], "status": [True]}, "status .* not True"),
]


@pytest.mark.parametrize(("columns", "message"), WRONG)
def test_wrong_columns_are_named(columns: dict[str, Any], message: str) -> None:
    """A clear error instead of wrong rows."""
    with pytest.raises(ConfigurationError, match=message):
        bulk.verdicts(batch(**columns), tokens="x")


WRONG_QUESTIONS: list[tuple[dict[str, Any], str]] = [
    ({"tokens": []}, "tokens is empty"),
    ({"tokens": ["a", ""]}, "tokens contains ''"),
    ({"tokens": [b"a"]}, "tokens contains b'a'"),
    ({"tokens": "a", "paths": ["x"]}, "paths contains 'x': a path begins with a slash"),
    ({"tokens": "a", "editions": "none"}, "none"),
    ({"tokens": "a", "editions": []}, "editions is empty"),
    ({"tokens": "a", "columns": ["verdict"]}, "columns contains 'verdict': the columns are token,"),
]


@pytest.mark.parametrize(("questions", "message"), WRONG_QUESTIONS)
def test_wrong_questions_are_named(questions: dict[str, Any], message: str) -> None:
    """A clear error instead of no rows."""
    with pytest.raises(ConfigurationError, match=message):
        bulk.verdicts(batch(url=["x"], body=[b""]), **questions)


def test_single_path_may_be_given_as_text() -> None:
    """As a single token and a single edition."""
    files = pa.table({"url": ["https://a.example/"], "body": [b"User-agent: *\nDisallow: /a"]})
    (row,) = bulk.verdicts(files, tokens="GPTBot", paths="/a", editions="rfc9309").to_pylist()
    assert [(each["path"], each["allowed"]) for each in row["paths"]] == [("/a", False)]


@pytest.mark.parametrize("batch", [{"url": [""], "body": [b""]}, [], None])
def test_batch_of_another_class_is_named_with_the_remedy(batch: Any) -> None:
    """Engines can pass their own frames."""
    kind = type(batch).__name__
    with pytest.raises(
        TypeError, match=rf"pyarrow\.Table or RecordBatch, not {kind}: .*from_pandas"
    ):
        bulk.verdicts(batch, tokens="GPTBot")


@pytest.mark.parametrize("limit", [1, 700, 5000])
def test_rows_of_long_lists_come_in_several_batches(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column holds 2 GiB of text at most, and each row repeats the lists of its file."""
    bodies = [b"", SHOP, b"Sitemap: https://a.example/" + b"s" * 300 + b"\nDisallow: /", SHOP]
    urls = [f"https://{number}.example/" for number in range(len(bodies))]
    given_batch = batch(url=urls, body=bodies)
    ask = partial(bulk.verdicts, tokens=NAMES, paths=PATHS)
    whole = ask(given_batch)
    monkeypatch.setattr(batches, "_BYTES", limit)
    divided = ask(pa.Table.from_batches([given_batch]))
    sizes = [len(some) for some in divided.to_batches()]
    assert len(sizes) > 1
    assert 0 not in sizes
    assert divided.combine_chunks().to_batches() == [whole]
    assert ask(given_batch) == whole


def test_an_index_page_opens_the_root() -> None:
    """PRE-05: in editions that have it."""
    (row,) = rows(b"User-agent: *\nDisallow: /\nAllow: /index.html\n", editions="google")
    assert (row["allowed"], row["line"], row["class"]) == (True, 3, "some")


def test_text_of_a_deciding_line_has_a_limit() -> None:
    """Each row and path repeats it: a comment of 400 KB would fill the memory."""
    line = "Disallow: / # " + "long " * 80_000
    (row,) = rows(f"User-agent: *\n{line}".encode(), paths=["/a"])
    assert row["rule"] == row["paths"][0]["rule"] == line[: bulk_files.MAX_TEXT]


def test_columns_are_those_that_are_asked_for() -> None:
    """In the order of the schema, with the values that they have among all columns."""
    given_batch = batch(url=["https://a.example/"], body=[SHOP], status=[200])
    ask = partial(bulk.verdicts, given_batch, tokens=["GPTBot", "x"], paths="/cart/")
    whole = ask()
    for name in bulk.SCHEMA.names:
        assert ask(columns=name) == whole.select([name])
    names = ["paths", "allowed", "url", "token"]
    assert ask(columns=names) == whole.select([n for n in bulk.SCHEMA.names if n in names])


DOTS = ["/x/../cart/1", "/x/%2e%2E/cart/1", "/./cart/", "/cart/../x", "/x/../robots.txt"]


@pytest.mark.parametrize("name", EDITIONS)
def test_paths_with_dots_are_judged_as_servers_read_them_too(name: str) -> None:
    """PAT-15: as single verdicts of pages."""
    body = SHOP + b"Disallow: /robots.txt\n"
    (row,) = rows(body, "otherbot", paths=DOTS, editions=name)
    robots = RobotsTxt.parse(body, name)
    for answer in row["paths"]:
        verdict = robots.explain_served(f"https://h{answer['path']}", "otherbot")
        line = verdict.rule.line if verdict.rule else None
        assert (answer["allowed"], answer["line"]) == (verdict.allowed, line)
    assert [each["allowed"] for each in row["paths"]].count(False) >= 4


def test_error_in_one_file_is_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are answered."""

    def fail(body: bytes) -> None:
        if body == b"Sitemap: fail":
            raise OverflowError("too large")

    monkeypatch.setattr(bulk_files, "foreign_kind", fail)
    found = bulk.verdicts(
        batch(url=["https://a.example/", "https://b.example/"], body=[b"Sitemap: fail", SHOP]),
        tokens=["GPTBot", "x"],
    ).to_pylist()
    assert [(row["class"], row["outcome"], row["error"]) for row in found] == [
        *[("unreadable", "unreachable", "cannot be read: OverflowError: too large")] * 2,
        ("denies all", "successful", None),
        ("some", "successful", None),
    ]
    assert found[0]["origin"] == "https://a.example"

"""What a response means, and the values of a table that it is made of."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from scrapy_robotspec import ConfigurationError, bulk
from scrapy_robotspec.bulk.documents import REVISIT, Document
from tests.unit.bulk.asking import SHOP, batch, rows

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
    ({"url": [1], "body": [b""]}, "url must be text, not 1"),
    ({"url": ["x"], "body": [[b""]]}, "column 'body' must have text or bytes, not list<"),
    ({"url": [{"a": "x"}], "body": [b""]}, "column 'url' must have text or bytes, not struct<"),
    ({"url": ["x"], "body": [1.5]}, "body must be bytes or text, not 1.5"),
    ({"url": ["x"], "body": [b""], "status": ["ok"]}, "status must be an HTTP status, not 'ok'"),
    ({"url": ["x"], "body": [b""], "status": [-5]}, "status must be an HTTP status, not -5"),
    ({"url": ["x"], "body": [b""], "status": [1 << 40]}, "status .* not 1099511627776"),
    ({"url": ["x"], "body": [b""], "status": [True]}, "status .* not True"),
    ({"url": ["x"], "body": [b""], "status": [False]}, "status .* not False"),
]


@pytest.mark.parametrize(("columns", "message"), WRONG)
def test_wrong_columns_are_named(columns: dict[str, Any], message: str) -> None:
    """A clear error instead of wrong rows."""
    with pytest.raises(ConfigurationError, match=message):
        bulk.verdicts(batch(**columns), tokens="x")


@pytest.mark.parametrize(
    "body",
    [
        "User-agent: *\\x0ADisallow: /\\x0A",  # DuckDB's BLOB
        "User-agent: *\\x0D\\x0ADisallow: /",
        "b'User-agent: *\\nDisallow: /\\n'",  # bytes as pandas writes them
        "User-agent: *\\r\\nDisallow: /",
    ],
)
def test_a_body_whose_line_ends_are_written_out_is_a_problem(body: str) -> None:
    """It would be one line, which closes nothing."""
    with pytest.raises(ConfigurationError, match="row 1: body has line ends written out as text"):
        rows(body.encode())


@pytest.mark.parametrize(
    "body",
    [
        "User-agent: *\nDisallow: /a\\n",  # it has real ones
        "Disallow: /a\\new",
        "Sitemap: https://a.example/\\x0A/b",
        "",
    ],
)
def test_other_backslashes_are_part_of_a_path(body: str) -> None:
    assert len(rows(body.encode())) == 1


def test_rows_that_cannot_be_read_end_no_job() -> None:
    """They are reported with their place; the others are answered."""
    batch = pa.RecordBatch.from_pydict(
        {
            "url": [f"https://h{n}.example/robots.txt" for n in range(4)],
            "body": [b"", SHOP, b"", b""],
            "status": [200, -1, 200, 404],
        }
    )
    problems: list[str] = []
    found = bulk.verdicts(batch, tokens="a", columns=["origin"], report=problems.append)
    assert found.column("origin").to_pylist() == [f"https://h{n}.example" for n in (0, 2, 3)]
    assert problems == ["row 2: status must be an HTTP status, not -1, skipped"]
    with pytest.raises(ConfigurationError, match="row 2: status must be"):
        bulk.verdicts(batch, tokens="a")


@pytest.mark.parametrize("status", [200.0, "200", "200.0", "200.00"])
def test_a_status_may_be_a_float_of_a_table_with_missing_values(status: object) -> None:
    assert Document.of(url="", body=b"", status=status).status == 200


def test_a_body_in_another_record_decides_nothing() -> None:
    """Unless the status does."""
    (row,) = rows(None, status=200, error=REVISIT)
    assert (row["outcome"], row["allowed"], row["class"]) == ("revisit", None, "unreadable")
    (row,) = rows(None, status=404, error=REVISIT)
    assert (row["outcome"], row["allowed"]) == ("unavailable", True)

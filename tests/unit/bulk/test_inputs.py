"""Folders, JSON lines, Parquet and CSV files as inputs, and files that are not."""

from __future__ import annotations

import errno
import gzip
import json
import os
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scrapy_robotspec import ConfigurationError
from scrapy_robotspec.bulk import inputs
from scrapy_robotspec.bulk.documents import MAX_BODY, Document
from scrapy_robotspec.bulk.inputs import find_inputs
from tests.support.warc import response, write_warc

BODY = b"User-agent: *\nDisallow: /private/\n"


def read(*paths: Path) -> tuple[list[Document], list[str]]:
    """The documents of some inputs, and the messages about what cannot be read."""
    problems: list[str] = []
    found, _ = find_inputs([str(path) for path in paths])
    return [each for some in found for each in some.read(problems.append)], problems


def test_a_folder_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    """Subfolders too; hidden files and other endings are left out and counted."""
    for name in (
        "b.example.txt",
        "a.example.TXT",
        "c/ROBOTS.TXT",
        ".hidden.txt",
        "README.md",
        "more.csv",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(BODY)
    documents, _ = read(tmp_path)
    assert [each.url for each in documents] == [
        "https://a.example/robots.txt",
        "https://b.example/robots.txt",
        None,
    ]
    assert {each.status for each in documents} == {None}
    assert find_inputs([str(tmp_path)])[1] == 3


def test_each_archive_and_the_texts_of_a_folder_have_an_output(tmp_path: Path) -> None:
    """Named as they are; inputs that would have the same one are refused."""
    for name in ("a/1.warc", "a/b/1.warc", "a/b/c.example.txt", "a/d.example.txt", "e/1.warc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    found, _ = find_inputs([str(tmp_path / "a"), str(tmp_path / "a/1.warc")])
    assert {each.name: len(each.files) for each in found} == {"1.warc": 1, "b/1.warc": 1, "a": 2}
    with pytest.raises(ConfigurationError, match=r"a/1\.warc and .*e/1\.warc .* in two runs"):
        find_inputs([str(tmp_path / "a/1.warc"), str(tmp_path / "e/1.warc")])


def test_a_folder_may_contain_archives(tmp_path: Path) -> None:
    """Everything that can be an input by itself."""
    write_warc(tmp_path / "a.warc.gz", [response("https://a.example/robots.txt", BODY)])
    (tmp_path / "b.jsonl").write_text('{"url": "https://b.example/", "body": ""}\n')
    pq.write_table(pa.table({"url": ["https://c.example/"], "body": [""]}), tmp_path / "c.parquet")
    (tmp_path / "d.example.txt").write_bytes(BODY)
    (tmp_path / "e.warc.gz").write_bytes(b"")
    documents, problems = read(tmp_path)
    assert [each.origin for each in documents] == [f"https://{name}.example" for name in "abcd"]
    assert problems == []


def test_csv_is_read(tmp_path: Path) -> None:
    """Quoted line ends and bytes of other encodings; other columns are ignored."""
    text = (
        b"status,more,url,body\r\n"
        b'200,x,https://a.example/,"User-agent: *\nDisallow: /\xff"\r\n'
        b",x,https://b.example/,\r\n"
        b'maybe,x,https://c.example/,""\r\n'
    )
    (tmp_path / "a.csv").write_bytes(text)
    documents, problems = read(tmp_path / "a.csv")
    assert [each._replace(source=None) for each in documents] == [
        Document("https://a.example/", b"User-agent: *\nDisallow: /\xff", 200),
        Document("https://b.example/", None),
    ]
    assert problems == [f"{tmp_path}/a.csv:3: status must be an HTTP status, not 'maybe', skipped"]


def test_a_file_of_10_mb_is_read_to_the_limit(tmp_path: Path) -> None:
    """And one beyond 16 MB only so far."""
    (tmp_path / "a.example.txt").write_bytes(b"x" * 10_000_000)
    (tmp_path / "b.example.txt").write_bytes(b"x" * 20_000_000)
    documents, _ = read(tmp_path)
    assert [len(each.body or b"") for each in documents] == [10_000_000, 16 * 1024 * 1024]


LINES = [
    {"url": "https://a.example/", "body": "User-agent: *\n"},
    {"url": "https://b.example/", "body": "é", "status": 200, "more": [1]},
    {"url": "https://c.example/", "body": None, "status": 301, "location": "https://d.example/"},
    {"url": None, "body": "", "error": "cut"},
]


def test_json_lines_are_read(tmp_path: Path) -> None:
    """Text is UTF-8; other keys are ignored; compressed or not."""
    text = "\n".join(json.dumps(line) for line in LINES) + "\n\n"
    (tmp_path / "a.jsonl").write_text(text)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    documents, problems = read(tmp_path / "a.jsonl")
    assert [each._replace(source=None) for each in documents] == [
        Document("https://a.example/", b"User-agent: *\n"),
        Document("https://b.example/", "é".encode(), 200),
        Document("https://c.example/", None, 301, "https://d.example/"),
        Document(None, b"", error="cut"),
    ]
    assert problems == []
    again, problems = read(tmp_path / "b.jsonl.gz")
    assert [each._replace(source=None) for each in again] == [
        each._replace(source=None) for each in documents
    ]
    assert problems == []


def test_text_that_is_not_unicode_is_read(tmp_path: Path) -> None:
    """JSON can contain lone surrogates, files other encodings."""
    (tmp_path / "a.jsonl").write_bytes(
        b'{"url": "https://\\ud800.example/", "body": "\\udcff"}\n{"url": "\xff", "body": ""}\n'
    )
    documents, problems = read(tmp_path / "a.jsonl")
    assert [each.body for each in documents] == [b"\xed\xb3\xbf"]
    assert len(problems) == 1


def table(path: Path, rows: int = 1000) -> Path:
    """A Parquet file of several row groups."""
    columns = {
        "url": [f"https://{n}.example/" for n in range(rows)],
        "body": [b"User-agent: *\nDisallow: /%d" % n for n in range(rows)],
        "status": [200 if n % 7 else 404 for n in range(rows)],
        "ignored": list(range(rows)),
    }
    pq.write_table(pa.table(columns), path, row_group_size=300)
    return path


def test_damaged_table_is_read_up_to_the_damage(tmp_path: Path) -> None:
    """The rest is named."""
    path = table(tmp_path / "a.parquet")
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(data[:middle] + b"\x99" * 2000 + data[middle + 2000 :])
    documents, problems = read(path)
    assert len(documents) < 1000
    assert len(problems) == 1
    place = f"{path}: cannot be read further after row {len(documents)}: "
    assert problems[0].startswith(place.replace("after row 0: ", ""))


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.int16(), pa.uint64()])
def test_statuses_may_be_any_numbers(tmp_path: Path, kind: pa.DataType) -> None:
    """A table with missing integers often contains floats."""
    statuses = pa.array([200, None, 404], kind)
    rows = {"url": ["https://a.example/"] * 3, "body": [BODY] * 3, "status": statuses}
    pq.write_table(pa.table(rows), tmp_path / "a.parquet")
    documents, problems = read(tmp_path / "a.parquet")
    assert [each.status for each in documents] == [200, None, 404]
    assert all(type(each.status) in (int, type(None)) for each in documents)
    assert problems == []


def test_line_of_json_that_is_too_long_costs_itself_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory is bounded, whatever a small compressed file unpacks to."""
    monkeypatch.setattr(inputs, "_MAX_LINE", 200)
    row = {"url": "https://a.example/", "body": ""}
    lines = [json.dumps({**row, "error": error}) for error in ("", "x" * 1000, "y")]
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    documents, problems = read(tmp_path / "a.jsonl.gz")
    assert [each.error for each in documents] == ["", "y"]
    assert problems == [f"{tmp_path}/a.jsonl.gz:2: not an object with url and body, skipped"]


@pytest.mark.parametrize(
    "name",
    ["a.parquet", "a.csv", "case.parquet", "list.parquet", "empty.parquet", "torn.jsonl.gz"],
)
def test_file_that_is_not_a_table_of_responses_is_named(tmp_path: Path, name: str) -> None:
    """The other inputs of a run are read."""
    (tmp_path / "b.jsonl").write_text(json.dumps(LINES[0]))
    (tmp_path / "a.csv").write_text("url,more\nx,y\n")
    pq.write_table(pa.table({"body": [b""]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"url": ["x"], "Body": [b""]}), tmp_path / "case.parquet")
    pq.write_table(pa.table({"url": ["x"], "body": [[1, 2]]}), tmp_path / "list.parquet")
    (tmp_path / "empty.parquet").touch()
    (tmp_path / "torn.jsonl.gz").write_bytes(b"\x1f\x8b\x08\0")
    documents, problems = read(tmp_path / name, tmp_path / "b.jsonl")
    assert [each.url for each in documents] == ["https://a.example/"]
    (problem,) = problems
    assert problem.startswith(f"{tmp_path}/{name}: cannot be read further: ")
    reasons = {
        "a.parquet": "'url' is missing; the columns are: body",
        "a.csv": "'body' is missing",
        "case.parquet": "'body' is missing; the columns are: url, Body",
        "list.parquet": "'body' must have text or bytes, not list<",
    }
    assert reasons.get(name, "") in problem


@pytest.mark.parametrize(
    ("name", "message"),
    [
        *((name, f"cannot read .*{name}': give a WARC file") for name in ("a.pdf", "a.gz")),
        *((name, f"cannot read .*{name}': no such file") for name in ("missing.warc", "-")),
        ("empty", r"no file in the folder .* ends in \.txt"),
    ],
)
def test_what_cannot_be_an_input_is_named_with_the_remedy(
    tmp_path: Path, name: str, message: str
) -> None:
    """Before the work begins."""
    (tmp_path / "empty").mkdir()
    for each in ("a.pdf", "a.gz"):
        (tmp_path / each).write_bytes(b"")
    with pytest.raises(ConfigurationError, match=message):
        find_inputs([str(tmp_path / name)])


def test_folder_that_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the work begins: its files would be missing without a word."""
    (tmp_path / "a.example.txt").write_bytes(BODY)
    closed = tmp_path / "closed"
    closed.mkdir()
    list_folder = os.scandir

    def deny(path: str) -> object:
        if str(path) == str(closed):  # even root can read a folder without permissions
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return list_folder(path)

    monkeypatch.setattr(os, "scandir", deny)
    with pytest.raises(ConfigurationError, match=f"cannot read {closed}: Permission denied"):
        find_inputs([str(tmp_path)])


def test_links_in_a_folder_are_ignored(tmp_path: Path) -> None:
    """The writer of a folder chooses no other file of this machine; all links are counted."""
    (tmp_path / "a.example.txt").write_bytes(BODY)
    (tmp_path / "secret").write_bytes(BODY)
    (tmp_path / "d.example.txt").symlink_to("secret")
    for name, target in (("circle", "."), ("b.example.txt", "missing"), ("c.txt", "c.txt")):
        (tmp_path / name).symlink_to(target)
    (found,), ignored = find_inputs([str(tmp_path)])
    assert found.files == (str(tmp_path / "a.example.txt"),)
    assert ignored == 5


def test_a_file_that_disappears_is_named(tmp_path: Path) -> None:
    """The others are read."""
    for name in "ab":
        (tmp_path / f"{name}.example.txt").write_bytes(BODY)
    (found,), _ = find_inputs([str(tmp_path)])
    (tmp_path / "a.example.txt").unlink()
    problems: list[str] = []
    assert [each.origin for each in found.read(problems.append)] == ["https://b.example"]
    (problem,) = problems
    assert problem.startswith(f"{tmp_path}/a.example.txt: cannot be read further: ")


@pytest.mark.parametrize("kind", [pa.binary(), pa.string(), pa.large_string()])
def test_a_small_file_with_huge_bodies_takes_little_memory(
    tmp_path: Path, kind: pa.DataType
) -> None:
    """Rows are read by their size, and a body is cut before it becomes an object."""
    path = tmp_path / "bomb.parquet"
    size = 3 * MAX_BODY
    bodies = pa.array([b"a" * size, b"b" * size, b"a" * size] * 4, pa.binary()).cast(kind)
    names = [f"https://h{n}.example/" for n in range(len(bodies))]
    pq.write_table(pa.table({"url": names, "body": bodies}), path, compression="zstd")
    del bodies
    assert path.stat().st_size < 200_000
    tracemalloc.start()
    try:
        sizes = [len(each.body or b"") for each in inputs.documents(str(path), pytest.fail)]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sizes == [MAX_BODY] * 12
    assert peak < 4 * MAX_BODY

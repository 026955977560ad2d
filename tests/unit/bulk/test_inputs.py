"""Folders, JSON lines and Parquet files as inputs, and files that are not."""

from __future__ import annotations

import errno
import gzip
import json
import os
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scrapy_robotspec import ConfigurationError
from scrapy_robotspec.bulk.documents import Document
from scrapy_robotspec.bulk.inputs.folders import url_from_name
from scrapy_robotspec.bulk.inputs.json_lines import JsonPart
from scrapy_robotspec.bulk.inputs.parts import Problem
from scrapy_robotspec.bulk.inputs.plan import plan
from scrapy_robotspec.bulk.inputs.tables import TablePart
from tests.support.warc import response, write_warc

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scrapy_robotspec.bulk.inputs.parts import Part

BODY = b"User-agent: *\nDisallow: /private/\n"


def read(*paths: Path) -> tuple[list[Document], list[str]]:
    """The documents of some inputs, and the messages about what cannot be read."""
    return read_parts(*plan([str(path) for path in paths]).parts)


def read_parts(*parts: Part) -> tuple[list[Document], list[str]]:
    """The same for parts."""
    found = [each for part in parts for each in part.read()]
    messages = [each.message for each in found if isinstance(each, Problem)]
    return [each for each in found if isinstance(each, Document)], messages


NAMES = [
    ("example.com.txt", "https://example.com/robots.txt"),
    ("example.com.robots.txt", "https://example.com/robots.txt"),
    ("WWW.Example.com_robots.txt", "https://www.example.com/robots.txt"),
    ("a/example.co.uk/robots.txt", "https://example.co.uk/robots.txt"),
    ("xn--mller-kva.eu.robots", "https://xn--mller-kva.eu/robots.txt"),
    ("example.com", "https://example.com/robots.txt"),
    ("2026_1.txt", None),
    ("robots.txt", None),
    ("v1.2.txt", None),
    ("a b.com.txt", None),
    ("folder/robots.txt", None),
]


@pytest.mark.parametrize(("name", "url"), NAMES)
def test_a_file_named_for_its_host_has_an_origin(name: str, url: str | None) -> None:
    """Other names are no hosts, and the origin stays unknown."""
    assert url_from_name(name) == url


def test_a_folder_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    """Subfolders too; hidden files and other endings are left out and counted, indexes used."""
    for name in (
        "b.example.txt",
        "a.example.txt",
        "c/robots.txt",
        ".hidden.txt",
        "README.md",
        "index.csv",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(BODY)
    planned = plan([str(tmp_path)])
    documents, _ = read_parts(*planned.parts)
    assert [each.url for each in documents] == [
        "https://a.example/robots.txt",
        "https://b.example/robots.txt",
        None,
    ]
    assert {each.status for each in documents} == {None}
    assert planned.ignored == 2


@pytest.mark.parametrize("above", [True, False])
def test_an_index_names_the_sites_of_a_folder(tmp_path: Path, above: bool) -> None:
    """The index is beside the files or above their folder; a broken one is ignored."""
    folder = tmp_path / "robots"
    folder.mkdir()
    for name in ("1.txt", "2.txt", "3.txt"):
        (folder / name).write_bytes(BODY)
    index = (tmp_path if above else folder) / "index.csv"
    index.write_text("file,site,bytes\n1.txt,example.com,9\nx/2.txt,http://b.example:81/,9\n")
    documents, _ = read(folder)
    expected = ["https://example.com/robots.txt", "http://b.example:81/", None]
    assert [each.url for each in documents] == expected
    index.write_bytes(b"\0\xff,\n\0")
    assert [each.url for each in read(folder)[0]] == [None, None, None]


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


def test_each_line_is_read_once_however_the_file_is_cut(tmp_path: Path) -> None:
    """At every offset."""
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in LINES), "utf-8")
    size = path.stat().st_size
    whole, _ = read(path)
    for cut in range(size + 1):
        parts = JsonPart(str(path), 0, cut), JsonPart(str(path), cut, size)
        assert read_parts(*parts) == (whole, [])


WRONG_LINES = [
    ("{", "not a line of JSON in UTF-8"),
    ("[1]", "not an object with url and body"),
    ('{"url": "https://a.example/"}', "not an object with url and body"),
    ('{"url": 1, "body": ""}', "url is not text"),
    ('{"url": "", "body": {}}', "body is not text"),
    ('{"url": "", "body": "", "status": "200"}', "status is not an integer"),
    ('{"url": "", "body": "", "status": true}', "status is not an integer"),
    ('{"url": "", "body": "", "status": 99999999999}', "status is 99999999999"),
    ("[" * 100_000, "not a line of JSON in UTF-8"),
]


@pytest.mark.parametrize(("line", "message"), WRONG_LINES, ids=range(len(WRONG_LINES)))
def test_a_wrong_line_is_named_and_the_others_are_read(
    tmp_path: Path, line: str, message: str
) -> None:
    """With its place in the file."""
    good = json.dumps(LINES[0])
    (tmp_path / "a.jsonl").write_text(f"{good}\n{line}\n{good}\n")
    documents, problems = read(tmp_path / "a.jsonl")
    assert len(documents) == 2
    assert problems == [f"{tmp_path}/a.jsonl:byte {len(good) + 1}: {message}, skipped"]


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


def test_each_row_is_read_once_however_the_file_is_cut(tmp_path: Path) -> None:
    """Within row groups and at their ends."""
    path = table(tmp_path / "a.parquet")
    whole, _ = read(path)
    assert [each.url for each in whole] == [f"https://{n}.example/" for n in range(1000)]
    for cut in (1, 255, 256, 257, 299, 300, 301, 600, 999):
        parts = TablePart(str(path), 0, cut), TablePart(str(path), cut, 1000)
        assert read_parts(*parts) == (whole, [])


def test_part_decodes_no_rows_behind_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only those before it in its row group, which cannot be left out."""
    path = table(tmp_path / "a.parquet", 5000)
    pq.write_table(pq.read_table(path), path)  # one row group
    decoded: list[int] = []
    iter_batches = pq.ParquetFile.iter_batches

    def count(*arguments: object, **options: object) -> Iterator[pa.RecordBatch]:
        for batch in iter_batches(*arguments, **options):
            decoded.append(len(batch))
            yield batch

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", count)
    documents, _ = read_parts(TablePart(str(path), 700, 800))
    assert [each.url for each in documents] == [f"https://{n}.example/" for n in range(700, 800)]
    assert sum(decoded) == 5 * 256


def test_large_row_group_is_cut_into_few_parts(tmp_path: Path) -> None:
    """Each of them decodes what is before it, and that must not add up."""
    rows = 300_000
    columns = {"url": ["https://a.example/"] * rows, "body": [b""] * rows}
    for name, size in (("one.parquet", rows), ("many.parquet", 1000)):
        pq.write_table(pa.table(columns), tmp_path / name, row_group_size=size)
    one, many = (plan([str(tmp_path / f"{name}.parquet")]).parts for name in ("one", "many"))
    assert (len(one), len(many)) == (16, 37)
    assert sum(part.size for part in one) == rows


def test_wrong_value_is_named_with_its_row_and_the_others_are_read(tmp_path: Path) -> None:
    """As a wrong line of JSON is."""
    path = table(tmp_path / "a.parquet")
    columns = pq.read_table(path).to_pydict()
    columns["status"][450] = -1
    pq.write_table(pa.table(columns), path)
    documents, problems = read(path)
    assert len(documents) == 999
    assert [each.source for each in documents[449:451]] == [f"{path}:450", f"{path}:452"]
    assert problems == [
        f"{path}:451: the column 'status' contains -1: give an HTTP status, skipped"
    ]


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


def test_float_that_is_not_a_status_is_named(tmp_path: Path) -> None:
    statuses = [float("nan"), 404.5, float("inf")]
    rows = {"url": ["https://a.example/"] * 3, "body": [BODY] * 3, "status": statuses}
    pq.write_table(pa.table(rows), tmp_path / "a.parquet")
    documents, problems = read(tmp_path / "a.parquet")
    assert [each.status for each in documents] == [None]
    assert len(problems) == 2


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"url": ["x"]}, "column 'body' .* is missing"),
        ({"url": [1], "body": [b""]}, "column 'url' must contain text"),
        ({"url": ["x"], "body": [b""], "status": ["ok"]}, "'status' must contain an integer"),
    ],
)
def test_wrong_columns_are_named_before_the_work_begins(
    tmp_path: Path, columns: dict[str, list[object]], message: str
) -> None:
    """With the file."""
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    with pytest.raises(ConfigurationError, match=message) as raised:
        plan([str(tmp_path / "a.parquet")])
    assert str(tmp_path / "a.parquet") in str(raised.value)


FOREIGN = {
    "a.pdf": b"%PDF-1.7",
    "a.csv": b"url,body\n",
    "a.gz": gzip.compress(b"hello"),
    "a.parquet": b"PAR1 is not enough",
    "torn.gz": b"\x1f\x8b\x08\0",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_another_kind_of_file_is_named_with_the_kinds_that_can_be_read(
    tmp_path: Path, name: str
) -> None:
    """Before the work begins."""
    (tmp_path / name).write_bytes(FOREIGN[name])
    with pytest.raises(ConfigurationError, match=f"{name}.*(give a WARC file|not a Parquet file)"):
        plan([str(tmp_path / name)])


def test_missing_files_and_empty_folders_are_named(tmp_path: Path) -> None:
    """Before the work begins."""
    with pytest.raises(ConfigurationError, match=r"cannot read .*missing.*No such file"):
        plan([str(tmp_path / "missing.warc")])
    with pytest.raises(ConfigurationError, match=r"no file in the folder .* ends in \.txt"):
        plan([str(tmp_path)])


@pytest.mark.parametrize(
    ("name", "content", "remedy"),
    [("a.warc.zst", b"\x28\xb5\x2f\xfd rest", "zstd -d"), ("-", None, "save it to a file")],
)
def test_remedy_is_named_for_what_cannot_be_an_input(
    tmp_path: Path, name: str, content: bytes | None, remedy: str
) -> None:
    path = name
    if content is not None:
        path = str(tmp_path / name)
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigurationError, match=remedy):
        plan([path])


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
        plan([str(tmp_path)])


@pytest.mark.parametrize("disappears", [True, False])
def test_archive_that_fails_while_it_is_cut_into_parts_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disappears: bool
) -> None:
    """It is deleted meanwhile, or its disk fails."""
    path = write_warc(tmp_path / "a.warc", [], compressed=False)

    def fail(*_: object) -> None:
        if disappears:
            path.unlink()
            path.open()
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("scrapy_robotspec.bulk.inputs.warc.plain_records", fail)
    with pytest.raises(ConfigurationError, match=r"cannot read .*a\.warc: (No such|Input)"):
        plan([str(path)])


def test_links_in_circles_and_to_nowhere_are_ignored(tmp_path: Path) -> None:
    """Links to folders, too; all of them are counted."""
    (tmp_path / "a.example.txt").write_bytes(BODY)
    for name, target in (("circle", "."), ("b.example.txt", "missing"), ("c.txt", "c.txt")):
        (tmp_path / name).symlink_to(target)
    planned = plan([str(tmp_path)])
    assert [file.path for file in planned.files] == [str(tmp_path / "a.example.txt")]
    assert planned.ignored == 3


def test_a_file_that_disappears_is_named(tmp_path: Path) -> None:
    """The others are read."""
    for name in "ab":
        (tmp_path / f"{name}.example.txt").write_bytes(BODY)
    planned = plan([str(tmp_path)])
    (tmp_path / "a.example.txt").unlink()
    documents, problems = read_parts(*planned.parts)
    assert [each.origin for each in documents] == ["https://b.example"]
    assert problems == [f"cannot read {tmp_path}/a.example.txt: No such file or directory"]

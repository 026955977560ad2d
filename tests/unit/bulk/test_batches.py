"""``bulk.verdicts``: the same rows whatever the batches."""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec import bulk
from scrapy_robotspec.bulk import batches
from scrapy_robotspec.bulk.documents import Document
from scrapy_robotspec.bulk.questions import Questions
from tests.unit.bulk.asking import NAMES, PATHS, SHOP, batch, files


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


def test_error_in_one_file_is_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are answered."""

    def fail(body: bytes) -> None:
        if body == b"Sitemap: fail":
            raise OverflowError("too large")

    monkeypatch.setattr(batches, "foreign_kind", fail)
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


def test_text_that_arrow_cannot_hold_is_escaped() -> None:
    """The names of files and JSON contain lone surrogates; no such text costs other rows."""
    odd = Document("https://\ud800.example/ü", SHOP, 301, "/\udcff", "cut \udfff", "\udcff.txt:1")
    questions = Questions.of("a", (), "google-2019", True, None)
    (found,) = batches.answer([odd, Document("https://b.example/", SHOP)], questions)
    first, second = found.to_pylist()
    assert first["url"] == r"https://\ud800.example/ü"
    assert first["source"] == r"\udcff.txt:1"
    assert first["error"] == r"cut \udfff"
    assert second["outcome"] == "successful"

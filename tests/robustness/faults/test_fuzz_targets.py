"""The fuzzers' targets take their corpus, and would notice what they are there for."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz import targets
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

CORPUS = Path(targets.__file__).parent / "corpus"
FILES = sorted(CORPUS.glob("*/*"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.name}")
def test_corpus_passes(file: Path) -> None:
    """Also with its bytes cut, reversed and doubled."""
    target, data = targets.TARGETS[file.parent.name], file.read_bytes()
    for cut in range(0, len(data), max(7, len(data) // 30)):
        target(data[:cut])
        target(data[cut:] + data[:cut])
    target(data * 2)
    target(data[::-1])


def test_each_target_has_seeds() -> None:
    assert {file.parent.name for file in FILES} == set(targets.TARGETS)


def test_seeds_of_records_get_past_the_checksum() -> None:
    """Else the fuzzer would see nothing but frames that are refused."""
    for name, data in targets.seeds().items():
        text, _, body = data.partition(b"\0")
        found = RobotsRecord.from_bytes(targets.framed(text, body))
        assert (found is None) == (name == "empty")


def test_wrong_answer_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A matcher that allows what the explanation forbids."""
    monkeypatch.setattr(RobotsTxt, "allowed", lambda self, url, tokens: True)
    with pytest.raises(AssertionError):
        targets.parse(b"http://a/\nx\nuser-agent: *\ndisallow: /\n")

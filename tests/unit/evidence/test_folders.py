"""Evidence that earlier builds wrote: no later rules take it for wrong.

``folders/rules-N.tar.xz`` has the evidence of real crawls of awkward origins, by a build whose
rules had version N. ``tests/support/awkward_origins.py`` makes one, when a build is released.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from scrapy_robotspec.evidence.audit import Timeline
from scrapy_robotspec.evidence.log_lines import RULES
from scrapy_robotspec.evidence.replay import replay
from tests.support.evidence import audited, pages_sent

FOLDERS = sorted(Path(__file__).with_name("folders").glob("rules-*.tar.xz"))


@pytest.fixture(scope="module", params=FOLDERS, ids=lambda path: path.name)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of an earlier build, unpacked as *rules-N*."""
    packed: Path = request.param
    folder = tmp_path_factory.mktemp("folders") / packed.name.partition(".")[0]
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    return folder


def version_of(folder: Path) -> int:
    return int(folder.name.removeprefix("rules-"))


def test_no_other_build_is_taken_for_wrong(folder: Path) -> None:
    """If this fails for the version in force, ``RULES`` is to be raised."""
    result = replay(folder)
    assert (result.problems, result.differ) == ([], 0)
    assert {run.rules for run in result.runs} == {version_of(folder)}
    has_note = any("what comes out otherwise is not checkable" in each for each in result.notes)
    assert has_note is (version_of(folder) != RULES)
    if version_of(folder) == RULES:
        assert result.not_checkable == 0
    assert result.agree > 0.5 * result.decisions  # most rules stay as they are
    assert Timeline(folder).reading.problems == []


def test_no_page_that_another_build_let_through_is_disallowed(folder: Path) -> None:
    sent = [(page.time, page.url) for page in pages_sent(folder) if "exempt" not in page.url]
    audit = audited(folder, sent)
    audit.look_up()
    assert audit.requests == len(sent) > 100
    assert audit.disallowed == 0
    assert audit.unknown < 0.5 * len(sent)  # most origins are awkward ones

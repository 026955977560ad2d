"""The file of a report: its name, which crawl it belongs to, and how it is replaced."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from scrapy import Spider
from scrapy.extensions.feedexport import FeedExporter

from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.plugin.reporting.report_file import ReportFile, expand

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW = 1_700_000_000.9


@pytest.mark.parametrize(
    ("setting", "path"),
    [
        ("report.jsonl", "report.jsonl"),
        ("{name}-{time}.jsonl", "shop-2023-11-14T22-13-20+00-00.jsonl"),
        ("%(name)s-%(time)s.jsonl", "shop-2023-11-14T22-13-20+00-00.jsonl"),
        ("100%/{name}/{name}.jsonl", "100%/shop/shop.jsonl"),
    ],
)
def test_name_and_time_are_put_into_the_path(setting: str, path: str) -> None:
    assert expand(setting, "shop", NOW) == path


def test_the_time_is_written_as_scrapys_feeds_do() -> None:
    """The same form, so that a report can be found beside a feed."""
    exporter = FeedExporter.__new__(FeedExporter)
    feeds = exporter._get_uri_params(Spider("shop"), None)["time"]
    ours = expand("{time}", "shop", NOW)
    assert [c if not c.isdigit() else "0" for c in ours] == [
        c if not c.isdigit() else "0" for c in feeds
    ]


@pytest.mark.parametrize("name", ["a/b", "a\\b", "../../a", "a\0b"])
def test_the_name_of_a_spider_leads_into_no_other_folder(name: str, tmp_path: Path) -> None:
    file = ReportFile.create(f"{tmp_path}/{{name}}.jsonl", name, NOW)
    assert file.path.parent == tmp_path
    assert file.path.exists()


def test_the_report_of_another_crawl_is_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A number is added to the name; one warning says so."""
    caplog.set_level(logging.WARNING, "scrapy_robotspec")
    setting = str(tmp_path / "report.v1.jsonl")
    first = ReportFile.create(setting, "shop", NOW)
    first.replace(["first\n"])
    assert caplog.messages == []
    paths = [ReportFile.create(setting, "shop", NOW).path.name for _ in range(3)]
    assert paths == ["report.v1-2.jsonl", "report.v1-3.jsonl", "report.v1-4.jsonl"]
    assert first.path.read_text() == "first\n"
    assert len(caplog.messages) == 3
    assert "{time}" in caplog.messages[0]
    assert str(tmp_path / "report.v1-2.jsonl") in caplog.messages[0]


def test_crawls_that_start_at_once_get_different_files(tmp_path: Path) -> None:
    setting = str(tmp_path / "report.jsonl")
    with ThreadPoolExecutor(8) as threads:
        jobs = [threads.submit(ReportFile.create, setting, "shop", NOW) for _ in range(40)]
        assert len({job.result().path for job in jobs}) == 40


def test_a_relative_path_stays_where_the_crawl_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A spider may change the working directory."""
    monkeypatch.chdir(tmp_path)
    file = ReportFile.create("report.jsonl", "shop", NOW)
    monkeypatch.chdir("/")
    file.replace(["text"])
    assert (tmp_path / "report.jsonl").read_text() == "text"


@pytest.mark.parametrize("name", ["n" * 300 + ".jsonl", "no/such/folder/{name}.jsonl"])
def test_a_file_that_cannot_be_made_stops_the_crawl(name: str, tmp_path: Path) -> None:
    setting = str(tmp_path / name)
    with pytest.raises(ConfigurationError, match=r"^ROBOTSPEC_REPORT = .* can write \("):
        ReportFile.create(setting, "shop", NOW)


def test_contents_that_fail_midway_leave_the_old_ones(tmp_path: Path) -> None:
    """As when the disk is full: the last complete contents stay, and nothing beside them."""
    file = ReportFile.create(str(tmp_path / "report.jsonl"), "shop", NOW)
    file.replace(["old"])

    def parts() -> Iterator[str]:
        yield "new" * 100_000
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        file.replace(parts())
    assert file.path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file.path]


def test_the_temporary_file_follows_no_link(tmp_path: Path) -> None:
    """SAF-05: another user of the folder must not choose which file is overwritten."""
    file = ReportFile.create(str(tmp_path / "report.jsonl"), "shop", NOW)
    precious = tmp_path / "precious"
    precious.write_text("precious\n")
    (tmp_path / "report.jsonl.tmp").symlink_to(precious)
    file.replace(["new\n"])
    assert precious.read_text() == "precious\n"
    assert file.path.read_text() == "new\n"
    assert not file.path.is_symlink()

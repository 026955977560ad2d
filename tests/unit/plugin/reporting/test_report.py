"""The file of a report: its name, how it is replaced."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scrapy import Spider
from scrapy.crawler import Crawler

from scrapy_robotspec.access.overrides import Override
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.lookup.live_origins import LiveOrigins
from scrapy_robotspec.plugin.deciding.tokens import TokenSelector
from scrapy_robotspec.plugin.reporting.crawl_account import CrawlAccount
from scrapy_robotspec.plugin.reporting.report import Report
from scrapy_robotspec.plugin.reporting.stats import open_account
from scrapy_robotspec.plugin.settings.composite import file_of
from scrapy_robotspec.plugin.settings.settings import Settings
from tests.unit.plugin.reporting.records import DOWN, SHOP

NOW = 1_700_000_000.9
SPIDER = Spider("shop", middle="o")


class Default(Spider):
    """A spider's class, of which a shell has no object yet."""

    name = "default"


def create(setting: str) -> Report:
    return create_with_account(setting)[0]


def create_with_account(
    setting: str,
    given: dict[str, Any] | None = None,
    live: LiveOrigins | None = None,
    spider: Spider | None = SPIDER,
    **others: Any,
) -> tuple[Report, CrawlAccount]:
    crawler = Crawler(Default, given)
    crawler.spider = spider
    settings = Settings(report=setting, user_agent_token=("shop",), **others)
    account = open_account(settings)
    runtime = SimpleNamespace(
        crawler=crawler,
        settings=settings,
        tokens=TokenSelector(crawler, settings),
        live=LiveOrigins() if live is None else live,
    )
    return Report(cast("Any", runtime), account), account


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
    assert file_of(setting, Spider("shop"), NOW) == str(Path(path).absolute())


def spellings(folder: Path) -> st.SearchStrategy[Path | str]:
    """Of ``folder/shop.jsonl``, where ``folder/link`` leads to the folder."""
    folders = ["", "./", "link/", "link/./sub/../", f"{folder}/", f"{folder}//link/", "sub/../"]
    names = ["shop.jsonl", "%(name)s.jsonl", "sh%(middle)sp.jsonl", "linked.jsonl"]
    plain = st.builds(str.__add__, st.sampled_from(folders), st.sampled_from(names))
    uris = plain.filter(lambda each: each.startswith("/")).map("file://{}".format)
    return st.one_of(plain, plain.map(Path), uris)


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_report_replaces_no_file_of_another_however_it_is_spelled(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, data: st.DataObject
) -> None:
    """Scrapy opens a feed before the report replaces it: the items would be gone."""
    folder = tmp_path_factory.mktemp("reports")
    (folder / "sub").mkdir()
    (folder / "link").symlink_to(folder)
    (folder / "linked.jsonl").symlink_to(folder / "shop.jsonl")
    monkeypatch.chdir(folder)
    spelling = spellings(folder).map(str)
    report = data.draw(spelling.filter(lambda each: "file:" not in each and "sh%" not in each))
    report = data.draw(st.sampled_from([report, report.replace("%(name)s", "{name}")]))
    feed = data.draw(spellings(folder))
    store = data.draw(spelling.filter(lambda each: "file:" not in each and "%" not in each))
    cases: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"FEEDS": {feed: {"format": "jsonl"}}}, {}),
        ({"FEEDS": {"a.jsonl": {}, feed: {"format": "jsonl"}}}, {}),
        ({"FEED_URI": feed}, {}),
        ({}, {"cache": f"sqlite:///{store}"}),
    ]
    for feeds, others in cases:
        with pytest.raises(ConfigurationError, match="not that of a feed, of the store"):
            create_with_account(report, feeds, **others)
    assert not (folder / "shop.jsonl").exists()
    for name in ("SHOP.jsonl", "SHOP-3.jsonl"):  # its case is as it is
        made, _ = create_with_account("SHOP.jsonl", {"FEEDS": {feed: {}, "SHOP-2.jsonl": {}}})
        assert made._path == folder / name


def test_a_report_is_no_log_of_evidence(tmp_path: Path) -> None:
    evidence = str(tmp_path / "evidence")
    for name in ("report.jsonl", "other/decisions-1.jsonl"):
        create_with_account(f"{evidence}/{name}", evidence=evidence)
    (tmp_path / "link").symlink_to(tmp_path)
    for spelling in (evidence, f"{tmp_path}/link/evidence", f"{tmp_path}/./evidence/"):
        with pytest.raises(ConfigurationError, match="or of evidence"):
            create_with_account(f"{spelling}/decisions-1.jsonl", evidence=evidence)


def test_without_evidence_a_report_may_have_the_name_of_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    create("decisions-1.jsonl")
    assert (tmp_path / "decisions-1.jsonl").exists()


@pytest.mark.parametrize(("spider", "name"), [(None, "default"), (SPIDER, "shop")])
def test_a_crawl_without_a_spider_has_the_name_of_its_class(
    tmp_path: Path, spider: Spider | None, name: str
) -> None:
    report, _ = create_with_account(str(tmp_path / "{name}.html"), spider=spider)
    assert report._path == tmp_path / f"{name}.html"
    assert report._in_force["spider"] == name


@pytest.mark.parametrize(
    ("overrides", "named"), [(None, ""), (dict.fromkeys("abcd"), "a, b, c and 1 more")]
)
def test_the_first_hosts_with_an_override_are_named(
    tmp_path: Path, overrides: dict[str, None] | None, named: str
) -> None:
    report, _ = create_with_account(str(tmp_path / "report.html"), overrides=overrides)
    assert report._in_force["overridden"] == named


@pytest.mark.parametrize("is_opened", [False, True])
def test_the_end_is_written_whether_or_not_a_spider_was_opened(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, is_opened: bool
) -> None:
    """Requests that wait then are left to another crawl."""
    live, path = LiveOrigins(), tmp_path / "report.jsonl"
    report, account = create_with_account(str(path), live=live)
    if is_opened:
        report.open()
    account.overridden(Override(), SHOP)
    live.use(SHOP).queued = 2
    report.end("finished")
    report.close()
    (row,) = map(json.loads, path.read_text().splitlines())
    assert (row["origin"], row["waiting"]) == (SHOP, 0)
    assert caplog.messages == []


def test_a_crawl_under_way_shows_requests_that_wait(tmp_path: Path) -> None:
    """An origin of which none waits has no row for that."""
    live, path = LiveOrigins(), tmp_path / "report.jsonl"
    report, _ = create_with_account(str(path), live=live)
    live.use(SHOP).queued, live.use(SHOP).holds = 2, 1
    live.use(DOWN).waits = 1
    report._update()
    (row,) = map(json.loads, path.read_text().splitlines())
    assert (row["origin"], row["waiting"]) == (SHOP, 3)


def test_the_report_of_another_crawl_is_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A number is added to the name; the log says so."""
    caplog.set_level(logging.INFO, "scrapy_robotspec")
    (tmp_path / "report.v1.jsonl").write_text("another\n")
    for number in (2, 3, 4):
        create(str(tmp_path / "report.v1.jsonl"))
        path = tmp_path / f"report.v1-{number}.jsonl"
        assert path.exists()
        assert str(path) in caplog.messages[-1]
    assert (tmp_path / "report.v1.jsonl").read_text() == "another\n"


def test_crawls_that_start_at_once_get_different_files(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        for _ in range(40):
            threads.submit(create, str(tmp_path / "report.jsonl"))
    assert len(list(tmp_path.iterdir())) == 40


def test_a_relative_path_stays_where_the_crawl_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A spider may change the working directory."""
    monkeypatch.chdir(tmp_path)
    report, account = create_with_account("report.jsonl")
    monkeypatch.chdir("/")
    account.wait_began(SHOP, NOW)
    report._update()
    assert SHOP in (tmp_path / "report.jsonl").read_text()


def test_a_long_first_update_delays_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It imports the templates of a page; a pause is a multiple of an update's duration."""
    report = create(str(tmp_path / "report.jsonl"))
    durations = iter([0.2])
    pauses: list[float] = []

    class TwoPauses(Event):
        def wait(self, timeout: float | None = None) -> bool:
            assert timeout is not None
            pauses.append(timeout)
            return len(pauses) == 2

    monkeypatch.setattr(report, "_end", TwoPauses())
    monkeypatch.setattr(report, "_update", lambda: time.sleep(next(durations, 0.0)))
    report._keep_up_to_date()
    assert len(pauses) == 2
    assert max(pauses) < 0.2 * 50


@pytest.mark.parametrize(
    ("others", "keeps"),
    [({"crawl_delay": True}, True), ({"default_crawl_delay": 0.3}, False), ({}, False)],
)
def test_a_delay_of_the_users_own_keeps_no_sites_delay(
    tmp_path: Path, others: dict[str, Any], keeps: bool
) -> None:
    """EXT-01: the page does not say that it is kept."""
    report, _ = create_with_account(str(tmp_path / "report.html"), **others)
    assert report._in_force["keeps_delays"] is keeps


@pytest.mark.parametrize("name", ["n" * 300 + ".jsonl", f"{__file__}/report.jsonl"])
def test_a_file_that_cannot_be_made_stops_the_crawl(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"^ROBOTSPEC_REPORT = .* can write \("):
        create(str(tmp_path / name))


def test_its_folder_is_made_and_its_address_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A terminal opens the address."""
    caplog.set_level("INFO")
    path = tmp_path / "new folder" / "report.jsonl"
    create(str(path))
    assert path.exists()
    (line,) = [each for each in caplog.messages if each.startswith("ROBOTSPEC_REPORT")]
    assert path.as_uri() in line


@pytest.mark.parametrize(
    ("error", "has_traceback"),
    [(OSError(28, "No space left on device"), False), (ValueError("No space left"), True)],
)
def test_contents_that_fail_midway_leave_the_old_ones(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    has_traceback: bool,
) -> None:
    """As when the disk is full; the first of several failures is logged."""
    path = tmp_path / "report.jsonl"
    report = create(str(path))
    path.write_text("old")

    def contents() -> Iterator[str]:
        yield "new" * 100_000
        raise error

    monkeypatch.setattr(report, "_thread", Thread())
    report._thread.start()
    with monkeypatch.context() as patch:
        patch.setattr(report, "_contents", contents)
        report._update()
        (record,) = caplog.records
        report._update()
        report.close()
    assert path.read_text() == "old"
    assert "No space left" in record.getMessage()
    assert bool(record.exc_info) is has_traceback
    assert caplog.messages[1:] == [f"ROBOTSPEC_REPORT: {path} is not complete"]
    report._update()
    assert path.read_text() == ""


def test_the_report_follows_no_link(tmp_path: Path) -> None:
    """SAF-05: another user of the folder must not choose which file is overwritten."""
    path, precious = tmp_path / "report.jsonl", tmp_path / "precious"
    report = create(str(path))
    precious.write_text("precious\n")
    path.unlink()
    path.symlink_to(precious)
    report._update()
    assert precious.read_text() == "precious\n"
    assert path.read_text() == ""
    assert not path.is_symlink()

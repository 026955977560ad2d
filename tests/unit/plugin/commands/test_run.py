"""A query of sites: its settings, its answers, and what becomes of errors."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response
from scrapy.settings import Settings

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.cli.session import SiteOptions
from scrapy_robotspec.errors import RobotSpecError, UnreachableError
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.addon import Addon
from scrapy_robotspec.plugin.commands.run import QuerySpider, _adapt, missing_note, query_with
from scrapy_robotspec.plugin.exceptions import RobotsUnreachable
from scrapy_robotspec.render.explanation import Explanation
from tests.unit.plugin.obeying import URL, Obeying, run
from tests.unit.plugin.scheduling.crawlers import crawler_with

UNREACHABLE = RobotsUnreachable(Decision(False, "unreachable"))
ADDONS = {"scrapy_robotspec.Addon": 500}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"ADDONS": ADDONS, "ROBOTSTXT_OBEY": True}, None),
        ({"ADDONS": ADDONS, "ROBOTSTXT_OBEY": False}, "ROBOTSTXT_OBEY is off"),
        ({"ADDONS": {"scrapy_robotspec.Addon": None}, "ROBOTSTXT_OBEY": True}, "ADDONS lacks"),
        ({}, "ADDONS lacks"),
    ],
)
def test_a_project_that_decides_otherwise_is_noted(
    given: dict[str, Any], words: str | None
) -> None:
    note = missing_note(Settings(given))
    assert (note is None) if words is None else (note is not None and words in note)


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        (SiteOptions(), {}),
        (SiteOptions(tokens=("a", "b")), {"USER_AGENT_TOKEN": ["a", "b"]}),
        (SiteOptions(tokens=()), {"USER_AGENT_TOKEN": "*"}),
        (SiteOptions(edition="google"), {"EDITION": "google"}),
        (SiteOptions(timeout=3.0), {"FETCH_TIMEOUT": 3.0}),
        (
            SiteOptions(usage=("search",)),
            {"USAGE": ("search",), "USAGE_POLICY": "refuse-disallowed"},
        ),
    ],
)
def test_options_stand_over_the_settings_of_the_project(
    options: SiteOptions, changed: dict[str, Any]
) -> None:
    """All others stay as the project has them."""
    own = {"USER_AGENT_TOKEN": "own", "EDITION": "classic", "USAGE": None, "USAGE_POLICY": None}
    settings = Settings({f"ROBOTSPEC_{name}": value for name, value in own.items()})
    _adapt(settings, options)
    expected = {**own, "FETCH_TIMEOUT": 10.0, **changed}
    assert {name: settings[f"ROBOTSPEC_{name}"] for name in expected} == expected
    assert settings.getbool("ROBOTSTXT_OBEY")
    assert settings["ADDONS"] == {Addon: 500}


def test_the_add_on_of_a_project_keeps_its_number() -> None:
    settings = Settings({"ADDONS": {"scrapy_robotspec.Addon": 7}})
    _adapt(settings, SiteOptions())
    assert settings.getdict("ADDONS") == {"scrapy_robotspec.Addon": 7}


def asked(crawl: Obeying, *urls: str) -> list[Explanation]:
    found: list[Explanation] = []
    spider = QuerySpider.from_crawler(crawl.crawler, task=None, handle=found.append, ends=[])
    run(lambda: spider.decide(urls))
    return found


def test_answers_come_in_the_order_of_the_urls(monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = Obeying(monkeypatch, ROBOTSPEC_CONCURRENT_FETCHES=1)  # eight at once
    crawl.know()
    urls = [f"{URL}/{'no' if number % 3 else 'yes'}/{number}" for number in range(20)]
    found = asked(crawl, *urls)
    assert [each.url for each in found] == urls
    assert [each.decision is not None and each.decision.allowed for each in found] == [
        number % 3 == 0 for number in range(20)
    ]
    assert all(each.fetched for each in found), "by a crawl that began when the record was made"
    crawl.now += 1
    assert not asked(crawl, urls[0])[0].fetched


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("data:,page", None),
        ("http:///path", "the URL has no valid host"),
        ("mailto:a", "Missing scheme"),
        ("no url", "Missing scheme"),
    ],
)
def test_what_is_no_url_of_a_site(
    monkeypatch: pytest.MonkeyPatch, url: str, problem: str | None
) -> None:
    (found,) = asked(Obeying(monkeypatch), url)
    if problem is None:
        assert found.decision is not None
        assert found.decision.allowed
        assert found.robots is None
    else:
        assert found.problem is not None
        assert problem in found.problem


def test_the_middleware_is_needed() -> None:
    crawler = crawler_with({})
    crawler.engine = crawler._create_engine()
    spider = QuerySpider.from_crawler(crawler, task=None, handle=print, ends=[])
    with pytest.raises(RobotSpecError, match="switched off in DOWNLOADER_MIDDLEWARES"):
        run(lambda: spider.decide([URL]))


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (Response(URL, body=b"<urlset>"), None, ""),
        (Response(URL, status=404), RobotSpecError, "HTTP status 404"),
        (OSError("refused"), RobotSpecError, "refused"),
        (OSError(), RobotSpecError, "OSError"),
        (
            RobotsUnreachable(Decision(False, "unreachable")),
            UnreachableError,
            "robots.txt unreachable",
        ),
    ],
)
def test_a_page_that_a_query_reads(
    monkeypatch: pytest.MonkeyPatch, answer: Any, error: type[Exception] | None, words: str
) -> None:
    """Its size is bounded by the download itself."""
    crawl = Obeying(monkeypatch)
    sizes: list[int] = []

    async def download(engine: object, request: Request) -> Response:
        sizes.append(request.meta["download_maxsize"])
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, Response)
        return answer

    monkeypatch.setattr(_compat, "download", download)
    spider = QuerySpider.from_crawler(crawl.crawler, task=None, handle=print, ends=[])
    if error is None:
        assert run(lambda: spider.download(URL, 99)) == b"<urlset>"
    else:
        with pytest.raises(error, match=words) as raised:
            run(lambda: spider.download(URL, 99))
        assert type(raised.value) is error
    assert sizes == [99]


PRIVATE = "http://10.0.0.1/sitemap.xml"
NO_TASK: Any = None


@pytest.mark.parametrize(
    ("url", "named_by", "is_limited", "is_read"),
    [
        (PRIVATE, f"{URL}/robots.txt", True, False),
        (PRIVATE, f"{URL}/robots.txt", "TRUE", False),  # as in a crawl
        (PRIVATE, f"{URL}/robots.txt", False, True),
        (PRIVATE, "http://10.0.0.2/robots.txt", True, True),
        (PRIVATE, "", True, True),
        (f"{URL}/sitemap.xml", f"{URL}/robots.txt", True, True),
    ],
)
def test_a_public_file_names_no_private_page(
    monkeypatch: pytest.MonkeyPatch, url: str, named_by: str, is_limited: object, is_read: bool
) -> None:
    """SAF-06: a user may name one, and a file of the same network."""
    crawl = Obeying(monkeypatch, ROBOTSPEC_REFUSE_PRIVATE_REDIRECTS=is_limited)

    async def download(engine: object, request: Request) -> Response:
        return Response(request.url, body=b"<urlset>")

    monkeypatch.setattr(_compat, "download", download)
    spider = QuerySpider.from_crawler(crawl.crawler, task=None, handle=print, ends=[])
    if is_read:
        assert run(lambda: spider.download(url, 99, named_by)) == b"<urlset>"
    else:
        with pytest.raises(RobotSpecError, match="leads to a private address"):
            run(lambda: spider.download(url, 99, named_by))


class Process:
    """A crawler process whose crawl ends at once."""

    def __init__(self, ends: list[BaseException | None], has_failed: bool) -> None:
        self.settings = Settings({"USER_AGENT": "examplebot/1.0"})
        self.bootstrap_failed = False
        self._ends, self._has_failed = ends, has_failed

    def crawl(self, spider: type, *, ends: list[BaseException | None], **arguments: Any) -> None:
        assert spider is QuerySpider
        assert self.settings.getbool("ROBOTSTXT_OBEY")
        self._given = ends

    def start(self) -> None:
        self._given += self._ends
        self.bootstrap_failed = self._has_failed


@pytest.mark.parametrize(
    ("ends", "has_failed", "raised"),
    [
        ([None], False, None),
        ([None], True, None),
        ([], True, RobotSpecError),
        ([], False, KeyboardInterrupt),
        ([OSError()], False, OSError),
        ([OSError()], True, OSError),
    ],
)
def test_the_end_of_a_query_is_that_of_its_task(
    ends: list[BaseException | None], has_failed: bool, raised: type[BaseException] | None
) -> None:
    """A crawl that never began has none; the user may have ended it before."""
    process: Any = Process(ends, has_failed)
    if raised is None:
        query_with(process, NO_TASK, SiteOptions(), print)
    else:
        with pytest.raises(raised) as error:
            query_with(process, NO_TASK, SiteOptions(), print)
        assert type(error.value) is raised


@pytest.mark.parametrize("error", [None, ValueError("in the task"), KeyboardInterrupt()])
def test_the_end_of_a_task_is_kept(
    monkeypatch: pytest.MonkeyPatch, error: BaseException | None
) -> None:
    async def task(spider: QuerySpider) -> None:
        if error is not None:
            raise error

    ends: list[BaseException | None] = []
    crawl = Obeying(monkeypatch)
    spider = QuerySpider.from_crawler(crawl.crawler, task=task, handle=print, ends=ends)

    async def start() -> list[object]:
        return [each async for each in spider.start()]

    assert run(start) == []
    assert ends == [error]

"""``scrapy robotspec doctor`` in real projects."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import PROJECT_SETTINGS, CommandResult, install_command
from tests.support.crawl_starter import ForkedProcess

PARTS = """\
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.core.scheduler import Scheduler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware


class Answers:
    def process_request(self, request, spider=None):
        return None


class Listens:
    def process_response(self, request, response, spider=None):
        return response


class Handler(HTTP11DownloadHandler):
    pass


class Order(Scheduler):
    def open(self, spider):
        raise SystemExit("a crawl has begun")


class Polite(RobotsTxtMiddleware):
    pass
"""
BEFORE = 'DOWNLOADER_MIDDLEWARES = {"parts.Answers": 99}'
NOTHING = "No earlier middleware; handlers and queues are Scrapy's or ours."
FIRST = "DOWNLOADER_MIDDLEWARES: parts.Answers at 99 comes first"
BESIDE = "parts.Polite is enabled beside RobotSpecMiddleware: it decides too"
HANDLER = "DOWNLOAD_HANDLERS: parts.Handler may follow redirects itself"
QUEUE = "SCHEDULER: {} has no queue for each origin: requests wait outside it, at most {} "


def call(folder: Path, settings: str, *words: str) -> CommandResult:
    """``scrapy robotspec doctor`` in a project with *settings*."""
    install_command(folder)
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = project_settings\n")
    (folder / "project_settings.py").write_text(PROJECT_SETTINGS + settings)
    (folder / "parts.py").write_text(PARTS)
    out, err = folder / "out.txt", folder / "err.txt"
    with out.open("wb") as output, err.open("wb") as errors:
        words = ("scrapy", "robotspec", "doctor", *words)
        code = ForkedProcess(words, folder, {}, output, errors).wait(60)
    assert code is not None
    return CommandResult(code, out.read_text(), err.read_text())


@pytest.mark.parametrize(
    ("settings", "beginnings"),
    [
        ("", [NOTHING]),
        ('DOWNLOADER_MIDDLEWARES = {"parts.Answers": 101, "parts.Listens": 50}', [NOTHING]),
        (BEFORE, [FIRST]),
        ('DOWNLOAD_HANDLERS = {"http": "parts.Handler", "https": "parts.Handler"}', [HANDLER]),
        ('DOWNLOAD_HANDLERS = {"https": None}', [NOTHING]),
        (
            'SCHEDULER_PRIORITY_QUEUE = "scrapy.pqueues.ScrapyPriorityQueue"',
            [QUEUE.format("scrapy.pqueues.ScrapyPriorityQueue", 1000)],
        ),
        ('DOWNLOADER_MIDDLEWARES = {"parts.Polite": 100}', [BESIDE]),
        (
            'SCHEDULER, ROBOTSPEC_MAX_PARKED = "parts.Order", 7\n' + BEFORE,
            [FIRST, QUEUE.format("parts.Order", 7)],
        ),
    ],
)
def test_each_part_that_takes_something_has_a_line(
    tmp_path: Path, settings: str, beginnings: list[str]
) -> None:
    """One that takes nothing has none."""
    result = call(tmp_path, settings)
    lines = result.out.splitlines()
    assert [line[: len(start)] for line, start in zip(lines, beginnings, strict=True)] == beginnings
    assert (result.code, result.err) == (0, "")


@pytest.mark.parametrize(("word", "code"), [("--help", 0), ("more", 2)])
def test_help_and_other_words_show_how_to_call_it(tmp_path: Path, word: str, code: int) -> None:
    result = call(tmp_path, "", word)
    assert (result.code, result.out.splitlines()[0]) == (code, "Usage: scrapy robotspec doctor")


def test_a_project_that_obeys_nothing_is_noted(tmp_path: Path) -> None:
    result = call(tmp_path, "ROBOTSTXT_OBEY = False")
    assert result.err == "note: ROBOTSTXT_OBEY is off; decided as if it were on\n"


def test_a_wrong_setting_is_named(tmp_path: Path) -> None:
    result = call(tmp_path, "", "-s", "ROBOTSPEC_CACHE=nowhere")
    assert result.code == 2
    assert "ROBOTSPEC_CACHE = 'nowhere'" in result.out + result.err
    assert "Traceback" not in result.out + result.err

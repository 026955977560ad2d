"""The requests of an access log that a command line names."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from scrapy_robotspec.cli.access_log import AccessLog, absolute_url
from scrapy_robotspec.cli.session import MisuseError, Screen

LINE = '192.0.2.7 - - [31/Jan/2026:12:00:01 +0000] "GET /n%d HTTP/1.1" 200 5 "-" "bot/1.0"\n'


def test_a_log_that_grows_is_read_to_its_end(tmp_path: Path) -> None:
    """The reader counts lines that are written meanwhile, and no half of a line."""
    path = tmp_path / "access.log"
    path.write_text("".join(LINE % number for number in range(1000)))
    log = AccessLog(str(path), Screen(quiet=True), None, None)
    requests = log.requests("https://shop.example")
    urls = [next(requests)[1]]
    with path.open("a") as file:
        file.write("".join(LINE % number for number in range(1000, 2000)) + LINE[:70] % 2000)
    urls += [url for _, url in requests]
    assert urls == [f"https://shop.example/n{number}" for number in range(2000)]
    assert (log.read, log.not_read) == (2000, 1)


@pytest.mark.parametrize("end", range(1, len(LINE) - 1))
def test_a_line_that_is_half_written_is_read_right_or_not_at_all(tmp_path: Path, end: int) -> None:
    path = tmp_path / "access.log"
    path.write_text(LINE % 1 + (LINE % 2)[:end])
    log = AccessLog(str(path), Screen(quiet=True), None, None)
    urls = [url for _, url in log.requests("https://shop.example")]
    assert urls in (["https://shop.example/n1"], [f"https://shop.example/n{n}" for n in (1, 2)])


APPLICATION = (
    '{"time":1769860801000,"msg":"listening"}\n'
    '{"time":1769860801000,"req":{"url":"/a"},"msg":"incoming request"}\n'
    '{"time":1769860801009,"res":{"statusCode":200},"msg":"request completed"}\n'
    '{"time":1769860801010,"req":null,"msg":"closing"}\n'
)


def test_other_messages_of_an_application_are_no_sign_of_a_wrong_format(tmp_path: Path) -> None:
    """Fastify writes two lines for each request, and one of them has its URL."""
    path = tmp_path / "app.jsonl"
    path.write_text(APPLICATION)
    log = AccessLog(str(path), Screen(quiet=True), "json:time=time,uri=req.url", None)
    assert [url for _, url in log.requests("https://a.example")] == ["https://a.example/a"]
    assert log.counts == {"not_read": 3, "without_url": 0, "damage": None}
    (_, note) = log.notes()
    assert note == "3 lines cannot be read, such as line 1: no req.url (members: time, msg)"


@pytest.mark.parametrize(
    ("log_format", "text", "reason"),
    [
        (
            "json:time=time,uri=url",
            APPLICATION,
            r"4 lines .* 2: no url \(members: time, req, msg\)",
        ),
        (None, APPLICATION, "name them with --log-format json:"),
        ("json:time=t,uri=req.url", APPLICATION, "4 lines"),
        ("json:time=time,uri=req.url", APPLICATION + "x\n" * 2, "line 5: Expecting value"),
        (None, APPLICATION + '{"time":1769860801,"url":"/b"}\n', "4 lines .* no url"),
    ],
)
def test_a_log_of_which_most_is_not_read_is_refused(
    tmp_path: Path, log_format: str | None, text: str, reason: str
) -> None:
    path = tmp_path / "app.jsonl"
    path.write_text(text)
    log = AccessLog(str(path), Screen(quiet=True), log_format, None)
    with pytest.raises(MisuseError, match=reason):
        list(log.requests("https://a.example"))


@pytest.mark.parametrize(
    ("url", "base", "absolute"),
    [
        ("http://a/x", None, "http://a/x"),
        ("/x", "https://example.com", "https://example.com/x"),
        ("/x", None, None),
        ("//example.com/x", None, "https://example.com/x"),
        ("//other.example/x", "http://b.example", "http://other.example/x"),
        ("///x", "https://example.com", "https://example.com/x"),
        ("////private/x", "https://example.com", "https://example.com//private/x"),
        ("////private/x", None, None),
    ],
)
def test_a_missing_scheme_is_that_of_the_given_origin(
    url: str, base: str | None, absolute: str | None
) -> None:
    assert absolute_url(url, base) == absolute


@pytest.mark.parametrize(("more", "is_refused"), [("", True), (LINE % 1, False)])
def test_a_log_without_a_url_is_refused(tmp_path: Path, more: str, is_refused: bool) -> None:
    """Akamai's paths, for one, have no slash in front."""
    path = tmp_path / "access.log"
    path.write_text((LINE % 1).replace("GET /", "GET ") + more)
    log = AccessLog(str(path), Screen(quiet=True), None, None)
    words = "no line of .* has the URL" if is_refused else None
    with pytest.raises(MisuseError, match=words) if words else nullcontext():
        assert len(list(log.requests("https://a.example"))) == 1
    assert log.counts == {"not_read": 0, "without_url": 1, "damage": None}

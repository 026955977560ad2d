"""``replay`` and ``audit``: answers, exit codes, and misuse."""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scrapy_robotspec.cli import audit
from scrapy_robotspec.evidence import run_reader
from scrapy_robotspec.evidence.replay import ReplayResult, replay
from tests.support.command_line import NO_RIGHTS, ROOT, RunCommand, shell
from tests.support.evidence import Crawl, lines_of, make_evidence, write_lines

COMMON = [
    '1.2.3.4 - - [31/Jan/2026:12:00:02 +0000] "GET /robots.txt HTTP/1.1" 200 5',
    '1.2.3.4 - - [31/Jan/2026:12:00:02 +0000] "GET / HTTP/1.1" 200 5',
    '1.2.3.4 - - [31/Jan/2026:12:00:02 +0000] "GET /private/a HTTP/1.1" 200 5',
    '1.2.3.4 - - [30/Jan/2026:12:00:02 +0000] "GET /private/a HTTP/1.1" 200 5',
]
CDXJ = [
    'com,example)/ 20260131120002 {"url": "https://example.com/"}',
    'com,example)/private/b 20260131120001 {"url": "https://example.com/private/b"}',
    'example,other)/ 20260131120001 {"url": "https://other.example/"}',
]
JSON = [
    '{"time": "2026-01-31T12:00:01Z", "url": "https://example.com/private/c"}',
    '{"time": 1769860802.5, "url": "https://missing.example/private/c"}',
]
SITE = ("--origin", "https://example.com")


@pytest.fixture
def folder(folder: Path) -> Path:
    """The folder of the commands, with evidence."""
    make_evidence(folder / "evidence")
    return folder


def test_no_library_of_archives_is_needed(folder: Path) -> None:
    """In a process of its own, which can import none."""
    write(folder, JSON)
    program = "import sys; sys.modules.update(warcio=None, fastwarc=None); "
    program += "from scrapy_robotspec.__main__ import main; sys.exit(main())"
    for words in ("replay evidence", "audit access.log --evidence evidence"):
        command = [sys.executable, "-c", program, *words.split()]
        done = subprocess.run(command, cwd=folder, env={"PYTHONPATH": str(ROOT)}, check=False)
        assert done.returncode == words.startswith("audit")


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "x"])
def test_a_tolerance_is_a_number_of_seconds(
    run_command: RunCommand, folder: Path, value: str
) -> None:
    """Anything else would excuse every request, or none."""
    write(folder, COMMON)
    words = ("audit", "access.log", "--evidence", "evidence", *SITE)
    assert run_command(*words).code == 1
    result = run_command(*words, f"--tolerance={value}")
    assert (result.code, result.out) == (2, "")
    assert "--tolerance" in result.err


def write(folder: Path, lines: list[str], name: str = "access.log") -> None:
    (folder / name).write_text("\n".join(lines) + "\n")


def counts(out: str, *names: str) -> tuple[int, ...]:
    """Members of the JSON object that a command prints on one line."""
    (line,) = out.splitlines()
    values = json.loads(line)
    return tuple(values[name] for name in names)


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("nowhere", "No such file or directory"),
        ("", "No such file or directory"),
        ("robots.txt", "Not a directory"),
        ("x" * 5000, "File name too long"),
        ("other", "contains no evidence"),
    ],
    ids=["missing", "empty", "file", "long", "other"],
)
def test_a_folder_without_evidence_is_misuse(
    run_command: RunCommand, folder: Path, name: str, cause: str
) -> None:
    (folder / "other").mkdir()
    write(folder, COMMON)
    for command in (("replay", name), ("audit", "access.log", "--evidence", name, *SITE)):
        result = run_command(*command)
        assert result.code == 2
        assert cause in result.err
        assert "give the folder of ROBOTSPEC_EVIDENCE" in result.err


@pytest.mark.parametrize(
    ("lines", "options", "expected"),
    [
        (COMMON, SITE, (4, 1, 1)),
        (CDXJ, (), (3, 1, 1)),
        (JSON, (), (2, 1, 0)),
        (JSON, ("--token", "other", "--token", "examplebot"), (2, 1, 0)),
        (JSON, ("--token", "other", "--token", "examplebot/1.0 (+https://a.example/)"), (2, 1, 0)),
        ([], SITE, (0, 0, 0)),
    ],
)
def test_audit_of_each_format(
    run_command: RunCommand,
    folder: Path,
    lines: list[str],
    options: tuple[str, ...],
    expected: tuple[int, int, int],
) -> None:
    write(folder, lines)
    result = run_command("audit", "access.log", "--evidence", "evidence", *options, "--json")
    assert counts(result.out, "requests", "disallowed", "unknown") == expected
    assert result.code == (1 if expected[1] else 0)


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv, of util-linux")
@pytest.mark.parametrize("words", ["replay evidence", "audit access.log --evidence evidence"])
@pytest.mark.parametrize("kind", ["decisions", "robots"])
def test_evidence_of_another_owner_is_not_changed_evidence(
    folder: Path, words: str, kind: str
) -> None:
    """Its files are their owner's alone."""
    write(folder, JSON)
    (path,) = (folder / "evidence").glob(f"{kind}-*")
    path.chmod(0)
    done = shell(words, folder, start=NO_RIGHTS)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"evidence/{path.name}': Permission denied; run it as the owner" in done.stderr


def test_audit_reads_compressed_logs_and_standard_input(
    run_command: RunCommand, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = ("\n".join(JSON) + "\n").encode()
    (folder / "log.gz").write_bytes(gzip.compress(data))
    packed = run_command("audit", "log.gz", "--evidence", "evidence", "--json")
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(data)))
    monkeypatch.setattr("sys.stdin", stdin)
    piped = run_command("audit", "-", "--evidence", "evidence", "--json")
    assert packed.out == piped.out


#: 2,000 requests, packed: the first deflate block ends long before.
PACKED = gzip.compress(
    b"".join(
        b'{"time": 1769860801, "url": "https://example.com/%d"}\n' % (number * number)
        for number in range(2000)
    )
)


@pytest.mark.parametrize(
    ("data", "least", "words"),
    [
        (PACKED[:-20], 1500, "Compressed file ended"),
        (PACKED[: len(PACKED) // 2], 500, "Compressed file ended"),
        (PACKED[:-8] + b"none" + PACKED[-4:], 2000, "CRC check failed"),
        (PACKED + b"more", 2000, "Not a gzipped file"),
        (PACKED + PACKED[:-20], 3500, "Compressed file ended"),
    ],
    ids=["its end", "its half", "another sum", "other bytes", "its second part"],
)
@pytest.mark.parametrize("disallowed", [False, True])
def test_the_lines_before_damage_in_a_log_are_audited(
    run_command: RunCommand, folder: Path, data: bytes, least: int, words: str, disallowed: bool
) -> None:
    """A server that still writes it, or a rotation that was interrupted, leaves its end out."""
    write(folder, JSON[:1])
    first = gzip.compress((folder / "access.log").read_bytes()) if disallowed else b""
    (folder / "log.gz").write_bytes(first + data)
    result = run_command("audit", "log.gz", "--evidence", "evidence", "--json", "--quiet")
    assert re.search(f"log.gz.*(?:{words})", result.err)
    values = json.loads(result.out)
    assert values["requests"] >= least
    assert (values["disallowed"], result.code) == ((1, 1) if disallowed else (0, 2))
    assert f"read to line {values['requests']:,}" in values["damage"]
    assert values["damage"] in result.err


def test_a_packed_log_without_a_line_is_refused(run_command: RunCommand, folder: Path) -> None:
    (folder / "log.gz").write_bytes(PACKED[:20])
    result = run_command("audit", "log.gz", "--evidence", "evidence")
    assert (result.code, result.out) == (2, "")
    assert "no line of log.gz can be read: Compressed file ended" in result.err


def test_lines_that_cannot_be_read_are_counted_and_named(
    run_command: RunCommand, folder: Path
) -> None:
    write(folder, [*JSON, "garbage", "[]", ""])
    result = run_command("audit", "access.log", "--evidence", "evidence", "--json")
    assert counts(result.out, "requests", "not_read") == (2, 2)
    assert "2 lines cannot be read, such as line 3" in result.err


@pytest.mark.parametrize(
    ("lines", "options", "remedy"),
    [
        (COMMON, (), "--origin https://example.com"),
        (COMMON, ("--origin", "example.com"), "write https://example.com"),
        (COMMON, ("--origin", "http://"), "'http://' is not the URL of a site: write https://exam"),
        (COMMON, ("--origin", "/a"), "'/a' is not the URL of a site: write https://example.com"),
        (COMMON, ("access.log.1",), "give one log: zcat -f $(ls -tr access.log*) | robotspec"),
        (["garbage", "", "[]"], (), "2 lines of access.log cannot be read, such as line 1:"),
        (['!meta {"a": 1}', "x"], (), "1 line of access.log cannot be read, such as line 2:"),
        ([*JSON, "a", "b", "c"], (), "3 lines of access.log cannot be read"),
        (JSON, ("--token", ""), "--token"),
        (JSON, ("--log-format", "%U %t"), "--log-format: %U is decoded by the server"),
        (JSON, ("--zone", "CET"), "--zone 'CET' is not like +0530"),
        (JSON, ("--zone", "+2400"), "--zone '+2400' is not like +0530"),
    ],
)
def test_misuse_of_audit_names_the_remedy(
    run_command: RunCommand, folder: Path, lines: list[str], options: tuple[str, ...], remedy: str
) -> None:
    write(folder, lines)
    (folder / "access.log.1").touch()
    result = run_command("audit", "access.log", "--evidence", "evidence", *options)
    assert result.code == 2
    assert remedy in result.err
    assert result.out == ""


def crawl_with_user_agents(folder: Path, *tokens: str) -> None:
    """A crawl whose decisions have tokens of their own."""
    crawl = Crawl(folder / "other")
    crawl.fetch("https://example.com")
    crawl.fetch("https://missing.example", b"", 404)
    for token in tokens:
        crawl.decide("https://example.com/", tokens=[token])
    crawl.decide("https://example.com/", tokens=[], reason="dont_obey_robotstxt")
    crawl.close()


def test_crawls_with_several_tokens_need_the_option(run_command: RunCommand, folder: Path) -> None:
    crawl_with_user_agents(folder, "examplebot", "otherbot")
    write(folder, JSON)
    result = run_command("audit", "access.log", "--evidence", "other")
    assert result.code == 2
    assert "such as examplebot and otherbot: give --token" in result.err
    result = run_command("audit", "access.log", "--evidence", "other", "--token", "examplebot")
    assert result.code == 1


def test_json_tells_all(run_command: RunCommand, folder: Path) -> None:
    """One object on one line."""
    write(folder, JSON)
    options = ("audit", "access.log", "--evidence", "evidence")
    replayed = run_command("replay", "evidence", "--json").out
    assert counts(replayed, "decisions", "agree", "differ") == (5, 5, 0)
    for words in (("replay", "evidence"), options):
        values = json.loads(run_command(*words, "--json").out)
        assert values["problems"] == []
        assert values["complete"] is True
        assert values["end"]["decisions"] == 5
        assert values["last_hash"] == values["runs"][0]["last_hash"]


@pytest.mark.parametrize(("by_rules", "share"), [(1000, "100"), (999, "99"), (9, "< 1"), (0, "0")])
def test_no_share_of_pages_is_rounded_to_all_or_nothing(by_rules: int, share: str) -> None:
    """One page in a thousand that left otherwise is not nothing, and nine by rules are some."""
    found = audit._summary(ReplayResult(sent=1000, sent_by_rules=by_rules))
    assert f"pages that left: 1,000, by rules: {by_rules:,} ({share} %)" in [*found]


def test_hashes_published_elsewhere_are_compared(run_command: RunCommand, folder: Path) -> None:
    write(folder, JSON)
    digest = json.loads(run_command("replay", "evidence", "--json").out)["last_hash"]
    audit = ("audit", "access.log", "--evidence", "evidence")
    assert run_command("replay", "evidence", "--expect", digest.upper()).code == 0
    for words in (("replay", "evidence"), audit):
        result = run_command(*words, "--expect", "0" * 64)
        assert result.code == 1
        assert "no run ends with the expected hash 000" in result.err


def test_a_run_without_its_end_is_a_problem_if_asked_for(
    run_command: RunCommand, folder: Path
) -> None:
    (log,) = (folder / "evidence").glob("decisions-*")
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-1]))
    assert run_command("replay", "evidence").code == 0
    result = run_command("replay", "evidence", "--complete")
    assert result.code == 1
    assert "has no last line" in result.err


def test_a_changed_first_line_is_changed_evidence(run_command: RunCommand, folder: Path) -> None:
    """Not a call for --token."""
    (log,) = (folder / "evidence").glob("decisions-*")
    log.write_bytes(log.read_bytes().replace(b'"software":"tests"', b'"software":"TESTS"'))
    write(folder, JSON)
    for words in (("replay", "evidence"), ("audit", "access.log", "--evidence", "evidence")):
        result = run_command(*words)
        assert result.code == 1
        assert "line 1 is not as it was written: the evidence was changed" in result.err
    Crawl(folder / "evidence", "20260131T130000Z-2-abcdef00").close()
    values = json.loads(run_command("replay", "evidence", "--json").out)
    assert values["complete"] is False  # though the last run is
    assert log.name in values["problems"][0]


def test_rules_that_do_not_follow_from_the_archive_are_changed_evidence(
    run_command: RunCommand, folder: Path
) -> None:
    """They would excuse any request: the owner can seal the log again."""
    lines = lines_of(folder / "evidence")
    for line in lines:
        if line["type"] == "state":
            line["record"] |= {"meaning": "allow", "status": 404}
            line |= {"body_record": None, "body_sha256": ""}
    write_lines(folder / "evidence", lines)
    write(folder, JSON)
    result = run_command("audit", "access.log", "--evidence", "evidence")
    assert result.code == 1
    assert "the state does not follow from the archived exchanges" in result.err


def test_explain_shows_the_decision_about_each_disallowed_request(
    run_command: RunCommand, folder: Path
) -> None:
    write(folder, ['{"time": 1769860802.5, "url": "https://example.com/private/x"}'])
    options = ("audit", "access.log", "--evidence", "evidence", "--explain")
    first, second, third, *_ = run_command(*options).out.splitlines()[3:]
    assert "https://example.com/private/x: disallowed (line 2: Disallow: /private/)" in first
    assert second == "  disallowed when decided 2026-01-31T12:00:01.000000Z"
    assert 'jsonl: line 9: {"type": "decision", "number": 3' in third
    (accused,) = json.loads(run_command(*options, "--json").out)["accused"]
    assert accused["decision"]["values"]["number"] == 3


def with_stamp(folder: Path, reply: bytes | None) -> Path:
    """Evidence that names a time stamp, and its reply."""
    crawl = Crawl(folder / "stamped", header={"timestamp": True})
    crawl.close()
    stamp = folder / "stamped" / f"decisions-{crawl.name}.tsr"
    if reply is not None:
        stamp.write_bytes(reply.replace(b"HASH", bytes.fromhex(crawl.writer.hash)))
    return stamp


@pytest.mark.parametrize("reply", [None, b"", b"other"])
def test_a_missing_time_stamp_is_a_problem(
    run_command: RunCommand, folder: Path, reply: bytes | None
) -> None:
    stamp = with_stamp(folder, reply)
    result = run_command("replay", "stamped")
    assert result.code == 1
    assert f"{stamp.name}: no time stamp" in result.err


def test_no_more_of_a_time_stamp_is_read_than_a_reply_has(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SAF-05: a folder may contain a file of any size."""
    monkeypatch.setattr(run_reader, "MAX_REPLY", 100)
    read: list[int] = []
    monkeypatch.setattr(run_reader, "check_reply", lambda reply, digest: read.append(len(reply)))
    with_stamp(folder, bytes(1000))
    replay(folder / "stamped")
    assert read == [100]


def test_a_request_of_another_visitor_is_unknown(run_command: RunCommand, folder: Path) -> None:
    """The log of a site has those of all visitors."""
    header = {"values": {"USER_AGENT": "Mozilla/5.0 (own)"}}
    crawl = Crawl(folder / "own", header=header)
    crawl.fetch("https://example.com", headers=["Host: a", "User-Agent: Mozilla/5.0 (page's)"])
    crawl.decide("https://example.com/")
    crawl.close()
    own = (
        *("ExampleBot/1.0", "Mozilla/5.0 (own)", "Mozilla/5.0 (page's)"),
        *("Mozilla/5.0 (compatible; examplebot; +http://a.example)", "a examplebot2 b"),
    )
    others = "Mozilla/5.0", "otherbot/1.0", "-", "ExampleBot-News/1.0", "anexamplebot/1.0"
    write(folder, [f'{COMMON[2]} "-" "{agent}"' for agent in own + others] + COMMON[2:3])
    words = ("audit", "access.log", "--evidence", "own", *SITE, "--json")
    result = run_command(*words)
    names = ("requests", "disallowed", "unknown", "other_agents")
    assert counts(result.out, *names) == (11, 5, 6, 6)
    named = "'Mozilla/5.0', 'otherbot/1.0', '' and 2 more; for a log of the crawls alone"
    assert f"User-Agent that is not the crawls': 6, of {named}" in result.err
    assert "without it, such as common" in result.err
    for token in ("*", "Mozilla"):  # which name no crawler
        assert counts(run_command(*words, "--token", token).out, *names) == (11, 2, 9, 9)
    assert counts(run_command(*words, "--log-format", "common").out, *names) == (11, 11, 0, 0)
    write(folder, COMMON[2:3])
    assert counts(run_command(*words).out, *names) == (1, 1, 0, 0)


def test_a_path_may_begin_with_two_slashes(run_command: RunCommand, folder: Path) -> None:
    """RFC 9112 section 3.2.1: in a log without hosts it is a path of the site."""
    crawl = Crawl(folder / "slashes")
    crawl.fetch("https://example.com", b"User-agent: *\nDisallow: //private/\n")
    crawl.decide("https://example.com/")
    crawl.close()
    write(folder, [COMMON[2].replace("/private", "//private"), COMMON[2]])
    result = run_command("audit", "access.log", "--evidence", "slashes", *SITE, "--json")
    assert counts(result.out, "requests", "disallowed", "unknown") == (2, 1, 0)


@pytest.mark.parametrize("url", ["dns:shop.example", "http://127.0.0.1:99999/x", "http://"])
def test_a_request_of_no_valid_origin_is_unknown(
    run_command: RunCommand, folder: Path, url: str
) -> None:
    """It was not checked, so it did not obey."""
    write(folder, [json.dumps({"time": 1769860802.5, "url": url})])
    result = run_command("audit", "access.log", "--evidence", "evidence", "--json")
    assert counts(result.out, "requests", "disallowed", "unknown") == (1, 0, 1)
    assert json.loads(result.out)["without_evidence"] == [url]
    assert re.search(f"note: without evidence, which is of .*: {re.escape(url)}", result.err)


def test_no_time_is_named_where_no_run_is_left(run_command: RunCommand, folder: Path) -> None:
    """A process that was killed at once leaves empty files."""
    write(folder, [COMMON[1]])
    for path in (folder / "evidence").glob("*-*"):
        path.write_bytes(b"")
    words = ("--token", "examplebot", *SITE)
    result = run_command("audit", "access.log", "--evidence", "evidence", *words)
    assert "note: without evidence: https://example.com" in result.err.splitlines()


def test_an_address_in_front_of_a_line_is_no_site(run_command: RunCommand, folder: Path) -> None:
    """As of ``%{X-Forwarded-For}i %h``: the site is that of --origin."""
    heads = ["203.0.113.5 ", "2001:db8::7 ", "- ", "203.0.113.5, 10.0.0.1 "]
    write(folder, [head + COMMON[2] for head in heads])
    result = run_command("audit", "access.log", "--evidence", "evidence", *SITE, "--json")
    assert counts(result.out, "requests", "disallowed", "unknown") == (4, 4, 0)


def test_a_long_line_is_not_read_and_its_rest_is_none(
    run_command: RunCommand, folder: Path
) -> None:
    """What follows could look like another request."""
    write(folder, ["x" * 2**17 + COMMON[2], COMMON[1]])
    result = run_command("audit", "access.log", "--evidence", "evidence", *SITE, "--json")
    assert counts(result.out, "requests", "disallowed", "not_read") == (1, 0, 1)
    assert "line 1: longer than 131,072 bytes" in result.err


def test_a_log_must_be_readable_for_the_most_part(run_command: RunCommand, folder: Path) -> None:
    """As many lines that are not read as others are a note."""
    words = ("audit", "access.log", "--evidence", "evidence", *SITE)
    write(folder, [COMMON[1], COMMON[1], "a", "b"])
    result = run_command(*words)
    assert result.code == 0
    assert "note: 2 lines cannot be read, such as line 3" in result.err
    write(folder, [COMMON[1], COMMON[1], "a", "b", "c"])
    result = run_command(*words)
    assert (result.code, result.out) == (2, "")


def test_the_usual_reason_is_named_rather_than_an_unknown_format(
    run_command: RunCommand, folder: Path
) -> None:
    write(folder, ["a", "b", "#Fields: date time cs-uri-stem"])
    result = run_command("audit", "access.log", "--evidence", "evidence", *SITE)
    assert "3 lines of access.log cannot be read, such as line 3: W3C extended" in result.err


def test_notes_about_a_log(run_command: RunCommand, folder: Path) -> None:
    """Its hosts and User-Agents, times without a zone, and queries that are cut."""
    lines = [f"a.example {COMMON[1]}", f"b.example {COMMON[1].replace(' +0000', '')}"]
    write(folder, [*lines, COMMON[2].replace("/private/a", "/p?")])
    result = run_command("audit", "access.log", "--evidence", "evidence", *SITE)
    assert result.err.splitlines() == [
        "note: 3 requests read, no User-Agents; hosts in the log: a.example, b.example",
        "note: times without a zone are taken as UTC, or as --zone says",
        "note: the log leaves out what follows a question mark: rules with a query cannot match",
        (
            "note: without evidence, which is of 2026-01-31T12:00:00Z to 2026-01-31T12:01:00Z: "
            "https://a.example, https://b.example"
        ),
    ]

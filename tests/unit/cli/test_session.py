"""Command lines that cannot be answered: exit code 2 and one line that says what to write."""

from __future__ import annotations

import gzip
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import scrapy_robotspec
from scrapy_robotspec.cli.app import COMMANDS
from tests.support.command_line import SHOP, RunCommand, shell

ROOT = Path(scrapy_robotspec.__file__).parents[1]

MISUSES = [
    ("check robots.txt", "give at least one URL or path"),
    ("check mailto:x /", "cannot read 'mailto:x': No such file"),
    ("check robots.txt --json", "'robots.txt' is the FILE with the rules"),
    ("check robots.txt cart", "'cart' is neither a URL of a site nor a path: write https://"),
    ("check missing.txt /", "cannot read 'missing.txt': No such file"),
    ("check empty /", "no file in the folder empty ends in .txt or .robots"),
    (
        "check missing.txt / --token a",
        "- for standard input; for a site, write https://example.com",
    ),
    ("check shop.example/robots.txt /", "for a site, write https://shop.example/robots.txt"),
    ("check shop.example/a", "for a site, write https://shop.example/a"),
    ("check shop.example", "for a site, write https://shop.example"),
    ("check robots.txt shop.example:8080/a", "for a site, write https://shop.example:8080/a"),
    ("lint shop.example", "for a site, write https://shop.example"),
    ("check /page robots.txt", "write https://example.com/page, or /page, after FILE"),
    ("check", "give a FILE and at least one URL or path"),
    ("check --urls paths.txt", "'/cart/1' belongs to no site: give a FILE"),
    ("explain . / --html page.html", "call it for each of them, with a page of its own"),
    ("check robots.txt --urls http://a.example/x", "write http://a.example/x without --urls"),
    ("diff robots.txt new.txt --urls https://a.example/", "/ without --urls"),
    ("check robots.txt / --token MJ12bot", "its group is found under 'MJ'"),
    ("check robots.txt / --token 42", "must be a product token"),
    ("check robots.txt / --token a --each-token", "exclude each other"),
    ("check https://shop.example/ --each-token", "is for the crawlers of a file"),
    ("check --sitemap https://shop.example/s --each-token", "is for the crawlers of a file"),
    ("check robots.txt / --edition rfc", "'rfc' is not one of 'google-2019'"),
    ("check robots.txt /x --sitemap robots.txt", "--sitemap takes the place of URLs"),
    ("check - --urls -", "standard input (-) can be read for one thing only"),
    ("check http://[ /page", "'http://[' is not a URL of a site"),
    ("diff robots.txt", "Missing argument 'NEW'"),
    ("editions --each-token", "Missing argument 'FILE'"),
    ("robots.txt", "no such command: 'robots.txt'; commands are check, explain"),
    ("chekc robots.txt /", "no such command: 'chekc'; did you mean check?"),
    ("check robots.txt / --token a,b", "under 'a'; for a list, give --token again"),
    ("check robots.txt / --tokn x", "--token"),
    ("lint robots.txt --select RS999", "no such code: 'RS999'"),
    ("lint --select", "Try 'robotspec lint --help'"),
    ("lint --explain RS30", "no such code: 'RS30'; give one such as RS3"),
    ("lint --explain no-leadin-slash", "give one such as no-leading-slash"),
    ("lint robots.txt --ignore deadrule", "no such code: 'deadrule'; give one such as dead-rule"),
    ("lint robots.txt --select xyz", "give one such as RS301 or no-leading-slash"),
    ("lint", "give a FILE, or --explain CODE"),
    ("diff . new.txt", "give one file, not a folder of several"),
    ("check robots.txt --urls none.txt", "none.txt lists no URL"),
    ("check robots.txt --urls utf16.txt", "utf16.txt is UTF-16: save it as UTF-8"),
    ("check robots.txt --urls packed.gz", "packed.gz is not text: unpack it, or save it as UTF-8"),
    ("bulk robots.txt --tokens packed.gz --out out", "packed.gz is not text: unpack it, or save"),
    ("check robots.txt /a --usage Train-AI", "--usage is 'Train-AI': give the label of a use"),
    ("lint robots.txt --statistics --format sarif", "--format sarif lists them: give one"),
    ("replay ''", "cannot read '': No such file or directory; give the folder of"),
    ("audit robots.txt --evidence ''", "cannot read '': No such file or directory; give the"),
    ("lint - --fix", "--fix changes files: give paths"),
    ("bulk robots.txt --tokens x --out taken.csv", "File exists; --out needs a folder"),
    ("bulk robots.txt --tokens x --out ''", "cannot write to '': "),
    ("bulk robots.txt --tokens x --out robots.txt", "is in a folder of inputs"),
    ("bulk robots.txt --tokens x --out out --format xml", "xml"),
    ("bulk more --tokens x --out more/out", "is in a folder of inputs"),
    ("bulk missing --tokens x --out out", "cannot read 'missing': no such file or folder"),
    ("bulk '' --tokens x --out out", "cannot read '': no such file or folder"),
    ("bulk robots.txt --tokens '' --out out", "--tokens '': give a file of names"),
    ("bulk no.warc.gz --tokens x --out out", "cannot read 'no.warc.gz': no such file or folder"),
    ("bulk paths.md --tokens x --out out", "cannot read 'paths.md': give a WARC file"),
    ("bulk robots.txt --tokens names.txt --out out", "cannot read names.txt: no such file"),
    ("bulk robots.txt --tokens , --out out", "give a file of names"),
    (
        "bulk robots.txt --tokens @all --out out",
        "give a file of names, names with commas, or @known",
    ),
    ("bulk robots.txt --tokens x,@known --out out", "--tokens 'x,@known': give a file of names"),
    (
        "bulk robots.txt --tokens x --paths a,/b --out out",
        "paths contains 'a': a path begins with a slash",
    ),
    ("bulk robots.txt --tokens x --edition no --out out", "no"),
    ("bulk robots.txt --out out", "--tokens"),
    ("bulk robots.txt --tokens x", "--out"),
]


@pytest.mark.parametrize(
    ("command", "remedy"), [pytest.param(*misuse, id=misuse[0]) for misuse in MISUSES]
)
def test_misuse_exits_with_2_and_names_the_remedy(
    run_command: RunCommand, folder: Path, command: str, remedy: str
) -> None:
    """Nothing looks like an answer, and nothing is written."""
    (folder / "taken.csv").write_text("a,b\n")
    (folder / "more").mkdir()
    (folder / "more/a.txt").touch()
    (folder / "empty").mkdir()
    (folder / "paths.txt").write_text("/cart/1\n")
    (folder / "paths.md").touch()
    (folder / "none.txt").write_text("# nothing yet\n")
    (folder / "utf16.txt").write_text("/cart/1\n", encoding="utf-16")
    (folder / "packed.gz").write_bytes(gzip.compress(b"/cart/1\n"))
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    result = run_command(*shlex.split(command))
    assert result.code == 2
    assert remedy in result.err
    assert result.out == ""
    assert result.err.count("\n") == 1 + ("\nTry 'robotspec " in result.err)
    assert not list(folder.rglob("out"))
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


FILES = ["robots.txt", "new.txt", "empty.txt", "binary.txt", "missing.txt", "folder", "", "x y"]
URLS = ["/", "/cart/1", "https://shop.example/a", "http://[/", "shop.example", "?", "/\udce9"]
OPTIONS = [
    *("--json", "-q", "--color", "--each-token", "--advice", "--statistics", "--fix", "--all"),
    *("--token=GPTBot", "--token=42", "--edition=google", "--edition=x", "--timeout=0", "--nope"),
    *("--urls=urls.txt", "--urls=binary.txt", "--urls=missing.txt", "--usage=x", "--disallowed"),
    *("--html=page.html", "--html=robots.txt", "--html=", "--html=folder", "--html=-", "--force"),
    *("--sitemap=urls.txt", "--select=RS", "--select=x", "--ignore=", "--format=sarif"),
    *("--explain=RS301", "--expect=x", "--complete", "--evidence=folder", "-h", "--"),
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.sampled_from([*COMMANDS, "chek", ""]).filter("bulk".__ne__),
    st.lists(st.sampled_from(FILES), max_size=2),
    st.lists(st.sampled_from(URLS), max_size=2),
    st.lists(st.sampled_from(OPTIONS), max_size=3),
)
def test_every_command_line_gets_an_answer_or_one_line(
    run_command: RunCommand, command: str, files: list[str], urls: list[str], options: list[str]
) -> None:
    """Exit code 1 with something found on standard output, 2 with a line and no answer."""
    folder = Path("folder")
    folder.mkdir(exist_ok=True)
    (folder / "a.txt").write_text("User-agent: *\nDisallow: /\n")
    Path("robots.txt").write_text(SHOP)  # as before --fix
    Path("empty.txt").touch()
    Path("binary.txt").write_bytes(bytes(range(256)))
    Path("page.html").unlink(missing_ok=True)
    result = run_command(command, *files, *urls, *options)
    assert result.code in (0, 1, 2)
    if result.code == 1:
        assert result.out
    if result.code == 2:
        assert result.err
        if "--urls=binary.txt" not in options:  # which has some valid lines
            assert result.out == ""


def test_urls_of_several_origins_get_a_note(run_command: RunCommand) -> None:
    """LOC-02: a file is valid for one origin; the output says so for two."""
    result = run_command(
        "check", "robots.txt", "http://a.example/", "https://a.example/", "HTTP://A.example"
    )
    assert "belong to 2 origins" in result.err
    assert not run_command("check", "robots.txt", "http://a.example/", "/x", "-q").err


@pytest.mark.parametrize("command", ["check", "explain", "editions"])
def test_url_of_another_origin_than_the_file_gets_a_note(
    run_command: RunCommand, command: str
) -> None:
    """LOC-02: ``example.com`` and ``www.example.com`` have a file each."""
    site = "http://127.0.0.1:1"  # the note is written before it is queried
    result = run_command(command, f"{site}/robots.txt", "http://a.example/", "http://a.example/b")
    assert "belong to 2 origins" in result.err
    assert "belong" not in run_command(command, f"{site}/robots.txt", "/x", f"{site}/y").err


def test_standard_input_serves_as_file_and_as_list(folder: Path) -> None:
    """``-`` is the robots.txt, or the list of URLs."""
    result = shell("check - /a", folder, "User-agent: *\nDisallow: /a\n")
    assert (result.returncode, result.stdout) == (1, "disallowed  /a  (line 2: Disallow: /a)\n")
    assert shell("lint -", folder, "Dissallow: /a\n").stdout.startswith("<stdin>:1: RS")
    result = shell("check robots.txt --urls -", folder, "/cart/\r\n/x\r\n")
    assert result.stderr == "2 answers: 1 allowed, 1 disallowed\n"


@pytest.mark.parametrize(
    "words", ["check - /a", "show -", "lint -", "editions - /a", "diff - robots.txt"]
)
def test_standard_input_is_read_as_far_as_an_edition_reads(folder: Path, words: str) -> None:
    """A site may send a robots.txt without an end."""
    endless = "ulimit -v 2000000; { echo 'User-agent: *'; yes 'Disallow: /a'; } | "
    result = shell(f"{words} --json", folder, start=endless)
    assert result.returncode in (0, 1)
    assert "too long" in result.stdout or "crawlers read its first" in result.stderr


def test_a_terminal_without_utf8_gets_escapes_and_no_traceback(folder: Path) -> None:
    """What such a terminal cannot show is written as an escape."""
    (folder / "f.txt").write_text("User-agent: *\nDisallow: /é\n", encoding="utf-8")
    result = shell("check f.txt /é", folder, LC_ALL="C", PYTHONIOENCODING="ascii")
    assert (result.returncode, result.stderr) == (1, "")
    assert result.stdout.startswith(r"disallowed  /\xe9")


def test_a_reader_that_goes_away_causes_no_traceback(folder: Path) -> None:
    """``… | head -1`` ends quietly, with an exit code that no answer has."""
    (folder / "many.txt").write_text("/cart/x\n" * 50_000)
    for words in ("check robots.txt --urls many.txt", "check robots.txt --urls many.txt --json"):
        done = shell(f"{words} | head -1", folder)
        assert (done.stdout.count("\n"), done.stderr) == (1, "")
    for words in ("check robots.txt --urls many.txt", "show robots.txt", "-h"):
        done = shell(f"{words}; echo $? >&2) | :", folder, start="(sleep 0.1; ")
        assert done.stderr == "141\n"


@pytest.mark.parametrize("words", ["show -", "check robots.txt --urls -"])
def test_closed_standard_input_is_an_error_in_one_line(folder: Path, words: str) -> None:
    """As a service may start a command."""
    done = shell(f"{words} <&-", folder)
    name = f"robotspec {words.partition(' ')[0]}"
    assert done.stderr == f"{name}: cannot read standard input (-): it is closed\n"
    assert done.returncode == 2


@pytest.mark.parametrize(("page", "code"), [("/cart/x", 1), ("/x", 0)])
def test_closed_output_leaves_the_exit_code(folder: Path, page: str, code: int) -> None:
    """A script may want nothing else."""
    assert shell(f"check robots.txt {page} >&- 2>&-", folder).returncode == code


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("words", ["check robots.txt /x", "check robots.txt /x --html -", "-h"])
def test_full_disk_is_an_error_in_one_line(folder: Path, words: str) -> None:
    """``robotspec … > answers.txt`` where nothing can be written."""
    done = shell(f"{words} >/dev/full", folder)
    assert done.stderr == "robotspec: cannot write standard output: No space left on device\n"
    assert done.returncode == 2


def test_not_enough_memory_never_looks_like_an_answer(folder: Path) -> None:
    """Exit code 70 and one line, as 1 means disallowed."""
    with (folder / "huge.txt").open("wb") as file:
        file.truncate(4 * 2**30)
    done = shell("check robots.txt --urls huge.txt", folder, start="ulimit -v 1000000; ")
    assert (done.returncode, done.stdout) == (70, "")
    assert done.stderr == "robotspec: not enough memory\n"


def test_an_error_of_the_tool_never_looks_like_an_answer(
    run_command: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 70, and what a report about it needs."""
    monkeypatch.setattr("scrapy_robotspec.cli.check.read_urls", lambda *files: 1 / 0)
    result = run_command("check", "robots.txt", "/x")
    assert (result.code, result.out) == (70, "")
    assert "ZeroDivisionError" in result.err
    assert result.err.endswith("robotspec: an error of this tool, please report it\n")


def test_an_error_that_cannot_be_shown_keeps_its_exit_code(folder: Path) -> None:
    """The reader of standard error has gone away, or the device is full."""
    for reader in ("2>/dev/full", "2>&1 >/dev/null | :"):
        for words, code in (("check missing.txt /", 2), ("lint robots.txt", 1), ("-V", 0)):
            done = shell(f"{words}; echo $? >&3; }} {reader}) 3>&1", folder, start="({ ")
            assert done.stdout.splitlines()[-1] == str(code)


@pytest.mark.parametrize(
    "token", ["GPTBot/1.2", "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"]
)
@pytest.mark.parametrize("edition", ["google-2019", "classic"])
def test_user_agent_header_is_cut_to_its_product_token(
    run_command: RunCommand, token: str, edition: str
) -> None:
    """UAG-10, UAG-11: the command line takes what the setting takes."""
    result = run_command("check", "robots.txt", "/x", "--token", token, "--edition", edition)
    assert result.lines == ["disallowed  /x  (line 6: Disallow: /)"]


BULK = "robotspec bulk needs pyarrow and FastWARC: pip install 'scrapy-robotspec[bulk]'"


@pytest.mark.parametrize(
    ("module", "words", "remedy"),
    [
        ("pyarrow", "bulk robots.txt --tokens x --out out", BULK),
        ("fastwarc", "bulk robots.txt --tokens x --out out", BULK),
    ],
)
def test_missing_extra_is_named_with_the_command_that_installs_it(
    folder: Path, module: str, words: str, remedy: str
) -> None:
    """In a process of its own: importing modules again would give this one two copies of them."""
    program = (
        f"import sys; sys.modules[{module!r}] = None; from scrapy_robotspec.__main__ import main; "
        "sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *words.split()],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert remedy in done.stderr
    assert "Traceback" not in done.stderr

"""``robotspec`` and ``scrapy robotspec`` in processes of their own, against local sites."""

from __future__ import annotations

import configparser
import gzip
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

import pytest

import scrapy_robotspec
from tests.support.command_line import (
    COMMAND,
    HOSTILE,
    PROJECT_SETTINGS,
    SHOP,
    CommandResult,
    check_json,
    install_command,
)
from tests.support.crawl import MODES
from tests.support.crawl_starter import ForkedProcess
from tests.support.html_page import check as check_page
from tests.support.responses import redirect, reply, silence
from tests.support.server import Server

ROOT = Path(scrapy_robotspec.__file__).parents[1]

MUCH_MORE = """\
ROBOTSPEC_CACHE = "sqlite:///robots.db"
ROBOTSPEC_REPORT = "report.jsonl"
FEEDS = {"items.json": {"format": "json", "overwrite": True}}
ITEM_PIPELINES = {"project.pipelines.NotThere": 1}
JOBDIR = "job"


def ROBOTSPEC_USER_AGENT_TOKEN(request, crawler):
    return "GPTBot" if "/ai/" in request.url else "examplebot"
"""


@dataclass(frozen=True)
class Folder:
    """A working directory in which commands are called."""

    path: Path

    def call(self, *words: str) -> CommandResult:
        """``scrapy robotspec …`` with the package's command, as its installation declares it."""
        return self._call("scrapy", "robotspec", *words)

    def robotspec(self, *words: str) -> CommandResult:
        """``robotspec …``."""
        return self._call("scrapy_robotspec", *words)

    def _call(self, *words: str) -> CommandResult:
        with TemporaryFile() as out, TemporaryFile() as err:
            process = ForkedProcess(words, self.path, {}, out, err)
            code = process.wait(60)
            assert code is not None, f"no end: {words}"
            out.seek(0)
            err.seek(0)
            result = CommandResult(code, out.read().decode(), err.read().decode())
        check_json(words[words[0] == "scrapy" :][1:], result.out)
        return result


@pytest.fixture
def outside(tmp_path: Path) -> Folder:
    """No project; the command is found by its entry point."""
    install_command(tmp_path)
    return Folder(tmp_path)


@pytest.fixture
def project(outside: Folder) -> Folder:
    """A project with a token hook, a cache in a file, and much that must be left alone."""
    (outside.path / "scrapy.cfg").write_text("[settings]\ndefault = project_settings\n")
    (outside.path / "project_settings.py").write_text(PROJECT_SETTINGS + MUCH_MORE)
    return outside


def test_the_package_declares_the_command() -> None:
    """Installing the package makes ``scrapy robotspec`` known."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    declared = setup["options.entry_points"]["scrapy.commands"]
    assert declared.split() == ["robotspec", "=", COMMAND]


def test_the_module_that_scrapy_always_loads_is_light() -> None:
    """Every call of ``scrapy`` imports it, so it brings no more than Scrapy's base class does."""
    program = (
        "import sys; import scrapy.commands; before = set(sys.modules); "
        "import scrapy_robotspec.plugin.commands; print(*sorted(set(sys.modules) - before))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    ours = {name for name in loaded if name.startswith("scrapy_robotspec")}
    assert {name.removeprefix("scrapy_robotspec") for name in ours} == {
        *("", ".errors", ".plugin", ".plugin.commands", ".signals"),
    }
    assert not [name for name in loaded if name.startswith(("twisted", "scrapy."))]


def test_explain_shows_how_robots_txt_was_obtained(server: Server, project: Folder) -> None:
    """EXT-02: origin, hops, status, meaning, age, group, rules, edition; exit 0 for an allowed."""
    target = server.site("127.0.0.1", SHOP)
    site = server.site("127.0.0.2", redirect(target.url("/robots.txt"), 302))
    result = project.call("explain", site.url("/cart/help"))
    assert result.code == 0
    labels = {line[2:12].strip() for line in result.out.splitlines()}
    assert {"origin", "robots.txt", "redirect", "status", "meaning", "age"} <= labels
    assert f"302 from {site.url('/robots.txt')} to {target.url('/robots.txt')}" in result.out
    assert "line 11: Allow: /cart/help$" in result.out
    assert "(fetched just now), kept for 24 h" in result.out
    assert result.err == ""
    assert target.pages_asked == []
    assert site.pages_asked == []


def test_the_projects_hook_and_cache_are_used_and_its_output_is_left_alone(
    server: Server, project: Folder
) -> None:
    """The second question is answered from the project's store; nothing of the project runs."""
    for name in ("items.json", "report.jsonl"):
        (project.path / name).write_text("precious")
    site = server.site("127.0.0.3", SHOP)
    first = project.call("check", site.url("/ai/x"), site.url("/x"))
    assert first.code == 1
    assert first.out.splitlines()[:2] == [
        f"disallowed  {site.url('/ai/x')}  (line 6: Disallow: /)",
        f"allowed     {site.url('/x')}  (no rule of the group matches)",
    ]
    second = project.call("explain", site.url("/ai/x"), "--json")
    result = json.loads(second.out)
    assert (result["allowed"], result["line"], result["tokens"]) == (False, 6, ["GPTBot"])
    assert result["fetched_now"] is False
    assert len(site.robots_asked) == 1
    assert (project.path / "items.json").read_text() == "precious"
    assert (project.path / "report.jsonl").read_text() == "precious"
    assert not (project.path / "job").exists()


#: A scheduler whose queue, shared with the crawls of a project, ends with the spider, and an
#: extension that informs others.
PARTS_WITH_EFFECTS = """\
from pathlib import Path

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler

QUEUE = Path("queue.txt")


class SharedScheduler(BaseScheduler):
    def close(self, reason):
        QUEUE.unlink()

    def has_pending_requests(self):
        return bool(QUEUE.read_text())

    def enqueue_request(self, request):
        return False

    def next_request(self):
        first, _, others = QUEUE.read_text().partition("\\n")
        QUEUE.write_text(others)
        return Request(first) if first else None


class Notifier:
    def __init__(self, crawler):
        crawler.signals.connect(self.closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def closed(self, spider):
        Path("sent.txt").write_text(spider.name)
"""


@pytest.mark.parametrize("words", [["check"], ["check", "--sitemap"], ["doctor"]])
def test_a_shared_queue_and_other_programs_see_nothing_of_it(
    server: Server, project: Folder, words: list[str]
) -> None:
    """Neither does the file of a feed in the old spelling."""
    site = server.site("127.0.0.3", SHOP, pages={"/map.txt": reply("http://127.0.0.3/about")})
    (project.path / "effects.py").write_text(PARTS_WITH_EFFECTS)
    with (project.path / "project_settings.py").open("a") as settings:
        settings.write(
            'FEEDS = {}\nFEED_URI = "items.json"\nSCHEDULER = "effects.SharedScheduler"\n'
            'EXTENSIONS = {"effects.Notifier": 1}\n'
        )
    waiting = "\n".join(site.url(f"/waiting/{number}") for number in range(9))
    (project.path / "queue.txt").write_text(waiting)
    kept = {path.name for path in project.path.iterdir()}
    asked = [] if words == ["doctor"] else [site.url("/map.txt")]
    result = project.call(*words, *asked)
    assert site.pages_asked == (["/map.txt"] if "--sitemap" in words else [])
    left = {path.name for path in project.path.iterdir()}
    assert left - kept <= {"__pycache__", "robots.db"}
    assert kept <= left
    assert (project.path / "queue.txt").read_text() == waiting
    assert (result.code, result.err) == (0, "")


@pytest.mark.parametrize(
    ("setting", "tokens"),
    [
        ('USER_AGENT = "examplebot/1.0"', ["examplebot"]),
        ('USER_AGENT = "other"\nROBOTSTXT_USER_AGENT = "examplebot"', ["examplebot"]),
        ('DEFAULT_REQUEST_HEADERS = {"user-agent": b"examplebot/2.0"}', ["examplebot"]),
        ('ROBOTSPEC_USER_AGENT_TOKEN = ["examplebot", "other"]', ["examplebot", "other"]),
        ("del USER_AGENT", ["Scrapy"]),
    ],
)
def test_the_crawler_of_a_project_is_asked_about(
    server: Server, project: Folder, setting: str, tokens: list[str]
) -> None:
    """For a file as for a site: where its crawls find their product token is found here, too."""
    site = server.site("127.0.0.13", SHOP)
    (project.path / "project_settings.py").write_text(PROJECT_SETTINGS + setting)
    (project.path / "robots.txt").write_text(SHOP)
    asked = [
        json.loads(project.call("check", *words, "--json").out)
        for words in ((site.url("/?sort=1"),), ("robots.txt", "/?sort=1"))
    ]
    assert [each["tokens"] for each in asked] == [tokens, tokens]
    assert asked[0]["line"] == asked[1]["line"]


def test_what_only_a_crawl_needs_is_not_imported_for_a_file(project: Folder) -> None:
    """A middleware may be missing, or import a reactor before it is chosen."""
    missing = 'DOWNLOADER_MIDDLEWARES = {"missing.Middleware": 1}\nUSER_AGENT = "examplebot"\n'
    (project.path / "project_settings.py").write_text(PROJECT_SETTINGS + missing)
    (project.path / "robots.txt").write_text(SHOP)
    result = project.call("check", "robots.txt", "/about")
    assert (result.code, result.err) == (0, "")


def test_no_crawler_is_asked_about_in_a_file_outside_a_project(outside: Folder) -> None:
    """Scrapy sets a default User-Agent, which the user has not chosen."""
    (outside.path / "robots.txt").write_text("User-agent: Scrapy\nDisallow: /\n")
    result = outside.call("check", "robots.txt", "/")
    assert (result.code, result.err) == (0, "")


def test_urls_of_other_bytes_than_utf_8_are_percent_encoded(
    server: Server, outside: Folder
) -> None:
    """As clients send them: as the FILE, as a URL and in a list."""
    site = server.site("127.0.0.14", b"User-agent: *\nDisallow: /\xff\n")
    (outside.path / "urls.txt").write_bytes(site.url("/").encode() + b"\xff\n")
    url = site.url("/\udcff")
    for words in ((url,), (site.url("/robots.txt"), url), ("--urls", "urls.txt")):
        result = outside.call("check", *words)
        assert result.out == rf"disallowed  {site.url('/%FF')}  (line 2: Disallow: /\xff)" + "\n"


def test_check_tells_each_outcome_and_exits_with_the_worst(server: Server, outside: Folder) -> None:
    """Allowed, disallowed, no file, unreachable, no robots.txt, no host: in order; exit 3."""
    rules = server.site("127.0.0.4", b"User-agent: *\nDisallow: /x # \x1b[31m\xe2\x80\xae\n")
    missing = server.site("127.0.0.5", reply(SHOP, status=404))
    broken = server.site("127.0.0.6", reply("", status=503))
    silent = server.site("127.0.0.7", silence())
    (outside.path / "urls.txt").write_text(
        f"{silent.url()}\n\ns3://x/y\nhttp://\nhttp://127.0.0.19:9/\n"
    )
    result = outside.call(
        "check",
        rules.url("/x"),
        missing.url("/cart/"),
        broken.url(),
        *("--urls", "urls.txt", "--token", "examplebot", "--timeout", "4"),
    )
    assert result.code == 3
    assert " ".join(line.split()[0] for line in result.out.splitlines()) == (
        "disallowed allowed disallowed disallowed allowed no disallowed"
    )
    for words in (
        r"(line 2: Disallow: /x # \x1b[31m\u202e (read as /x))",
        "the site has no robots.txt",
        "robots.txt unreachable: HTTP status 503",
        "http://127.0.0.19:9/  (robots.txt unreachable: ",
        "robots.txt unreachable: no answer within 4 s",
        "a URL of this scheme has no robots.txt",
        "no answer   http://  (the URL has no valid host)",
    ):
        assert words in result.out
    assert "lacks scrapy_robotspec.Addon" in result.err
    assert all(line.isprintable() for line in result.out.splitlines())


def test_an_override_is_named_and_nothing_is_requested(server: Server, project: Folder) -> None:
    """Where the user has decided for a host, that is the answer, as it would be in a crawl."""
    site = server.site("127.0.0.12", "")
    overrides = {site.host: "User-agent: *\nDisallow: /"}
    result = project.call(
        "explain", site.url("/x"), "-s", f"ROBOTSPEC_OVERRIDES={json.dumps(overrides)}"
    )
    assert result.code == 1
    assert "(ROBOTSPEC_OVERRIDES, line 2: " in result.out
    assert "group      * (from line 1)" in result.out
    assert site.log == []


@pytest.mark.parametrize("edition", ["google-2019", "google"])
def test_the_text_of_an_override_is_the_file_of_its_site(
    server: Server, project: Folder, edition: str
) -> None:
    """In every command, which says so, also in an edition in which it disallows itself."""
    site = server.site("127.0.0.15", SHOP)
    overrides = json.dumps({site.host: "User-agent: *\nDisallow: /*r\nDisalow: /"})
    settings = ["-s", f"ROBOTSPEC_OVERRIDES={overrides}", "-s", f"ROBOTSPEC_EDITION={edition}"]
    found = []
    for command in ("show", "lint", "editions"):
        words = ["/r"] if command == "editions" else []
        result = project.call(command, site.url("/"), *words, "--json", *settings)
        assert f"{site.url('/robots.txt')}: ROBOTSPEC_OVERRIDES" in result.err
        found.append(json.loads(result.out.splitlines()[0]))
    shown, finding, row = found
    assert shown["groups"][0]["rules"][0]["rule"] == "Disallow: /*r"
    assert finding["line"] in (2, 3)
    assert not row["agree"]
    assert site.log == []


def test_a_person_need_not_wait_for_an_origin_that_is_down(server: Server, project: Folder) -> None:
    """One attempt, however patient the project's crawls are; the failure is the result."""
    broken = server.site("127.0.0.8", reply("", status=500))
    result = project.call("explain", broken.url("/a"))
    assert result.code == 3
    assert "HTTP status 500" in result.out
    assert "1 failure" in result.out
    assert len(broken.robots_asked) == 1


def test_the_page_shows_how_robots_txt_was_obtained_and_the_file(
    server: Server, outside: Folder
) -> None:
    """Where there is no file the page must not look as if an empty one allowed everything."""

    def page_of(url: str, command: str = "explain") -> str:
        assert outside.call(command, url, "--token", "x", "--html", "page.html").code in (0, 1, 3)
        return check_page((outside.path / "page.html").read_text(encoding="utf-8")).text

    site = server.site("127.0.0.9", HOSTILE)
    text = page_of(site.url("/a&b';x"))
    for words in (site.url("/robots.txt"), "fetched just now", "User-agent: <script>alert(1)<"):
        assert words in text
    text = page_of(server.site("127.0.0.11", reply("", status=503)).url())
    assert "HTTP status 503" in text
    assert "allowed" not in text.replace("disallowed", "")
    text = page_of(server.site("127.0.0.12", reply("", status=404)).url(), "show")
    assert "No line was read, so everything is allowed." in text


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "asyncio"])
def test_it_works_in_every_reactor_mode(server: Server, outside: Folder, mode: str) -> None:
    """The project's reactor is the one used; without one it works, too."""
    site = server.site("127.0.0.10", SHOP)
    options = [f"--set={name}={value}" for name, value in MODES[mode].items()]
    result = outside.call("check", site.url("/cart/"), "--token", "examplebot", *options)
    assert result.code == 1, result.err
    assert result.out == f"disallowed  {site.url('/cart/')}  (line 10: Disallow: /cart/)\n"


def test_misuse_is_named_with_a_remedy(outside: Folder) -> None:
    """Exit code 2, the remedy, no traceback, no answer; --help exits with 0."""
    assert outside.call("--help").out.startswith("Usage: scrapy robotspec")
    result = outside.call("check", "http://a.example/", "-s", "ROBOTSPEC_CACHE_TTL=x")
    assert result.code == 2
    assert "ROBOTSPEC_CACHE_TTL" in result.err
    assert "Traceback" not in result.err
    assert result.out == ""


def test_a_url_is_a_file_for_every_command_outside_a_project(
    server: Server, outside: Folder
) -> None:
    """Redirects are followed; show, lint, diff and editions take the site's robots.txt."""
    target = server.site("127.0.0.13", SHOP)
    site = server.site("127.0.0.14", redirect(target.url("/robots.txt"), 301))
    (outside.path / "robots.txt").write_text(SHOP)
    result = outside.robotspec("check", site.url("/robots.txt"), "/x", "--each-token")
    assert result.err == "4 answers: 2 allowed, 2 disallowed\n"
    result = outside.robotspec("show", site.url("/any/page"), "--token", "examplebot")
    assert result.code == 0, result.err
    assert f"{site.url('/robots.txt')}: " in result.out
    assert "line 9: crawl-delay: 5" in result.out
    result = outside.robotspec("lint", site.url())
    assert (result.code, result.out.count(f"{site.url('/robots.txt')}:")) == (1, 3)
    result = outside.robotspec("diff", "robots.txt", site.url())
    assert (result.code, result.out, result.err) == (0, "", "no difference\n")
    result = outside.robotspec("editions", site.url(), "/cart/1")
    assert result.code == 0, result.err


def test_paths_belong_to_the_site_of_the_url_before_them(server: Server, outside: Folder) -> None:
    """After a robots.txt only the paths are decided; after a page also the page itself."""
    site = server.site("127.0.0.15", SHOP)
    result = outside.robotspec("check", site.url("/robots.txt"), "/cart/1", "/x")
    shown = [line.split()[1] for line in result.out.splitlines()]
    assert shown == [site.url("/cart/1"), site.url("/x")]
    (outside.path / "urls.txt").write_text(f"# a comment\n\n{site.url('/account')}\n/cart/2\nx y\n")
    result = outside.robotspec("check", site.url("/cart/1"), "--urls", "urls.txt")
    shown = [line.split()[1] for line in result.out.splitlines()]
    assert shown == [site.url(path) for path in ("/cart/1", "/account", "/cart/2")]
    assert "urls.txt:5: neither a URL nor a path, skipped: x y" in result.err
    assert len(site.robots_asked) == 2


def test_a_page_may_be_refused_for_its_use(server: Server, outside: Folder) -> None:
    """USE-05: as ROBOTSPEC_USAGE_POLICY = "refuse-disallowed" would, before the download."""
    site = server.site(
        "127.0.0.22", "User-agent: *\nContent-Usage: /ai/ train-ai=n\nDisallow: /x\n"
    )
    urls = site.url("/ai/a"), site.url("/a"), site.url("/x")
    result = outside.robotspec("check", *urls, "--usage", "search", "--usage", "train-ai")
    assert result.code == 1
    assert result.out.splitlines() == [
        (
            f"disallowed  {urls[0]}  (train-ai is disallowed by line 2: "
            "'Content-Usage: /ai/ train-ai=n')"
        ),
        f"allowed     {urls[1]}  (no rule of the group matches)",
        f"disallowed  {urls[2]}  (line 3: Disallow: /x)",
    ]
    assert outside.robotspec("check", urls[0], "--usage", "search").code == 0
    (row,) = outside.robotspec("check", urls[0], "--usage", "train-ai", "--json").out.splitlines()
    assert (json.loads(row)["allowed"], json.loads(row)["reason"]) == (False, "usage")
    (outside.path / "robots.txt").write_text("User-agent: *\nContent-Usage: train-ai=n\n")
    rows = [
        json.loads(outside.robotspec("check", *words, "--usage", "train-ai", "--json").out)
        for words in (["robots.txt", "/ai/a"], [site.url("/ai/a")])
    ]
    assert [(row["allowed"], row["reason"]) for row in rows] == [(False, "usage")] * 2


def test_sites_without_a_file_and_unreachable_ones_are_named(
    server: Server, outside: Folder
) -> None:
    """The file commands exit with 3 for an unreachable site, and with 0 where there is no file."""
    missing = server.site("127.0.0.17", reply("", status=404))
    broken = server.site("127.0.0.18", reply("", status=503))
    result = outside.robotspec("lint", missing.url())
    assert (result.code, result.out) == (0, "")
    assert "the site has no robots.txt" in result.err
    for expected, code in (("open", 0), ("closed", 1)):
        assert outside.robotspec("lint", missing.url(), "--expect", expected).code == code
        both = outside.robotspec("lint", missing.url(), broken.url(), "--expect", expected)
        assert (both.code, "RS217" in both.out) == (3, expected == "closed")
    (outside.path / "robots.txt").write_text(SHOP)
    for words in (["lint", "robots.txt"], ["show"], ["editions"], ["diff", "robots.txt"]):
        result = outside.robotspec(*words, broken.url())
        assert result.code == 3, words
        assert "HTTP status 503" in result.err


def test_a_status_is_named_and_a_wall_noted(server: Server, outside: Folder) -> None:
    """FET-20: as the same bytes of a file are; diff says first what the site answered."""
    body = "<!doctypehtml><html><body>Are you human?</body></html>"
    wall = server.site("127.0.0.23", body)
    no = server.site("127.0.0.24", reply(SHOP, status=403))
    (outside.path / "robots.txt").write_text(SHOP)
    (outside.path / "wall.txt").write_text(body)
    files = wall.url("/robots.txt"), "wall.txt"
    for words in (["check", wall.url("/a"), "/b"], ["check", *files[:1], "/a"], ["show", *files]):
        result = outside.robotspec(*words)
        shown = {*files} & {*words} or {files[0]}
        notes = [f"note: {name}: HTML page; the parser found 0 rules in it" for name in shown]
        assert sorted(result.err.splitlines()[: len(notes)]) == sorted(notes)
    result = outside.robotspec("explain", no.url("/a"))
    assert "meaning    HTTP status 403: everything is allowed" in result.out
    assert "kept for 60 min because it is in doubt" in result.out
    assert "the site has no" not in result.out
    result = outside.robotspec("diff", "robots.txt", no.url())
    by_client = "HTTP status 403 is what this client got; another one may get another response"
    assert (result.code, result.err.splitlines()) == (
        1,
        [
            f"{no.url('/robots.txt')}: HTTP status 403: everything is allowed",
            f"note: {no.url('/robots.txt')}: {by_client}",
            "0 rules added, 6 removed for 4 crawlers",
        ],
    )
    for words in (["check", no.url("/a"), "/b"], ["lint", no.url()]):
        assert (
            outside.robotspec(*words).err.count(f"note: {no.url('/robots.txt')}: {by_client}") == 1
        )
    assert "what this client got" not in outside.robotspec("check", wall.url("/a")).err


def test_an_endless_redirect_is_named_in_the_same_words(server: Server, outside: Folder) -> None:
    """FET-03: check, explain, lint and diff say why it counts as a missing file."""
    site = server.site("127.0.0.22", redirect("/robots.txt", 301))
    words = "HTTP status 301, too many redirects: everything is allowed"
    (outside.path / "robots.txt").write_text(SHOP)
    assert f"  ({words})" in outside.robotspec("check", site.url("/a")).out
    explained = outside.robotspec("explain", site.url("/a")).out
    assert f"verdict    allowed    ({words})" in explained
    assert f"meaning    {words}" in explained
    for command in (["lint"], ["diff", "robots.txt"]):
        assert f"robots.txt: {words}\n" in outside.robotspec(*command, site.url()).err


SITEMAP = "<urlset><url><loc>{0}</loc></url><url><loc>{0}cart/1</loc></url></urlset>"


def test_every_url_of_a_sitemap_of_a_site_is_decided(server: Server, outside: Folder) -> None:
    """Also of an index, with a file of rules or the site's own; a sitemap obeys robots.txt."""
    host = server.site("127.0.0.21", SHOP).url()
    index = "<sitemapindex>{}</sitemapindex>".format(
        "".join(f"<sitemap><loc>{host}{name}</loc></sitemap>" for name in ("a.xml", "b.xml.gz"))
    )
    pages = {
        "/index.xml": reply(index),
        "/a.xml": reply(SITEMAP.format(host)),
        "/b.xml.gz": reply(gzip.compress(SITEMAP.format(host + "b/").encode())),
        "/cart/c.xml": reply(SITEMAP.format(host)),
        "/none.xml": reply(status=404),
    }
    server.site("127.0.0.21", SHOP, pages=pages)
    expected = [
        f"allowed     {host}  (no rule of the group matches)",
        f"disallowed  {host}cart/1  (line 15: Disallow: /cart/)",
        f"allowed     {host}b/  (no rule of the group matches)",
        f"allowed     {host}b/cart/1  (no rule of the group matches)",
    ]
    (outside.path / "robots.txt").write_text(SHOP)
    for file in ([], ["robots.txt"], [f"{host}robots.txt"]):
        result = outside.robotspec("check", *file, "--sitemap", f"{host}index.xml")
        assert (result.code, result.out.splitlines()) == (1, expected), result.err
    server.site("127.0.0.21", SHOP.replace("https://shop.example/sitemap", "/index"), pages=pages)
    result = outside.robotspec("check", "--sitemap", f"{host}robots.txt", "--token", "x")
    assert (result.code, result.out.splitlines()) == (1, expected), result.err
    for name, words in (("cart/c.xml", "Forbidden by robots.txt"), ("none.xml", "HTTP status")):
        result = outside.robotspec("check", "--sitemap", f"{host}{name}")
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith(f"robotspec check: cannot read {host}{name}: ")
        assert words in result.err

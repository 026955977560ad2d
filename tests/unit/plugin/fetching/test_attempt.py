"""Attempt: its failures are told from those of a site."""

from __future__ import annotations

from tests.support.stores import run_program


def test_a_process_without_a_free_file_knows_that_the_failure_is_its_own() -> None:
    """No module is read when the failure has come; a shared store would get it as the site's."""
    program = (
        "import resource\n"
        "from types import SimpleNamespace as Names\n"
        "from scrapy_robotspec.access.exchange import RedirectLimits\n"
        "from scrapy_robotspec.access.origin import Origin\n"
        "from scrapy_robotspec.lookup.live_origins import LiveOrigins\n"
        "from scrapy_robotspec.plugin.fetching.crawl_runtime import Attempt\n"
        "from scrapy_robotspec.plugin.fetching.routes import Routes\n"
        "context = Names(\n"
        "    settings=Names(redirect_limits=RedirectLimits(max_redirects=5)), observer=None,\n"
        "    routes=Routes((), LiveOrigins()), stats=Names(inc_value=lambda name: None),\n"
        ")\n"
        "attempt = Attempt(context, Origin.of('http://a.example/'), None, None)\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))\n"
        "files = []\n"
        "try:\n"
        "    while True: files.append(open('/dev/null'))\n"
        "except OSError as error: result = attempt._failed(error)\n"
        "print(result.local)\n"
    )
    assert run_program(program).stdout == "True\n"

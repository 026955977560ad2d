"""Settings of the example project. The first three are all that a project of yours needs."""

from example.browser import launch_options

ROBOTSTXT_OBEY = True
ADDONS = {"scrapy_robotspec.Addon": 500}
USER_AGENT = "robotspec-example/0.1"

#: Under which name groups of a robots.txt are looked for. ``tokens.py`` shows how to choose it.
ROBOTSPEC_USER_AGENT_TOKEN = "example.tokens.choose"

BOT_NAME = "example"
SPIDER_MODULES = ["example.spiders"]
#: The bookkeeping of this demonstration.
DOWNLOADER_MIDDLEWARES = {"example.demo.Demo": 50}

#: A site of a stranger (``-a url=…``) is crawled slowly, and not for long.
CLOSESPIDER_PAGECOUNT = 1000
AUTOTHROTTLE_ENABLED = True
AUTOTHROTTLE_START_DELAY = 0.1

LOG_LEVEL = "INFO"
TELNETCONSOLE_ENABLED = False
#: The browser of robots_12_browser: that of the system, if there is one.
PLAYWRIGHT_LAUNCH_OPTIONS = launch_options()
#: Where the local site is, as JSON; empty: the spider starts one for itself.
EXAMPLE_SITE = ""
#: A file for the results; empty: a table on standard output.
EXAMPLE_RESULTS = ""

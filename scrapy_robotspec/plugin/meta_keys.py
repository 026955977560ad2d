"""Keys that the plugin reads and writes in ``request.meta``."""

from __future__ import annotations

#: The decision about a request that was let through (``docs/spiders.md``).
SUMMARY = "robotspec"
#: The user's product tokens for one request; they override every setting.
OWN_TOKENS = "robotspec_user_agent_token"

# --- internal

#: Tokens of a request that has no response yet.
KEPT_TOKENS = "_robotspec_tokens"
#: The transfer of a robots.txt request.
TRANSFER = "_robotspec_download"
#: The user's ``dont_filter`` of a request that went back to the scheduler.
DONT_FILTER = "_robotspec_dont_filter"
#: The URL of a request that was refused, until no other middleware may repeat it.
REFUSED = "_robotspec_refused"
#: Set on a request that a plugin for a service sends in the place of a page's.
REPLACES_PAGE = "_robotspec_replaces"

# --- of other plugins

#: Set on a request that goes to a service in the place of a page's: by scrapy-splash, and by
#: scrapy-puppeteer-client, with the page's request.
SENT_TO_SPLASH, SENT_TO_PUPPETEER = "_splash_processed", "puppeteer_request"
#: A handler of scrapy-playwright, scrapy-camoufox or scrapy-pyppeteer opens a page for a request
#: with its key. Some middlewares set it for every request.
BROWSERS = ("playwright", "camoufox", "pyppeteer")
#: Set to False, scrapy-zyte-api gives a request no session. The first request of a new session is a
#: page of the same site, which would wait for the robots.txt that waits for the session.
ZYTE_API_SESSION = "zyte_api_session_enabled"

"""scrapy-playwright's download handler, which the plugin knows by its name."""

from __future__ import annotations

from typing import Any

Playwright: Any = type(
    "ScrapyPlaywrightDownloadHandler", (), {"__module__": "scrapy_playwright.handler"}
)

"""The ban policy that docs/compatibility.md shows."""

from __future__ import annotations

from rotating_proxies.policy import BanDetectionPolicy


class PagesOnly(BanDetectionPolicy):
    def response_is_ban(self, request, response):
        if request.url.endswith("/robots.txt"):
            return False
        return super().response_is_ban(request, response)

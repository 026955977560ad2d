"""A site with every way in which a page in a browser leads to another request.

The page ``/way/NAME`` requests ``/private/NAME``, which robots.txt disallows, by the way of that
name: directly, or from ``/go/NAME``, which redirects twice.
"""

from __future__ import annotations

from tests.support.responses import Answer, closing, redirect, reply
from tests.support.server import Server, Site

ROBOTS = "User-agent: *\nDisallow: /private/\n"
HTML = [("Content-Type", "text/html"), ("Access-Control-Allow-Origin", "*")]
SCRIPT = [("Content-Type", "text/javascript")]

#: Navigations of the main frame, of a page or of a window that it opens: both modes.
NAVIGATIONS = {
    "location": "<script>location.href = '/private/location'</script>",
    "later": "<script>onload = () => setTimeout(() => location = '/private/later', 50)</script>",
    "meta-refresh": "<meta http-equiv=refresh content='0;url=/private/meta-refresh'>",
    "form-get": "<form action=/private/form-get></form><script>document.forms[0].submit()</script>",
    "form-post": "<form method=post action=/private/form-post><input name=a></form>"
    "<script>document.forms[0].submit()</script>",
    "form-post-redirect": "<form method=post action=/go307/form-post-redirect><input name=a>"
    "</form><script>document.forms[0].submit()</script>",
    "location-redirect": "<script>location.href = '/go/location-redirect'</script>",
    "link": "<a id=a href=/private/link>x</a><script>a.click()</script>",
    "frame-to-top": "<iframe srcdoc=\"<script>top.location='/private/frame-to-top'</script>\">",
    "window": "<script>open('/private/window')</script>",
    "window-redirect": "<script>open('/go/window-redirect')</script>",
    "window-later": "<script>const w = open('about:blank');"
    "setTimeout(() => w.location = '/go/window-later', 50)</script>",
    "window-noopener": "<a id=a target=_blank rel=noopener href=/go/window-noopener>x</a>"
    "<script>a.click()</script>",
    "window-post": "<form method=post target=_blank action=/go307/window-post><input name=a>"
    "</form><script>document.forms[0].submit()</script>",
    "window-opener-post": "<form method=post target=_blank rel=opener "
    "action=/go307/window-opener-post><input name=a></form>"
    "<script>document.forms[0].submit()</script>",
    "window-of-frame": "<iframe src=http://localhost:PORT/opener></iframe>",
    "download-link": "<a id=a download href=/go/download-link>x</a><script>a.click()</script>",
    "attachment": "<script>location = '/go/attachment'</script>",
    "prefetch-rules": '<script type=speculationrules>{"prefetch": [{"urls": '
    '["/private/prefetch-rules", "/go/prefetch-rules"], "eagerness": "immediate"}]}</script>',
    "prerender-rules": '<script type=speculationrules>{"prerender": [{"urls": '
    '["/private/prerender-rules"], "eagerness": "immediate"}]}</script>',
    "window-rules": "<script>const w = open('about:blank'), s = w.document.createElement('script');"
    "s.type = 'speculationrules'; s.textContent = JSON.stringify({prefetch: [{urls: "
    "[location.origin + '/private/window-rules'], eagerness: 'immediate'}]});"
    "w.document.head.append(s)</script>",
}

#: Not possible with checks: requests of service workers, which could not be paused otherwise.
SERVICE_WORKERS = {
    "service-worker": "<script>navigator.serviceWorker.register('/service-worker.js')</script>",
    "navigation-preload": "<script>navigator.serviceWorker.register('/preloader.js')"
    ".then(() => navigator.serviceWorker.ready)"
    ".then(() => setTimeout(() => location = '/private/navigation-preload', 200))</script>",
}

#: Everything else that a page requests: mode ``all``.
RESOURCES = {
    "frame": "<iframe src=/private/frame></iframe>",
    "frame-redirect": "<iframe src=/go/frame-redirect></iframe>",
    "image": "<img src=/private/image>",
    "image-redirect": "<img src=/go/image-redirect>",
    "script": "<script src=/private/script></script>",
    "stylesheet": "<link rel=stylesheet href=/go/stylesheet>",
    "font": "<style>@font-face {font-family: f; src: url(/private/font)} p {font-family: f}"
    "</style><p>x",
    "fetch": "<script>fetch('/private/fetch')</script>",
    "fetch-redirect": "<script>fetch('/go/fetch-redirect')</script>",
    "fetch-post": "<script>fetch('/go307/fetch-post', {method: 'POST', body: 'x'})</script>",
    "xhr": "<script>x = new XMLHttpRequest(); x.open('GET', '/go/xhr'); x.send()</script>",
    "preflight": "<script>fetch('http://localhost:PORT/private/preflight', "
    "{method: 'PUT', headers: {'x-a': 'b'}})</script>",
    "other-host": "<img src=http://localhost:PORT/go/other-host>",
    "frame-of-other-host": "<iframe src=http://localhost:PORT/inner></iframe>",
    "object": "<object data=/private/object></object>",
    "beacon": "<script>navigator.sendBeacon('/private/beacon', 'x')</script>",
    "beacon-at-end": "<script>addEventListener('pagehide', () => "
    "navigator.sendBeacon('/private/beacon-at-end', 'x'))</script>",
    "prefetch": "<link rel=prefetch href=/private/prefetch>",
    "preload": "<link rel=preload as=fetch href=/private/preload>",
    "worker": "<script>new Worker('/worker.js')</script>",
    "worker-script": "<script>new Worker('/private/worker-script')</script>",
    "shared-worker": "<script>new SharedWorker('/shared-worker.js')</script>",
    "event-source": "<script>new EventSource('/private/event-source')</script>",
    "web-socket": "<script>new WebSocket('ws://' + location.host + '/private/web-socket')</script>",
    "web-socket-stream": "<script>"
    "new WebSocketStream('ws://' + location.host + '/private/web-socket-stream')</script>",
    "video": "<video src=/private/video autoplay></video>",
    "import": "<script type=module>import '/private/import'</script>",
    "report": "<img src=/x>",
}

_SCRIPTS = {
    "/worker.js": "fetch('/go/worker')",
    "/shared-worker.js": "fetch('/go/shared-worker')",
    "/service-worker.js": "fetch('/go/service-worker')",
    "/preloader.js": """
        addEventListener("install", () => skipWaiting());
        addEventListener("activate", event => event.waitUntil(
            registration.navigationPreload.enable().then(() => clients.claim())));
        addEventListener("fetch", event => {
            if (event.request.mode === "navigate")
                event.respondWith(event.preloadResponse.then(page => page || fetch(event.request)));
        });""",
}
_POLICY = ("Content-Security-Policy", "img-src 'none'; report-uri /private/report")


def build(server: Server) -> Site:
    """The site, which answers for 127.0.0.1 and for ``localhost``."""
    return server.site(robots=ROBOTS, pages=_pages(server.port))


def _pages(port: int) -> dict[str, Answer]:
    pages: dict[str, Answer] = {
        path: reply(text, headers=SCRIPT) for path, text in _SCRIPTS.items()
    }
    pages["/inner"] = reply("<script>fetch('/go/frame-of-other-host')</script>", headers=HTML)
    pages["/opener"] = reply("<script>open('/go/window-of-frame')</script>", headers=HTML)
    for name, html in {**NAVIGATIONS, **SERVICE_WORKERS, **RESOURCES}.items():
        headers = [*HTML, _POLICY] if name == "report" else HTML
        text = f"<!doctype html><title>{name}</title>{html}".replace("PORT", str(port))
        pages[f"/way/{name}"] = reply(text, headers=headers)
        pages[f"/go/{name}"] = redirect(f"/on/{name}", 302)
        pages[f"/on/{name}"] = redirect(f"/private/{name}", 302)
        pages[f"/go307/{name}"] = closing(redirect(f"/private/{name}", 307))
        pages[f"/private/{name}"] = closing(reply("private", headers=HTML))
    pages["/way/redirect"] = redirect("/go/redirect", 302)
    pages["/go/redirect"] = redirect("/private/redirect")
    attachment = ("Content-Disposition", "attachment")
    pages["/private/attachment"] = reply("private", headers=[attachment])
    return pages


def reached(server: Server) -> set[str]:
    """The names of the ways by which a request for a disallowed page was received."""
    return {
        asked.path.removeprefix("/private/").partition("?")[0]
        for asked in server.log
        if asked.path.startswith("/private/")
    }

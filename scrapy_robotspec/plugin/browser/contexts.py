"""Requests of browser contexts that cannot be paused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.plugin.browser.guard import BrowserGuard
    from scrapy_robotspec.plugin.browser.visit import Visit

#: Two sources of requests that no interface can pause: speculation rules, and service workers,
#: which may preload navigations. Callbacks of an observer run before an inserted script does.
_INIT_SCRIPT = """
if (globalThis.ServiceWorkerContainer)
  ServiceWorkerContainer.prototype.register = () =>
    Promise.reject(new DOMException("Service workers are disabled.", "SecurityError"));
new MutationObserver(changes => {
  for (const {addedNodes} of changes)
    for (const node of addedNodes)
      for (const script of node.querySelectorAll ? [node, ...node.querySelectorAll("script")] : [])
        if (script.localName === "script" && /^\\s*speculationrules\\s*$/i.test(script.type)) {
          script.type = "text/plain";
          script.remove();
        }
}).observe(document, {childList: true, subtree: true});
"""


async def disable_preloading(context: Any) -> None:
    """Let pages of *context* have no speculation rules and no service workers."""
    await context.add_init_script(_INIT_SCRIPT)


async def check_web_sockets(
    owner: Any, guard: BrowserGuard, visit: Callable[[], Visit | None]
) -> None:
    """Check each WebSocket of *owner* (a context, a page) before it connects.

    Its URL is checked as that of the HTTP request that opens it. *visit* returns the visit that
    has opened it, if that is known.
    """

    async def on_socket(socket: Any) -> None:
        url = socket.url.replace("ws", "http", 1)
        if await guard.allows(url, visit(), navigates=False):
            socket.connect_to_server()
        else:
            await socket.close(code=1008, reason="Forbidden by robots.txt")

    await owner.route_web_socket("**", on_socket)

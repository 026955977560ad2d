"""Requests of browser contexts that cannot be paused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.plugin.browser.guard import BrowserGuard
    from scrapy_robotspec.plugin.browser.visit import Visit

#: Two sources of requests that no interface can pause: speculation rules, and service workers,
#: which may preload navigations. Callbacks of an observer run before an inserted script does.
_INIT_SCRIPT = """{
if (globalThis.ServiceWorkerContainer)
  ServiceWorkerContainer.prototype.register = () =>
    Promise.reject(new DOMException("Service workers are disabled.", "SecurityError"));
const removeRules = changes => {
  for (const {addedNodes} of changes)
    for (const node of addedNodes)
      for (const script of node.querySelectorAll ? [node, ...node.querySelectorAll("script")] : [])
        if (script.localName === "script" && /^\\s*speculationrules\\s*$/i.test(script.type)) {
          script.type = "text/plain";
          script.remove();
        }
};
const watch = page =>
  new MutationObserver(removeRules).observe(page, {childList: true, subtree: true});
watch(document);
// A window that opens empty has another document than the one that this script has seen there.
globalThis.open = new Proxy(open, {apply(open, self, values) {
  const opened = Reflect.apply(open, self, values);
  try { watch(opened.document); } catch {}  // of another site, or none
  return opened;
}});
}"""

#: A second interface for WebSockets, which playwright's routes do not know.
_NO_STREAMS = "delete globalThis.WebSocketStream"


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

    await owner.add_init_script(_NO_STREAMS)
    await owner.route_web_socket("**", on_socket)

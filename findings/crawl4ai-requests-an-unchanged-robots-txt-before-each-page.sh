#!/usr/bin/env bash
# crawl4ai requests a robots.txt again before each page once it has stayed the same for a week, or if there is none.
#
# Version: crawl4ai 0.9.5 (PyPI), the RobotsParser that check_robots_txt=True uses, with a lifetime of three seconds.
# Source: its documentation: robots.txt files are cached in a database, for seven days by default.
# Expected: a request when the lifetime ends, and then none for another one.
# Behaviour: the time of the fetch is stored with the rules alone, and these are stored only if they differ from those
# that are there. A file that did not change stays stale; an answer that is not 200 is never stored.
# What follows: from the second week on, and for sites without the file, a crawl sends two requests for each page. A
# file that changes once is kept for a week again.
# Output:
#   while it is fresh: 1 request for robots.txt, 5 pages
#   after that, unchanged: 5 requests for robots.txt, 5 pages
#   after that, changed once: 1 request for robots.txt, 5 pages
#   404: 5 requests for robots.txt, 5 pages
source "$(dirname "$0")/common.sh"

# What its module imports; a language model and a browser are not needed.
pypi --no-deps crawl4ai==0.9.5
pypi aiofiles==25.1.0 aiohttp==3.14.5 aiosqlite==0.22.1 beautifulsoup4==4.15.0 brotli==1.2.1 chardet==7.7.0 \
    click==8.5.1 fake-useragent==2.2.0 httpx==0.28.1 lark==1.3.1 lxml==6.1.3 numpy==2.4.6 patchright==1.64.3 \
    pillow==13.0.0 playwright==1.65.2 psutil==7.2.2 pyOpenSSL==26.4.0 pydantic==2.14.4 python-dotenv==1.2.4 \
    rank-bm25==0.2.2 requests==2.34.2 rich==15.0.0 snowballstemmer==2.2.0 xxhash==3.8.2 PyYAML==6.0.4 \
    packaging==26.4 tiktoken==0.14.0
cd "$work"
export HOME=$work CRAWL4_AI_BASE_DIRECTORY=$work
"$python" - <<'PY' 2>"$work/errors" | confirm
import asyncio
import time

from crawl4ai.utils import RobotsParser
from loopback import serving

status, rules = 200, b"User-agent: *\nDisallow: /private/\n"


async def pages(name, parser, server):
    server.log.clear()
    for number in range(5):
        await parser.can_fetch(f"{server.url}/{number}", "examplebot/1.0")
    plural = "" if len(server.log) == 1 else "s"
    print(f"{name}: {len(server.log)} request{plural} for robots.txt, 5 pages")


with serving(lambda path: (status, {"Content-Type": "text/plain"}, rules)) as server:
    parser = RobotsParser(cache_dir="robots", cache_ttl=3)
    asyncio.run(pages("while it is fresh", parser, server))
    time.sleep(4)
    asyncio.run(pages("after that, unchanged", parser, server))
    rules += b"Disallow: /cart/\n"
    asyncio.run(pages("after that, changed once", parser, server))
    status = 404
    asyncio.run(pages("404", RobotsParser(cache_dir="others", cache_ttl=3), server))
PY

#!/usr/bin/env bash
# aiohttp, Django, Litestar, Starlette, Tornado and WhiteNoise answer "Accept-Encoding: gzip;q=0" with gzip.
#
# Version: aiohttp 3.14.5, Django 5.2.8, Litestar 2.24.0, Starlette 1.10.0 (FastAPI's), Tornado 6.6.1 and WhiteNoise
# 6.12.0, against CherryPy 18.10.0 (PyPI), each with its own compression switched on.
# Source: RFC 9110, section 12.4.2: a weight of 0 means "not acceptable", and section 12.5.3, which has "gzip;q=0" in
# its examples.
# Expected: the file as it is.
# Behaviour: the field is searched for the word "gzip". aiohttp searches for "deflate" first, so whoever refuses that
# and takes gzip gets deflate.
# What follows: a crawler that refuses what it cannot decompress gets bytes without a line of a robots.txt in them: no
# rule, so all is allowed to it.
# Output:
#   aiohttp: gzip -> gzip, gzip;q=0 -> gzip, deflate;q=0, gzip -> deflate
#   Django: gzip -> gzip, gzip;q=0 -> gzip, deflate;q=0, gzip -> gzip
#   Litestar: gzip -> gzip, gzip;q=0 -> gzip, deflate;q=0, gzip -> gzip
#   Starlette: gzip -> gzip, gzip;q=0 -> gzip, deflate;q=0, gzip -> gzip
#   Tornado: gzip -> gzip, gzip;q=0 -> gzip, deflate;q=0, gzip -> gzip
#   WhiteNoise: gzip -> gzip, gzip;q=0 -> gzip, deflate;q=0, gzip -> gzip
#   CherryPy: gzip -> gzip, gzip;q=0 -> none, deflate;q=0, gzip -> gzip
source "$(dirname "$0")/common.sh"

pypi aiohttp==3.14.5 django==5.2.8 litestar==2.24.0 starlette==1.10.0 tornado==6.6.1 whitenoise==6.12.0 cherrypy==18.10.0
cd "$work"
cat >servers.py <<'PY'
import asyncio
import gzip
import http.client
from pathlib import Path
from wsgiref.util import setup_testing_defaults

TEXT = "User-agent: *\n" + "".join(f"Disallow: /private/{number}/\n" for number in range(200))
FIELDS = ("gzip", "gzip;q=0", "deflate;q=0, gzip")


def show(name, get):
    print(f"{name}: " + ", ".join(f"{field} -> {get(field) or 'none'}" for field in FIELDS))


def wsgi(app):
    def get(field):
        environ, found = {"PATH_INFO": "/robots.txt", "HTTP_ACCEPT_ENCODING": field}, {}
        setup_testing_defaults(environ)
        environ["HTTP_HOST"] = "localhost"
        for _ in app(environ, lambda status, headers, error=None: found.update(headers)):
            pass
        return found.get("Content-Encoding")

    return get


def asgi(app):
    def get(field):
        scope = {"type": "http", "method": "GET", "path": "/robots.txt", "raw_path": b"/robots.txt"}
        scope |= {"headers": [(b"accept-encoding", field.encode())], "query_string": b"", "root_path": ""}
        scope |= {"http_version": "1.1", "scheme": "http", "asgi": {"version": "3.0"}}
        scope |= {"server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1), "state": {}}
        sent = []

        async def receive():
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message):
            sent.append(message)

        asyncio.run(app(scope, receive, send))
        return dict(sent[0]["headers"]).get(b"content-encoding", b"").decode()

    return get


def loopback(port):
    def get(field):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.putrequest("GET", "/robots.txt", skip_accept_encoding=True)
        connection.putheader("Accept-Encoding", field)
        connection.endheaders()
        with connection.getresponse() as response:
            response.read()
            return response.getheader("Content-Encoding")

    return get


async def serve_aiohttp():
    from aiohttp import web

    async def robots(_):
        response = web.Response(text=TEXT)
        response.enable_compression()
        return response

    app = web.Application()
    app.router.add_get("/robots.txt", robots)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    await asyncio.to_thread(show, "aiohttp", loopback(runner.addresses[0][1]))


async def serve_tornado():
    import tornado.httpserver
    import tornado.netutil
    import tornado.web

    class Robots(tornado.web.RequestHandler):
        def get(self):
            self.set_header("Content-Type", "text/plain")
            self.write(TEXT)

    sockets = tornado.netutil.bind_sockets(0, "127.0.0.1")
    app = tornado.web.Application([("/robots.txt", Robots)], compress_response=True)
    tornado.httpserver.HTTPServer(app).add_sockets(sockets)
    await asyncio.to_thread(show, "Tornado", loopback(sockets[0].getsockname()[1]))


def django_app():
    import django
    from django.conf import settings
    from django.core.wsgi import get_wsgi_application
    from django.http import HttpResponse
    from django.urls import path

    global urlpatterns
    urlpatterns = [path("robots.txt", lambda _: HttpResponse(TEXT, content_type="text/plain"))]
    middleware = ["django.middleware.gzip.GZipMiddleware"]
    settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], MIDDLEWARE=middleware, SECRET_KEY="example")
    django.setup()
    return get_wsgi_application()


def litestar_app():
    from litestar import Litestar, MediaType, get
    from litestar.config.compression import CompressionConfig

    @get("/robots.txt", media_type=MediaType.TEXT)
    async def robots() -> str:
        return TEXT

    return Litestar([robots], compression_config=CompressionConfig(backend="gzip"), openapi_config=None)


def starlette_app():
    from starlette.middleware.gzip import GZipMiddleware
    from starlette.responses import PlainTextResponse

    return GZipMiddleware(PlainTextResponse(TEXT))


def whitenoise_app():
    from whitenoise import WhiteNoise

    Path("files").mkdir()
    Path("files/robots.txt").write_text(TEXT)
    Path("files/robots.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    return WhiteNoise(None, root="files")


def cherrypy_app():
    import cherrypy

    class Site:
        @cherrypy.expose
        def default(self, *_):
            cherrypy.response.headers["Content-Type"] = "text/plain"
            return TEXT.encode()

    cherrypy.config.update({"log.screen": False})
    return cherrypy.tree.mount(Site(), "/", {"/": {"tools.gzip.on": True}})


asyncio.run(serve_aiohttp())
show("Django", wsgi(django_app()))
show("Litestar", asgi(litestar_app()))
show("Starlette", asgi(starlette_app()))
asyncio.run(serve_tornado())
show("WhiteNoise", wsgi(whitenoise_app()))
show("CherryPy", wsgi(cherrypy_app()))
PY
"$python" servers.py 2>"$work/errors" | confirm

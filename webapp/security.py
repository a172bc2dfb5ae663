"""What browsers must refuse on our pages, and which pages may open a socket."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port, validate_host
from django.http.response import HttpResponseBase

POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "object-src 'none'",
        "base-uri 'none'",
    )
)
"""Plotly writes style attributes and blob images, hence the two exceptions; no script is inline."""


class ContentSecurityPolicy:
    """Middleware that sends `POLICY` with every response."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response with the policy's header."""
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        return response


def _is_ours(origin: str, host: str) -> bool:
    """Return whether a page of `origin` may open a socket to `host`."""
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    return urlsplit(origin).netloc == host and validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS)


class SameOrigin:
    """ASGI middleware that closes sockets opened by pages of other sites.

    Browsers send cookies with every WebSocket and ask no permission first; the port counts too,
    because cookies are shared between the ports of one host.
    """

    def __init__(self, inner: Callable[..., Awaitable[None]]) -> None:
        self.inner = inner

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Pass the connection on, or refuse it."""
        headers = {name.lower(): value.decode("latin1") for name, value in scope.get("headers", ())}
        if not _is_ours(headers.get(b"origin", ""), headers.get(b"host", "")):
            await send({"type": "websocket.close", "code": 4403})
            return
        await self.inner(scope, receive, send)

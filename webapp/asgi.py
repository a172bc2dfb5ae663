"""The ASGI application: pages and REST by Django, live runs by a WebSocket."""

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
_pages = get_asgi_application()

from webapp.runs.routing import websocket_urlpatterns  # noqa: E402 - needs the applications loaded
from webapp.security import SameOrigin  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": _pages,
        "websocket": SameOrigin(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)

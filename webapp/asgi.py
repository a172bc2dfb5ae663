"""The ASGI application: pages and REST by Django, live runs by a WebSocket."""

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from django.conf import settings
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
_pages = get_asgi_application()

from webapp.api.body_limit import BodyLimit  # noqa: E402 - needs the applications loaded
from webapp.runs.routing import websocket_urlpatterns  # noqa: E402
from webapp.security import SameOrigin  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": BodyLimit(_pages, settings.DATA_UPLOAD_MAX_MEMORY_SIZE),
        "websocket": SameOrigin(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)

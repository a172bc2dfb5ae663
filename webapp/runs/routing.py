"""WebSocket addresses."""

from django.urls import path

from webapp.runs.consumers import RunsConsumer

websocket_urlpatterns = [path("ws/runs/", RunsConsumer.as_asgi())]

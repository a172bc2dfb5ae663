"""Addresses of the REST interface and the pages around it."""

from django.urls import path

from webapp.api import pages
from webapp.api.interface import interface_urls
from webapp.api.openapi import openapi_json

urlpatterns = [
    path("api/docs", pages.docs, name="api-docs"),
    path("api/v1/openapi.json", openapi_json, name="openapi"),
    path("api/v1/", interface_urls()),
    path("settings/tokens", pages.tokens, name="api-tokens"),
    path("settings/tokens/<int:token_id>/revoke", pages.revoke, name="api-token-revoke"),
]

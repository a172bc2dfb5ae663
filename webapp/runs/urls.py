"""Addresses of the runs."""

from django.urls import path

from webapp.runs import list_views

urlpatterns = [
    path("w/<slug:workspace_slug>/runs", list_views.runs, name="run-list"),
]

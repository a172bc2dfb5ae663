"""Addresses of the runs."""

from django.urls import path

from webapp.runs import list_views, views

urlpatterns = [
    path("w/<slug:workspace_slug>/runs", list_views.runs, name="run-list"),
    path("w/<slug:workspace_slug>/runs/<uuid:run_id>", views.detail, name="run-detail"),
    path("w/<slug:workspace_slug>/runs/<uuid:run_id>/figures", views.figures, name="run-figures"),
    path("w/<slug:workspace_slug>/runs/<uuid:run_id>/cancel", views.cancel, name="run-cancel"),
]

"""Addresses of the scenario library and the editor."""

from django.urls import path

from webapp.scenarios import editor_views, views

urlpatterns = [
    path("w/<slug:workspace_slug>/scenarios", views.library, name="scenario-list"),
    path("w/<slug:workspace_slug>/scenarios/new", editor_views.new, name="scenario-new"),
    path("w/<slug:workspace_slug>/scenarios/import", views.import_text, name="scenario-import"),
    path("w/<slug:workspace_slug>/scenarios/check", editor_views.check, name="scenario-check"),
    path("w/<slug:workspace_slug>/scenarios/demos", views.load_demos, name="scenario-demos"),
    path("w/<slug:workspace_slug>/scenarios/demos/run", views.run_demos, name="scenario-demos-run"),
    path("w/<slug:workspace_slug>/scenarios/<slug:slug>/edit", editor_views.edit, name="scenario-edit"),
    path("w/<slug:workspace_slug>/scenarios/<slug:slug>/duplicate", views.duplicate, name="scenario-duplicate"),
    path("w/<slug:workspace_slug>/scenarios/<slug:slug>/delete", views.delete, name="scenario-delete"),
    path("w/<slug:workspace_slug>/scenarios/<slug:slug>/run", views.run, name="scenario-run"),
]

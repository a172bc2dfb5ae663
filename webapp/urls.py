"""Every address of the site."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("webapp.home.urls")),
    path("", include("webapp.accounts.urls")),
    path("", include("webapp.scenarios.urls")),
    path("", include("webapp.runs.urls")),
    path("", include("webapp.api.urls")),
    path("admin/", admin.site.urls),
]

"""Address of the first page."""

from django.urls import path

from webapp.home import views

urlpatterns = [path("", views.home, name="home")]

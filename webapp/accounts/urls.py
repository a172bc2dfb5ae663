"""Signing in and out."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from webapp.accounts import views

urlpatterns = [
    path("login/<str:token>", views.link_use, name="login-link"),
    path("accounts/login/", LoginView.as_view(template_name="accounts/login.html"), name="login"),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
]

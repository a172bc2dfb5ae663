"""The one-time login link; the form is Django's."""

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from webapp.accounts.services import login_link_use


@never_cache
@require_GET
def link_use(request: HttpRequest, token: str) -> HttpResponse:
    """Sign the link's user in; a used or expired link is told apart by nobody."""
    user = login_link_use(token=token)
    if user is not None:
        login(request, user, backend="django.contrib.auth.backends.ModelBackend")
        return redirect("/")
    if request.user.is_authenticated:
        return redirect("/")
    return render(request, "accounts/link_used.html", status=410)

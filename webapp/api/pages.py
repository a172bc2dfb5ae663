"""The pages around the REST interface: tokens and documentation."""

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from webapp.accounts.selectors import workspaces_of
from webapp.api.models import ApiToken
from webapp.api.selectors import token_list
from webapp.api.services import token_create, token_revoke
from webapp.scenarios.access import AuthedRequest

LIFETIMES_D = (("7", "7 days"), ("30", "30 days"), ("90", "90 days"), ("365", "1 year"), ("", "never"))
SCOPES = (
    ("read", "Read", "lists, documents, results, timelines, exports"),
    ("run", "Run", "reads, and starts or cancels runs"),
    ("write", "Write", "all of that, and changes scenarios"),
)


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def tokens(request: AuthedRequest) -> HttpResponse:
    """List the visitor's tokens; make one, whose secret is shown this once."""
    workspaces = list(workspaces_of(user=request.user))
    context: dict[str, Any] = {
        "workspaces": workspaces,
        "workspace": workspaces[0] if workspaces else None,
        "scopes": SCOPES,
        "lifetimes": LIFETIMES_D,
        "address": request.build_absolute_uri("/api/v1"),
        "chosen": {"name": "", "scope": "run", "days": "90", "workspace": ""},
        "errors": {},
    }
    status = 200
    if request.method == "POST":
        chosen = {key: request.POST.get(key, "").strip() for key in ("name", "scope", "days", "workspace")}
        place = next((item for item in workspaces if item.slug == chosen["workspace"]), None)
        errors = _errors(chosen, has_workspace=place is not None)
        if errors or place is None:
            context |= {"chosen": chosen, "errors": errors}
            status = 422
        else:
            expires_at = timezone.now() + timedelta(days=int(chosen["days"])) if chosen["days"] else None
            token, secret = token_create(
                user=request.user, workspace=place, name=chosen["name"], scopes=[chosen["scope"]], expires_at=expires_at
            )
            context |= {"made": token, "secret": secret}
    context["tokens"] = [{"token": token, "is_over": _is_over(token)} for token in token_list(user=request.user)]
    return render(request, "api/tokens.html", context, status=status)


@login_required
@require_POST
def revoke(request: AuthedRequest, token_id: int) -> HttpResponse:
    """End one of the visitor's own tokens."""
    token = token_list(user=request.user).filter(pk=token_id).first()
    if token is None:
        raise Http404("no such token")
    token_revoke(token=token)
    messages.success(request, f"Revoked {token.name}. Programs that use it are refused from now on.")
    return redirect("api-tokens")


@login_required
@require_GET
def docs(request: AuthedRequest) -> HttpResponse:
    """Show every operation, out of the OpenAPI document, without anything from elsewhere."""
    context = {"workspace": workspaces_of(user=request.user).first(), "address": request.build_absolute_uri("/api/v1")}
    return render(request, "api/docs.html", context)


def _errors(chosen: dict[str, str], *, has_workspace: bool) -> dict[str, str]:
    errors = {}
    if not 1 <= len(chosen["name"]) <= 100:
        errors["name"] = "Give it a name of 1 to 100 characters, so that you know later what uses it."
    if chosen["scope"] not in [scope for scope, *_ in SCOPES]:
        errors["scope"] = "Choose what the token may do."
    if chosen["days"] not in [days for days, _ in LIFETIMES_D]:
        errors["days"] = "Choose how long it lives."
    if not has_workspace:
        errors["workspace"] = "Choose one of your workspaces."
    return errors


def _is_over(token: ApiToken) -> bool:
    return token.expires_at is not None and token.expires_at <= timezone.now()

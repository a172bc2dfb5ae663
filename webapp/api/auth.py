"""Who asks: a bearer token's user in its workspace, or the session of somebody signed in."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from ninja.security import APIKeyCookie, HttpBearer

from webapp.accounts.models import User, Workspace
from webapp.accounts.selectors import may_edit, workspaces_of
from webapp.api.models import ApiToken
from webapp.api.problems import RequestRefusedError
from webapp.api.services import token_authenticate
from webapp.engine import Problem
from webapp.settings import SESSION_COOKIE_NAME


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, and what their credentials open."""

    user: User
    workspaces: tuple[Workspace, ...]
    token: ApiToken | None = None

    def workspace(self, slug: str | None = None) -> Workspace:
        """Return the named workspace, or the only one; 404 if it is not the caller's."""
        if slug is None:
            if len(self.workspaces) == 1:
                return self.workspaces[0]
            names = ", ".join(workspace.slug for workspace in self.workspaces) or "none"
            raise RequestRefusedError(
                422,
                "You belong to several workspaces; say which one.",
                [Problem("workspace", f"is required; yours are {names}")],
            )
        for workspace in self.workspaces:
            if workspace.slug == slug:
                return workspace
        raise RequestRefusedError(404, f"There is no workspace {slug!r} that you can see.")

    def needs(self, scope: str, workspace: Workspace | None = None) -> None:
        """Refuse with 403 what the token's scopes, or the caller's role, do not allow."""
        if self.token is not None and not self.token.allows(scope):
            held = self.token.scopes or "none"
            raise RequestRefusedError(403, f"The token lacks the scope {scope!r}; it has {held}.")
        if scope != ApiToken.Scope.READ and workspace is not None and not may_edit(user=self.user, workspace=workspace):
            raise RequestRefusedError(
                403, f"Viewers of {workspace.name} cannot change it; ask an owner for the role of editor."
            )

    def sees(self, workspace_id: int) -> bool:
        """Return whether objects of this workspace exist for the caller."""
        return any(workspace.pk == workspace_id for workspace in self.workspaces)


class BearerToken(HttpBearer):
    """`Authorization: Bearer boba_...`, made on the tokens page."""

    def authenticate(self, request: HttpRequest, token: str) -> Caller | None:
        """Return the caller of a live token."""
        found = token_authenticate(secret=token)
        return Caller(found.user, (found.workspace,), found) if found is not None else None


class SignedIn(APIKeyCookie):
    """The session of the pages; writes need the CSRF header, as pages send it."""

    param_name = SESSION_COOKIE_NAME

    def __call__(self, request: HttpRequest) -> Any:
        """Return the caller; CSRF is asked only of those who have a session."""
        if not request.user.is_authenticated:
            return None
        return super().__call__(request)

    def authenticate(self, request: HttpRequest, key: str | None) -> Caller | None:
        """Return the caller of a session."""
        user = request.user
        if not isinstance(user, User):
            return None
        return Caller(user, tuple(workspaces_of(user=user)))


AUTH: list[Callable[[HttpRequest], Any]] = [BearerToken(), SignedIn()]

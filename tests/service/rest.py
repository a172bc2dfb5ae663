"""REST calls as programs make them: a bearer token, JSON in and out."""

import json
from typing import Any

from django.http import HttpResponse
from django.test import Client

from webapp.accounts.models import User, Workspace
from webapp.api.models import ApiToken
from webapp.api.services import token_create

PROBLEM_JSON = "application/problem+json"


class Rest:
    """A program with one token."""

    def __init__(self, user: User, workspace: Workspace, scope: str = "write") -> None:
        self.token: ApiToken
        self.token, self.secret = token_create(user=user, workspace=workspace, name="test", scopes=[scope])
        self._client = Client(raise_request_exception=False)

    def get(self, path: str, **headers: str) -> Any:
        """Return the response to GET /api/v1<path>."""
        return self._client.get(f"/api/v1{path}", headers=self._headers(headers))

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        """Return the response to POST; `body` is sent as JSON, text as it is."""
        return self._send("post", path, body, headers)

    def put(self, path: str, body: Any, **headers: str) -> Any:
        """Return the response to PUT."""
        return self._send("put", path, body, headers)

    def delete(self, path: str) -> Any:
        """Return the response to DELETE."""
        return self._client.delete(f"/api/v1{path}", headers=self._headers({}))

    def _send(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Any:
        data = body if isinstance(body, (str, bytes)) else json.dumps(body)
        return getattr(self._client, method)(
            f"/api/v1{path}", data=data, content_type="application/json", headers=self._headers(headers)
        )

    def _headers(self, headers: dict[str, str]) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.secret}", **{k.replace("_", "-"): v for k, v in headers.items()}}


def problem(response: HttpResponse, status: int) -> dict[str, Any]:
    """Return the problem document of a refusal; asserts its form."""
    assert response.status_code == status, response.content[:500]
    assert response.headers["Content-Type"] == PROBLEM_JSON
    document: dict[str, Any] = json.loads(response.content)
    assert document["status"] == status
    assert document["title"]
    assert document["detail"]
    return document


def paths(response: HttpResponse, status: int = 422) -> list[str]:
    """Return the paths that a refusal names, in order."""
    return [fault["path"] for fault in problem(response, status)["problems"]]

"""Errors of the REST interface: application/problem+json (RFC 9457), with every fault and its path."""

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from pydantic import BaseModel, Field

from webapp.engine import Problem

CONTENT_TYPE = "application/problem+json"


class FaultOut(BaseModel):
    """One fault: where, and what to do about it."""

    path: str = Field(description="Field, as `training.transport.connections`; empty for the whole.")
    message: str


class ProblemOut(BaseModel):
    """Why a request was refused (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    problems: list[FaultOut] = Field(default_factory=list)


class RequestRefusedError(Exception):
    """A request that cannot be answered as asked; becomes a problem document."""

    def __init__(self, status: int, detail: str, problems: Sequence[Problem] = ()) -> None:
        self.status = status
        self.detail = detail
        self.problems = tuple(problems)
        super().__init__(detail)


def faults(problems: Sequence[Problem]) -> list[dict[str, str]]:
    """Return problems as plain data."""
    return [{"path": problem.path, "message": problem.message} for problem in problems]


def problem_body(status: int, detail: str, problems: Sequence[Problem] = ()) -> dict[str, Any]:
    """Return the problem document as plain data."""
    return {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "problems": faults(problems),
    }


def problem_response(status: int, detail: str, problems: Sequence[Problem] = ()) -> HttpResponse:
    """Return the response that says so."""
    response = HttpResponse(
        json.dumps(problem_body(status, detail, problems), ensure_ascii=False), status=status, content_type=CONTENT_TYPE
    )
    if status == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = 'Bearer realm="Boba"'
    return response


def scenario_refused(problems: Sequence[Problem]) -> RequestRefusedError:
    """Return the refusal of a document with its faults."""
    count = len(problems)
    return RequestRefusedError(
        422, f"The scenario has {count} problem{'s' if count != 1 else ''}; nothing was saved.", problems
    )

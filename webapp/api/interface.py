"""The REST interface: its operations put together, and every error turned into a problem document."""

import logging
from http import HTTPStatus
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from webapp import engine
from webapp.api.auth import AUTH
from webapp.api.problems import RequestRefusedError, problem_response
from webapp.api.routes import catalogue, outputs, runs, scenarios

logger = logging.getLogger(__name__)

api = NinjaAPI(
    title="Boba",
    version="1",
    description=(
        "Scenarios and runs of Boba. Authenticate with `Authorization: Bearer <token>`; tokens are made under "
        "API & tokens. Errors are application/problem+json (RFC 9457) and name every faulty field."
    ),
    auth=AUTH,
    docs_url=None,
    openapi_url=None,
    urls_namespace="api-v1",
)
api.add_router("/scenarios", scenarios.router)
api.add_router("/runs", runs.router)
api.add_router("/runs", outputs.router)
api.add_router("/catalogue", catalogue.router)


@api.exception_handler(RequestRefusedError)
def _refused(request: HttpRequest, error: RequestRefusedError) -> HttpResponse:
    return problem_response(error.status, error.detail, error.problems)


@api.exception_handler(ValidationError)
def _parameters(request: HttpRequest, error: ValidationError) -> HttpResponse:
    problems = [
        engine.Problem(".".join(str(part) for part in fault["loc"][1:]) or str(fault["loc"][0]), str(fault["msg"]))
        for fault in error.errors
    ]
    return problem_response(422, "A parameter cannot be used: " + "; ".join(map(str, problems)) + ".", problems)


@api.exception_handler(AuthenticationError)
def _unknown(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    sentence = (
        "Send a valid token as `Authorization: Bearer boba_...`; it may be missing, mistyped, expired or revoked."
    )
    return problem_response(401, sentence)


@api.exception_handler(Http404)
def _absent(request: HttpRequest, error: Http404) -> HttpResponse:
    return problem_response(404, "There is nothing here that you can see.")


@api.exception_handler(RequestDataTooBig)
def _too_big(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
    return problem_response(413, "The body is longer than is read. Nothing was saved.")


@api.exception_handler(HttpError)
def _http(request: HttpRequest, error: HttpError) -> HttpResponse:
    return problem_response(error.status_code, error.message)


@api.exception_handler(Exception)
def _ours(request: HttpRequest, error: Exception) -> HttpResponse:
    logger.exception("request failed path=%s", request.path)
    return problem_response(
        HTTPStatus.INTERNAL_SERVER_ERROR, "The server failed to answer; it is not your request's fault."
    )


def interface_urls() -> Any:
    """Return the addresses of all operations."""
    return api.urls

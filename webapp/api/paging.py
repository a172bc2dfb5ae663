"""Cursor pagination: the next page starts after the last row seen, whatever was added meanwhile."""

import base64
import binascii
import json
from datetime import datetime
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet

from webapp.api.problems import RequestRefusedError
from webapp.engine import Problem

MAX_LIMIT = 200
DEFAULT_LIMIT = 50

Row = TypeVar("Row", bound=Model)


def page_after(rows: "QuerySet[Row]", *, by: str, cursor: str | None, limit: int) -> tuple[list[Row], str | None]:
    """Return one page of rows in descending order of `by`, and the cursor of the next page.

    Parameters
    ----------
    rows : QuerySet
        Any order; reordered here.
    by : str
        Name of a datetime field. Ties go to the greater primary key.
    cursor : str or None
        What an earlier call returned.
    limit : int
        Rows of a page.
    """
    rows = rows.order_by(f"-{by}", "-pk")
    if cursor:
        at, key = _position(rows.model, cursor)
        rows = rows.filter(Q(**{f"{by}__lt": at}) | Q(**{by: at, "pk__lt": key}))
    found = list(rows[: limit + 1])
    if len(found) <= limit:
        return found, None
    last = found[limit - 1]
    position = json.dumps([getattr(last, by).isoformat(), str(last.pk)]).encode()
    return found[:limit], base64.urlsafe_b64encode(position).decode().rstrip("=")


def _position(model: type[Model], cursor: str) -> tuple[datetime, Any]:
    try:
        at, key = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return datetime.fromisoformat(at), model._meta.pk.to_python(key)
    except (ValueError, TypeError, binascii.Error, ValidationError) as error:
        raise _bad_cursor() from error


def _bad_cursor() -> RequestRefusedError:
    return RequestRefusedError(
        422,
        "The cursor is not one that a list returned.",
        [Problem("cursor", "must be the next_cursor of an earlier page, or absent for the first page")],
    )

"""Reads environment variables; a wrong value raises one sentence with name, value and expectation."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable that Boba reads."""

    name: str
    kind: str
    """One of the keys of `_EXPECTED`, below."""
    default: str
    purpose: str


_EXPECTED = {
    "flag": "true or false",
    "seconds": "a number of seconds above 0",
    "count": "a whole number above 0",
    "list": "values separated by commas",
    "port": "a port number from 1 to 65535",
    "level": "DEBUG, INFO, WARNING or ERROR",
    "database": "postgresql://user:password@host:port/name or sqlite:///path",
    "redis": "redis://host:port/number, rediss:// or unix://",
    "text": "text",
}
_FLAGS = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}


def _positive(convert: Callable[[str], Any]) -> Callable[[str], Any]:
    def converted(text: str) -> Any:
        value = convert(text)
        if not 0 < value < float("inf"):
            raise ValueError(text)
        return value

    return converted


def _port(text: str) -> int:
    port = int(text)
    if not 0 < port < 65_536:
        raise ValueError(text)
    return port


def _level(text: str) -> str:
    level = text.strip().upper()
    if level not in ("DEBUG", "INFO", "WARNING", "ERROR"):
        raise ValueError(text)
    return level


def _address(*schemes: str) -> Callable[[str], str]:
    """Return a reader of addresses with one of these schemes; empty is allowed and means none."""

    def read(text: str) -> str:
        if text and (not text.startswith(tuple(f"{scheme}://" for scheme in schemes)) or _port_of(text) == 0):
            raise ValueError(text)
        return text

    return read


def _port_of(address: str) -> int | None:
    return urlsplit(address).port


def _without_password(text: str) -> str:
    """Return what a message may show of a value."""
    return re.sub(r"//[^/@]*@", "//...@", text)


_CONVERT: dict[str, Callable[[str], Any]] = {
    "text": str,
    "flag": lambda text: _FLAGS[text.strip().lower()],
    "seconds": _positive(float),
    "count": _positive(int),
    "list": lambda text: [item.strip() for item in text.split(",") if item.strip()],
    "port": _port,
    "level": _level,
    "database": _address("postgresql", "postgres", "sqlite"),
    "redis": _address("redis", "rediss", "unix"),
}


def value_of(variable: Variable) -> Any:
    """Return the typed value of a variable; empty is as good as not set.

    Raises
    ------
    ImproperlyConfigured
        Names the variable, what it holds (without a password) and what is expected.
    """
    text = os.environ.get(variable.name) or variable.default
    try:
        return _CONVERT[variable.kind](text)
    except (ValueError, KeyError) as error:
        shown = _without_password(text)
        raise ImproperlyConfigured(f"{variable.name} is {shown!r}; expected {_EXPECTED[variable.kind]}") from error

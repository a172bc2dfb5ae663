"""What the editor's page sends when it saves or runs: the text, and the version it is based on."""

from dataclasses import dataclass
from typing import Literal, cast, get_args

from django.http import QueryDict

from webapp.scenarios.pace import pace_from

Action = Literal["save", "run", "overwrite", "copy"]
"""`overwrite` saves over a version that somebody else saved meanwhile, `copy` beside it."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A text that is not stored yet, and what its author wants done with it."""

    text: str
    version: int
    """Version that the author read; 0 for none."""
    action: Action
    pace: float | None

    @property
    def makes_new(self) -> bool:
        """Return whether the text becomes a scenario of its own."""
        return self.action == "copy"


def draft_from(sent: QueryDict) -> Draft:
    """Return the draft that a form describes.

    Raises
    ------
    webapp.engine.ScenarioError
        If the pace cannot be used.
    """
    wanted = sent.get("action", "save")
    action = cast(Action, wanted) if wanted in get_args(Action) else "save"
    version = sent.get("current_version" if action == "overwrite" else "version", "")
    return Draft(
        text=text_from(sent),
        version=version_from(version),
        action=action,
        pace=pace_from(sent.get("pace", "max"), sent.get("custom_pace", "")),
    )


def text_from(sent: QueryDict) -> str:
    """Return the text as it was typed; browsers send line ends as CR LF."""
    return sent.get("text", "").replace("\r\n", "\n")


def version_from(text: str) -> int:
    """Return a version number; 0, which no scenario has, for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0

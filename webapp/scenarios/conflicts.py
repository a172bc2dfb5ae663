"""Two people saved the same scenario: what one wrote beside what the other one saved."""

import json
from dataclasses import dataclass

from webapp import engine
from webapp.scenarios.differences import MAX_LISTED, Difference, differences
from webapp.scenarios.models import Scenario


@dataclass(frozen=True, slots=True)
class Conflict:
    """Why a text was not saved, and how it differs from what is stored."""

    current_version: int
    is_deleted: bool
    differences: tuple[Difference, ...]
    num_more: int
    """Differences that are not listed."""

    @classmethod
    def between(cls, text: str, scenario: Scenario) -> "Conflict":
        """Return the conflict of a text with the scenario as it is stored now."""
        try:
            found = differences(engine.parse_text(text), json.loads(scenario.document))
        except engine.ScenarioError:
            found = []
        return cls(
            current_version=scenario.version,
            is_deleted=scenario.deleted_at is not None,
            differences=tuple(found[:MAX_LISTED]),
            num_more=max(0, len(found) - MAX_LISTED),
        )

"""The resolved document: everything written out, in one canonical form with one hash."""

import hashlib
import json
from typing import Any

from simcore.scenario.document import Scenario

UNHASHED_KEYS = ("name", "description")
"""What people call a scenario does not change what is simulated."""


def resolved_document(scenario: Scenario) -> dict[str, Any]:
    """Return the scenario as plain JSON data with every default and preset filled in."""
    return scenario.model_dump(mode="json", exclude_none=True)


def canonical_json(document: dict[str, Any]) -> str:
    """Return one text for one document: sorted keys, no spaces, shortest exact numbers."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def scenario_hash(resolved: dict[str, Any]) -> str:
    """Return the SHA-256 of what the simulation depends on, 64 hexadecimal digits."""
    hashed = {key: value for key, value in resolved.items() if key not in UNHASHED_KEYS}
    return hashlib.sha256(canonical_json(hashed).encode()).hexdigest()

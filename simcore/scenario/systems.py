"""The named systems: what `training.system` fills where the document says nothing (MODEL section 5)."""

from typing import Any

SYSTEMS: dict[str, dict[str, Any]] = {
    "gpipe": {"schedule": "gpipe", "transport": {"connections": 1, "sharing": "spatial"}},
    "megatron": {"schedule": "1f1b", "transport": {"connections": 1, "sharing": "spatial"}},
    "varuna": {
        "schedule": "greedy",
        "recompute": "full",
        "transport": {"connections": 1, "sharing": "spatial"},
    },
    "atlas": {"schedule": "greedy", "transport": {"connections": "auto", "sharing": "temporal"}},
}


def with_system(document: Any) -> Any:
    """Return the document with the keys its `training.system` fills; what is given stays.

    A document that names no known system, or is too faulty to tell, comes back as it is.
    """
    training = document.get("training") if isinstance(document, dict) else None
    if not isinstance(training, dict):
        return document
    name = training.get("system")
    preset = SYSTEMS.get(name) if isinstance(name, str) else None
    if preset is None:
        return document
    filled = {**preset, **training}
    transport = training.get("transport", {})
    if isinstance(transport, dict):
        filled["transport"] = {**preset["transport"], **transport}
    return {**document, "training": filled}

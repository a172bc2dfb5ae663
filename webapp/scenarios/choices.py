"""The options of the editor's selects, taken from the scenario document and the catalogue."""

from typing import Any

from webapp import engine

_NOT_YET_SCHEDULES = ("interleaved-1f1b", "zb-h1")


def editor_choices() -> dict[str, list[dict[str, Any]]]:
    """Return options by field: `value`, `label`, and `disabled` for what cannot be used yet."""
    return {
        "system": _options(engine.system_presets()),
        "schedule": [
            *_options(("gpipe", "1f1b", "greedy")),
            *({"value": name, "label": f"{name} (not yet)", "disabled": True} for name in _NOT_YET_SCHEDULES),
        ],
        "sharing": _options(("spatial", "temporal")),
        "sends": _options(("overlapped", "blocking")),
        "admission": _options(("all", "slo")),
        "gpus": [{"value": gpu["id"], "label": gpu["id"]} for gpu in engine.gpu_entries()],
        "models": [{"value": model["id"], "label": model["id"]} for model in engine.model_entries()],
    }


def _options(names: Any) -> list[dict[str, Any]]:
    return [{"value": name, "label": name} for name in names]

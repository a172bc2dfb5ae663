"""The few figures by which a list tells scenarios apart."""

from typing import Any


def outline(document: dict[str, Any]) -> dict[str, Any]:
    """Return what the library shows of a valid document.

    Returns
    -------
    dict
        `datacenters` (names), `num_gpus`, `num_stages`, `num_pipelines`, `num_microbatches`,
        `schedule`, `system` and `num_requests` (0 without inference).
    """
    training = document["training"]
    requests = ((document.get("inference") or {}).get("requests") or {}).get("inline") or ()
    return {
        "datacenters": [datacenter["name"] for datacenter in document["datacenters"]],
        "num_gpus": sum(datacenter["gpus"] for datacenter in document["datacenters"]),
        "num_stages": training["pipeline_stages"],
        "num_pipelines": training["pipelines"],
        "num_microbatches": training["microbatches"],
        "schedule": training.get("schedule") or training.get("system") or "",
        "system": training.get("system") or "",
        "num_requests": len(requests),
    }

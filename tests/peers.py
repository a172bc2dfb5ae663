"""What other tools print, from ../shared; one skipped row where that folder is absent."""

import json
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
_MEMORY_FLOPS = SHARED / "data" / "peers" / "memory_flops.json"


def _rows(tool: str) -> list[Any]:
    if not _MEMORY_FLOPS.exists():
        absent = pytest.mark.skip(reason="../shared/data/peers/memory_flops.json is not here")
        return [pytest.param({}, marks=absent, id="absent")]
    rows = json.loads(_MEMORY_FLOPS.read_text())[tool]
    return [pytest.param(row, id=row["id"]) for row in rows]


def calculon_rows() -> list[Any]:
    """Return parameters for a test: memory and FLOPs by Calculon, blocks only, no embedding."""
    return _rows("calculon")


def llm_analysis_rows() -> list[Any]:
    """Return parameters for a test: memory and FLOPs by llm-analysis."""
    return _rows("llm_analysis")

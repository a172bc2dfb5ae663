"""What other tools print, from the reference folder; one skipped row where that is absent."""

import json
from typing import Any

import pytest

from tests.reference_folder import REFERENCE

_MEMORY_FLOPS = REFERENCE / "data" / "peers" / "memory_flops.json"


def _rows(tool: str) -> list[Any]:
    if not _MEMORY_FLOPS.exists():
        absent = pytest.mark.skip(reason=f"{_MEMORY_FLOPS} is not here (BOBA_REFERENCE_DIR)")
        return [pytest.param({}, marks=absent, id="absent")]
    rows = json.loads(_MEMORY_FLOPS.read_text())[tool]
    return [pytest.param(row, id=row["id"]) for row in rows]


def calculon_rows() -> list[Any]:
    """Return parameters for a test: memory and FLOPs by Calculon, blocks only, no embedding."""
    return _rows("calculon")


def llm_analysis_rows() -> list[Any]:
    """Return parameters for a test: memory and FLOPs by llm-analysis."""
    return _rows("llm_analysis")

"""Every document of the reference folder gives the figures that others computed for it.

`expected.json` beside the documents says what an independent implementation of the model, or a
public simulator, found. Whole numbers must agree exactly, fractions to FRACTION_TOLERANCE.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from simcore import reference
from simcore.api import Result, simulate
from simcore.costs.feasibility import feasible_scenario
from simcore.scenario.document import Scenario
from simcore.scenario.parse import read_document
from simcore.verify import violations
from tests.reference_folder import REFERENCE
from tests.twin_timeline import rows_of, twin_timeline

FRACTION_TOLERANCE = 1e-9
"""Of the reference: two implementations may add the same fractions up in another order."""
CASES = REFERENCE / "cases"
SOURCES = ("peer", "file")
"""Keys that say where a figure comes from."""
DEMO_NS, DEMO_ONE_CONNECTION_NS = 1_495_266_000, 30_933_168_000
"""Iteration of three regions under Atlas, and under gpipe with one connection."""

if not (CASES / "expected.json").is_file():
    pytest.skip(f"no reference cases in {CASES} (BOBA_REFERENCE_DIR)", allow_module_level=True)


def _documents() -> list[Any]:
    paths = [path for path in sorted(CASES.rglob("*.json")) if path.name != "expected.json"]
    return [pytest.param(path, id=str(path.relative_to(CASES).with_suffix(""))) for path in paths]


@cache
def expectations(folder: Path) -> dict[str, Any]:
    """Return the expected figures of a folder by the name of the document's file."""
    return json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def scenario_at(path: Path) -> Scenario:
    return feasible_scenario(read_document(path.read_text(encoding="utf-8")))


def differences(expected: Any, got: Any, path: str = "") -> list[str]:
    """Return a line for every expected value that the figures tell otherwise, and for requests served beyond them."""
    if isinstance(expected, dict) and isinstance(got, dict):
        lines = []
        for key, value in expected.items():
            lines += differences(value, got.get(key), f"{path}.{key}" if path else key)
        if path.endswith("ttft_ns"):
            lines += [f"{path}.{key}: expected none, got {got[key]}" for key in got.keys() - expected.keys()]
        return lines
    if isinstance(expected, float) and isinstance(got, (int, float)):
        same = got == pytest.approx(expected, rel=FRACTION_TOLERANCE, abs=FRACTION_TOLERANCE)
    else:
        same = got == expected
    return [] if same else [f"{path}: expected {expected}, got {got}"]


@pytest.mark.parametrize("path", _documents())
def test_figures_are_those_of_the_reference(path: Path):
    expected = {key: value for key, value in expectations(path.parent)[path.stem].items() if key not in SOURCES}
    assert "iteration_time_ns" in expected
    scenario = scenario_at(path)
    result, twin = simulate(scenario), reference.simulate(scenario)
    for figures in (result.figures, twin.figures):
        assert differences(expected, figures) == []
        assert ("inference" in expected) == ("inference" in figures)
    assert violations(scenario, result.timeline) == []
    timeline = twin_timeline(scenario, twin)
    assert sorted(rows_of(result.timeline.iteration)) == sorted(rows_of(timeline.iteration))
    assert sorted(rows_of(result.timeline.fills)) == sorted(rows_of(timeline.fills))


def test_every_expectation_has_a_document():
    for folder in {path.values[0].parent for path in _documents()}:
        assert {path.stem for path in folder.glob("*.json")} - {"expected"} == set(expectations(folder))


def demo(name: str) -> Result:
    return simulate(scenario_at(CASES / "real" / f"{name}.json"))


def test_many_connections_and_turns_make_the_demo_twenty_times_faster():
    fast, slow = (demo(name).figures for name in ("three-regions", "three-regions-gpipe"))
    assert (fast["iteration_time_ns"], slow["iteration_time_ns"]) == (DEMO_NS, DEMO_ONE_CONNECTION_NS)
    assert f"{slow['iteration_time_ns'] / fast['iteration_time_ns']:.1f}" == "20.7"
    assert f"{fast['gpu_utilization_training']:.1%}" == "59.9%"
    inference = fast["inference"]
    assert f"{inference['gpu_utilization_total']:.1%}" == "62.6%"
    assert [inference[fate] for fate in ("served", "rejected", "unplaceable")] == [1_999, 0, 1]
    assert inference["training_delay_ns"] == 0

"""Documents name everything they claim to list."""

import re
from pathlib import Path

import pytest

from simcore.api import simulate
from simcore.scenario.reference_page import reference_page
from tests.casts import GOLDEN_CASTS, scenario
from webapp.settings import ENVIRONMENT

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
]


def first_cells(path: Path) -> set[str]:
    """Return the words in the first column of every table of a document."""
    rows = re.findall(r"^\| ([^|]+) \|", path.read_text(), flags=re.MULTILINE)
    return {word.strip() for row in rows for word in row.split(",")}


def test_every_field_of_the_scenario_is_listed():
    assert (ROOT / "docs/scenario.md").read_text() == reference_page(), (
        "write it again: python -m simcore.scenario.reference_page > docs/scenario.md"
    )


def test_every_figure_is_defined():
    figures = simulate(scenario(GOLDEN_CASTS["prefill-two-shards"])).figures
    inference = figures.pop("inference")
    assert set(figures) | set(inference) <= first_cells(ROOT / "docs/figures.md")


def test_every_setting_is_listed_with_its_purpose():
    page = (ROOT / "docs/settings.md").read_text()
    missing = [variable.name for variable in ENVIRONMENT if f"| {variable.name} |" not in page]
    assert missing == []
    assert [variable.purpose for variable in ENVIRONMENT if variable.purpose not in page] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path):
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", document.read_text())
    files = [target for target in targets if "://" not in target]
    assert [target for target in files if not (document.parent / target).exists()] == []


def test_every_decision_is_numbered_in_a_row():
    numbers = sorted(int(path.name[:4]) for path in (ROOT / "docs/decisions").glob("*.md"))
    assert numbers == list(range(1, len(numbers) + 1))

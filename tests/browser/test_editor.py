"""The editor: form and YAML in step, problems at their fields, undo, saving, running, two people at once."""

import re
import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.watch import accessibility_faults, in_theme, overflow_px, shot, watched

NEW = "/w/local/scenarios/new"
READY = "Ready to run"
Saved = Callable[[], str]


def yaml_of(page: Page) -> str:
    """Return what the YAML pane holds."""
    return page.locator("#yaml").input_value()


def opened(page: Page, address: str = NEW) -> None:
    """Open the editor and wait until its script has taken over."""
    page.goto(address)
    expect(page.locator("#editor.is-live")).to_be_visible()


def title(page: Page) -> object:
    """Return the expectation of the heading above the list of problems."""
    return expect(page.locator("[data-problem-title]"))


def holds(page: Page, text: str) -> None:
    """Wait until the YAML holds the text."""
    page.wait_for_function("text => document.getElementById('yaml').value.includes(text)", arg=text)


def replace_in_yaml(page: Page, before: str, after: str) -> None:
    """Put one text in the place of another in the YAML, as typing does."""
    text = yaml_of(page)
    assert before in text
    page.locator("#yaml").fill(text.replace(before, after, 1))


def finished_run(page: Page, run_id: str) -> dict[str, Any]:
    """Return a run by REST once it is over; the first one may wait for kernels to be compiled."""
    for _ in range(240):
        run: dict[str, Any] = page.request.get(f"/api/v1/runs/{run_id}").json()
        if run["finished_at"] is not None:
            break
        page.wait_for_timeout(500)
    return run


@pytest.fixture
def saved(page: Page) -> Saved:
    """Return what saves a new scenario and returns its address."""

    def save() -> str:
        opened(page)
        page.get_by_role("textbox", name="Name", exact=True).fill(f"scenario {uuid.uuid4().hex[:8]}")
        page.get_by_role("button", name="Save", exact=True).click()
        page.wait_for_url(re.compile(r"/edit$"))
        expect(page.locator("#editor.is-live")).to_be_visible()
        return page.url

    return save


def test_what_is_typed_in_the_form_is_in_the_yaml_and_comments_stay(page: Page) -> None:
    with watched(page):
        opened(page)
        replace_in_yaml(page, "rtt_ms: 40", "rtt_ms: 40  # measured in May")
        expect(page.get_by_label("Round trip of link 0 in ms")).to_have_value("40")
        page.get_by_label("Round trip of link 0 in ms").fill("55")
        holds(page, "rtt_ms: 55  # measured in May")
        page.get_by_label("Sharing").select_option("spatial")
        holds(page, "sharing: spatial")
        page.get_by_label("Forward").fill("14, 14, 15, 15")
        holds(page, "forward_ms: [14, 14, 15, 15]")
        title(page).to_have_text(READY)  # type: ignore[attr-defined]


def test_what_is_typed_in_the_yaml_is_in_the_form(page: Page) -> None:
    with watched(page):
        opened(page)
        replace_in_yaml(page, "microbatches: 16", "microbatches: 48")
        expect(page.get_by_label("Microbatches")).to_have_value("48")
        replace_in_yaml(
            page, "stages: [us-east, us-east, us-west, us-west]", "stages: [us-west, us-east, us-west, us-west]"
        )
        expect(page.get_by_label("stage 0")).to_have_value("us-west")
        replace_in_yaml(page, "    rtt_ms: 40\n", "    rtt_ms: 40\n      capacity_gbps: 100\n")
        expect(page.get_by_label("Capacity of link 0 in Gb/s")).to_have_value("100")


def test_a_problem_is_shown_at_its_field_in_the_list_and_in_the_yaml(page: Page) -> None:
    with watched(page):
        opened(page)
        field = page.get_by_label("Pipelines per cell")
        field.fill("3")
        title(page).to_have_text("1 problem to fix")  # type: ignore[attr-defined]
        expect(field).to_have_attribute("aria-invalid", "true")
        sentence = page.locator(f"#{(field.get_attribute('aria-describedby') or '').split()[0]}")
        expect(sentence).to_contain_text("must divide pipelines (2)")
        expect(page.locator(".code-gutter .is-marked")).to_have_text(re.compile(r"^\d+$"))
        expect(page.get_by_role("button", name="Run", exact=True)).to_have_attribute("aria-disabled", "true")

        cell = page.get_by_label("GPUs of datacenter 1")
        cell.fill("many")
        expect(page.locator(".row-errors")).to_contain_text("GPUs: must be a whole number; got 'many'")
        title(page).to_have_text("2 problems to fix")  # type: ignore[attr-defined]
        for theme in ("light", "dark"):
            in_theme(page, theme)
            assert accessibility_faults(page) == []
            shot(page, f"editor-problems-{theme}")
        page.get_by_role("button", name=re.compile("training.cell_size")).click()
        expect(field).to_be_focused()
        field.fill("2")
        cell.fill("4")
        title(page).to_have_text(READY)  # type: ignore[attr-defined]
        expect(field).not_to_have_attribute("aria-invalid", "true")
        expect(page.locator(".row-errors")).to_have_count(0)


def test_yaml_that_cannot_be_read_keeps_the_form_waiting(page: Page) -> None:
    with watched(page):
        opened(page)
        text = yaml_of(page)
        page.locator("#yaml").fill(text + "broken: [\n")
        expect(page.locator(".editor-fields:disabled")).to_be_visible()
        expect(page.locator("[data-problem-list]")).to_contain_text("line")
        page.locator("#yaml").fill(text)
        expect(page.locator(".editor-fields:enabled")).to_be_visible()
        title(page).to_have_text(READY)  # type: ignore[attr-defined]


def test_rows_come_and_go_and_names_follow(page: Page) -> None:
    with watched(page):
        opened(page)
        page.get_by_role("button", name="Add datacenter").click()
        expect(page.get_by_label("Name of datacenter 2")).to_have_value("dc-3")
        page.get_by_role("button", name="Add link").click()
        expect(page.get_by_label("One end of link 1")).to_have_value("us-east")
        expect(page.get_by_label("Other end of link 1")).to_have_value("dc-3")
        name = page.get_by_label("Name of datacenter 0")
        name.fill("oslo")
        name.press("Tab")
        expect(page.get_by_label("One end of link 0")).to_have_value("oslo")
        expect(page.get_by_label("stage 0")).to_have_value("oslo")
        page.get_by_role("button", name="Spread evenly").click()
        expect(page.get_by_label("stage 3")).to_have_value("dc-3")
        title(page).to_contain_text("to fix")  # type: ignore[attr-defined]
        page.get_by_label("Other end of link 1").select_option("dc-3")
        page.get_by_label("One end of link 1").select_option("us-west")
        title(page).to_have_text(READY)  # type: ignore[attr-defined]
        page.get_by_role("button", name="Remove link 1").click()
        expect(page.get_by_label("One end of link 1")).to_have_count(0)
        assert "us-east" not in yaml_of(page)


def test_inference_is_switched_off_and_comes_back_as_it_was(page: Page) -> None:
    with watched(page):
        opened(page, "/w/local/scenarios/three-regions/edit")
        before = yaml_of(page)
        expect(page.locator("[data-summary=requests]")).to_contain_text("2,000 requests")
        page.get_by_role("switch", name="Inference").uncheck()
        expect(page.get_by_label("Shards", exact=True)).to_be_hidden()
        page.wait_for_function("() => !document.getElementById('yaml').value.includes('inference:')")
        page.get_by_role("switch", name="Inference").check()
        expect(page.get_by_label("Shards", exact=True)).to_be_visible()
        holds(page, "inference:")
        assert yaml_of(page) == before


def test_undo_and_redo_cover_both_sides(page: Page) -> None:
    with watched(page):
        opened(page)
        before = yaml_of(page)
        page.get_by_label("Microbatches").fill("20")
        holds(page, "microbatches: 20")
        replace_in_yaml(page, "optimizer_ms: 5", "optimizer_ms: 6")
        expect(page.get_by_label("Optimizer")).to_have_value("6")
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_label("Optimizer")).to_have_value("5")
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_label("Microbatches")).to_have_value("16")
        assert yaml_of(page) == before
        page.locator("#yaml").focus()
        page.keyboard.press("Control+y")
        expect(page.get_by_label("Microbatches")).to_have_value("20")


def test_run_leads_to_the_run_page_at_its_pace(page: Page) -> None:
    name = f"run {uuid.uuid4().hex[:8]}"
    with watched(page):
        opened(page)
        page.get_by_role("textbox", name="Name", exact=True).fill(name)
        page.get_by_role("combobox", name="Pace", exact=True).select_option("custom")
        page.get_by_label("Simulated seconds per second").fill("50")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_url(re.compile(r"/runs/[0-9a-f-]{36}$"))
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    run = finished_run(page, page.url.rsplit("/", 1)[1])
    assert (run["pace"], run["status"], run["name"]) == (50.0, "succeeded", name)


def test_the_keyboard_alone_saves_and_runs(page: Page, saved: Saved) -> None:
    saved()
    page.get_by_label("Microbatches").focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("12")
    page.keyboard.press("Control+s")
    expect(page.locator("[data-editor-state]")).to_have_text("Saved · version 2")
    assert "microbatches: 12" in yaml_of(page)
    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile(r"/runs/[0-9a-f-]{36}$"))


def test_what_has_problems_is_neither_saved_nor_run(page: Page, saved: Saved) -> None:
    address = saved()
    page.get_by_label("Microbatches").fill("none")
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-editor-state]")).to_contain_text("fix the problems")
    expect(page.get_by_label("Microbatches")).to_be_focused()
    assert page.url == address


def test_of_two_saves_the_second_hears_of_it_and_loses_nothing(
    page: Page, browser: Browser, browser_context_args: dict[str, object], base_url: str, saved: Saved
) -> None:
    address = saved()
    other = browser.new_context(**{**browser_context_args, "base_url": base_url})  # type: ignore[arg-type]
    theirs = other.new_page()
    opened(theirs, address)
    theirs.get_by_label("Optimizer").fill("8")
    theirs.keyboard.press("Control+s")
    expect(theirs.locator("[data-editor-state]")).to_have_text("Saved · version 2")

    with watched(page, ignored=("409",)):
        page.get_by_label("Microbatches").fill("20")
        page.get_by_role("button", name="Save", exact=True).click()
        conflict = page.get_by_role("alert").filter(has_text="Version 2 was saved by someone else")
        expect(conflict).to_be_visible()
        row = conflict.locator("tr", has_text="training.optimizer_ms")
        expect(row.locator("td").nth(0)).to_have_text("5")
        expect(row.locator("td").nth(1)).to_have_text("8")
        assert "microbatches: 20" in yaml_of(page)
        for theme in ("light", "dark"):
            in_theme(page, theme)
            assert accessibility_faults(page) == []
            shot(page, f"editor-conflict-{theme}")
        conflict.get_by_role("button", name="Save mine over it").click()
        expect(page.locator("[data-editor-state]")).to_have_text("Saved · version 3")
        assert "microbatches: 20" in yaml_of(page)
        assert "optimizer_ms: 5" in yaml_of(page)
    other.close()


def test_a_server_that_is_away_loses_nothing_and_is_asked_again(page: Page) -> None:
    with watched(page, ignored=("ERR_FAILED", "Failed to load")):
        opened(page)
        page.route("**/scenarios/check", lambda route: route.abort())
        page.get_by_label("Microbatches").fill("20")
        expect(page.locator("[data-editor-state]")).to_contain_text("Offline")
        page.unroute("**/scenarios/check")
        holds(page, "microbatches: 20")
        title(page).to_have_text(READY)  # type: ignore[attr-defined]


def test_typing_on_both_sides_while_the_server_is_slow_loses_nothing(page: Page) -> None:
    def slow(route: Route) -> None:
        time.sleep(0.4)
        route.continue_()

    with watched(page):
        opened(page)
        page.route("**/scenarios/check", slow)
        page.get_by_label("Microbatches").fill("20")
        page.wait_for_timeout(300)
        replace_in_yaml(page, "optimizer_ms: 5", "optimizer_ms: 6")
        page.get_by_label("Activation").fill("44")
        for text in ("microbatches: 20", "optimizer_ms: 6", "activation_mb: 44"):
            holds(page, text)
        expect(page.get_by_label("Optimizer")).to_have_value("6")
        expect(page.get_by_label("Microbatches")).to_have_value("20")
        title(page).to_have_text(READY)  # type: ignore[attr-defined]


def test_leaving_with_unsaved_changes_asks_first(page: Page) -> None:
    opened(page)
    page.get_by_label("Microbatches").fill("20")
    holds(page, "microbatches: 20")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.get_by_role("link", name="Home").click()
    page.wait_for_url(re.compile(r"/$"))
    assert asked == ["beforeunload"]


def test_the_editor_fits_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    with watched(page):
        opened(page, "/w/local/scenarios/three-regions/edit")
        page.get_by_label("Pipelines per cell").fill("3")
        count = page.get_by_role("button", name="1 problem", exact=True)
        expect(count).to_be_visible()
        assert overflow_px(page) == 0
        page.get_by_label("Seed").focus()
        count.click()
        expect(page.get_by_label("Pipelines per cell")).to_be_focused()
        shot(page, "editor-problems-phone")

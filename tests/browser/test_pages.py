"""Every page as a person meets it: nothing from elsewhere, nothing broken, usable by everyone, light and dark."""

import re
import uuid

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.watch import accessibility_faults, in_theme, layout_shift, overflow_px, shot, watched
from tests.live import LiveBoba

PAGES = {
    "home": "/",
    "library": "/w/local/scenarios",
    "editor": "/w/local/scenarios/three-regions/edit",
    "editor-new": "/w/local/scenarios/new",
    "import": "/w/local/scenarios/import",
    "delete": "/w/local/scenarios/three-regions/delete",
    "runs": "/w/local/runs",
    "tokens": "/settings/tokens",
    "api-docs": "/api/docs",
}
THEMES = ("light", "dark")
PHONE = {"width": 390, "height": 844}
BARELY_A_SHIFT = 0.02
"""A fifth of what the web's own measure calls good."""


def opened(page: Page, address: str) -> None:
    """Open a page and wait until it has asked for everything."""
    page.goto(address)
    page.wait_for_load_state("networkidle")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_accessible_and_keeps_to_itself(page: Page, name: str, theme: str) -> None:
    in_theme(page, theme)
    with watched(page):
        opened(page, PAGES[name])
        expect(page.locator("h1")).to_have_count(1)
        assert layout_shift(page) < BARELY_A_SHIFT
        assert accessibility_faults(page) == []
        assert overflow_px(page) == 0
        shot(page, f"{name}-{theme}")
        page.set_viewport_size(PHONE)
        assert overflow_px(page) == 0
        shot(page, f"{name}-{theme}-phone")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(
    ("name", "address", "heading"),
    [
        ("login", "/accounts/login/?next=/w/local/runs", "Sign in to Boba"),
        ("link-over", "/login/nonsense", "This link is over"),
    ],
)
def test_pages_of_strangers(
    browser: Browser, live_boba: LiveBoba, name: str, address: str, heading: str, theme: str
) -> None:
    context = browser.new_context(base_url=live_boba.base_url, color_scheme=theme)  # type: ignore[arg-type]
    page = context.new_page()
    with watched(page, ignored=("410",)):
        opened(page, address)
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
        assert accessibility_faults(page) == []
        shot(page, f"{name}-{theme}")
        page.set_viewport_size(PHONE)
        assert overflow_px(page) == 0
    context.close()


@pytest.mark.parametrize("theme", THEMES)
def test_what_is_not_there_says_so_and_leads_back(page: Page, theme: str) -> None:
    in_theme(page, theme)
    with watched(page, ignored=("404",)):
        for address in ("/w/local/scenarios/none-such/edit", f"/w/local/runs/{uuid.uuid4()}", "/w/foreign/runs", "/x"):
            opened(page, address)
            expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
        assert accessibility_faults(page) == []
        shot(page, f"not-found-{theme}")
        page.get_by_role("link", name="Go to the start").click()
        expect(page).to_have_url(re.compile(r"/$"))


def test_demos_run_from_the_first_page_and_are_compared(page: Page) -> None:
    with watched(page):
        opened(page, "/")
        page.get_by_role("button", name="Run all").click()
        comparison = page.locator(".comparison li")
        expect(comparison).to_have_count(3, timeout=90_000)
        slow = comparison.filter(has_text="three-regions under gpipe")
        expect(slow).to_contain_text("30.93 s")
        expect(slow).to_contain_text("20.7×")
        expect(comparison.filter(has_text="reference")).to_contain_text("1.495 s")
        expect(page.locator("[data-active]")).to_have_count(0, timeout=60_000)
        for theme in THEMES:
            in_theme(page, theme)
            assert accessibility_faults(page) == []
            shot(page, f"home-compared-{theme}")
        opened(page, "/w/local/runs")
        expect(page.locator("tbody tr").first.locator("[data-status=succeeded]")).to_be_visible()
        assert accessibility_faults(page) == []
        shot(page, "runs-filled-dark")


def test_the_theme_is_kept(page: Page) -> None:
    page.emulate_media(color_scheme="light")
    opened(page, "/")
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.get_by_role("button", name="Dark theme").click()
    dark = page.evaluate(background)
    assert dark != light
    opened(page, "/w/local/scenarios")
    assert page.evaluate(background) == dark
    page.get_by_role("button", name="System theme").click()
    assert page.evaluate(background) == light


def test_a_token_made_here_opens_the_interface_until_it_is_revoked(
    page: Page, browser: Browser, live_boba: LiveBoba
) -> None:
    name = f"token {uuid.uuid4().hex[:6]}"
    with watched(page):
        opened(page, "/settings/tokens")
        page.get_by_label("Name").fill(name)
        page.get_by_role("button", name="Create token").click()
        secret = page.locator("#secret").inner_text()
        assert secret.startswith("boba_")
        assert accessibility_faults(page) == []
        page.locator("button[data-copy=secret]").click()
        expect(page.locator("button[data-copy=secret]")).not_to_have_text("Copy")

        program = browser.new_context(base_url=live_boba.base_url)
        headers = {"Authorization": f"Bearer {secret}"}
        assert program.request.get("/api/v1/scenarios", headers=headers).status == 200
        opened(page, "/settings/tokens")
        expect(page.locator("body")).not_to_contain_text(secret)
        page.get_by_role("button", name=f"Revoke {name}").click()
        expect(page.get_by_role("status").filter(has_text="Revoked")).to_be_visible()
        assert program.request.get("/api/v1/scenarios", headers=headers).status == 401
        program.close()


def test_the_api_is_described_and_its_operations_unfold(page: Page) -> None:
    with watched(page):
        opened(page, "/api/docs")
        page.locator("nav.docs-index").get_by_role("link", name="Start a run").click()
        operation = page.locator("details.operation[open]")
        expect(operation).to_have_count(1)
        expect(operation).to_contain_text("/api/v1/runs")
        expect(operation).to_contain_text("pace")
        expect(operation).to_contain_text("application/problem+json")
        page.locator("#scenario-document summary").first.click()
        expect(page.locator("#scenario-document")).to_contain_text("gpus_per_node")
        assert accessibility_faults(page) == []


def test_lists_work_by_keyboard(page: Page) -> None:
    opened(page, "/w/local/scenarios")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_label("More for three-regions", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Duplicate").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Duplicate").first).to_be_hidden()
    expect(page.get_by_label("More for three-regions", exact=True)).to_be_focused()


def test_an_import_with_problems_says_what_to_do_and_keeps_the_text(page: Page) -> None:
    with watched(page, ignored=("422",)):
        opened(page, "/w/local/scenarios/import")
        page.get_by_label("Or paste the document").fill("version: 1\nname: half\n")
        page.get_by_role("button", name="Import").click()
        expect(page.get_by_role("alert")).to_contain_text("datacenters")
        expect(page.get_by_label("Or paste the document")).to_have_value("version: 1\nname: half\n")
        assert accessibility_faults(page) == []


@pytest.fixture
def plain(browser: Browser, browser_context_args: dict[str, object], base_url: str) -> BrowserContext:
    """Return a signed-in context without JavaScript."""
    return browser.new_context(**{**browser_context_args, "base_url": base_url, "java_script_enabled": False})  # type: ignore[arg-type]


def test_pages_work_without_javascript(plain: BrowserContext) -> None:
    page = plain.new_page()
    page.goto("/w/local/scenarios")
    expect(page.get_by_role("link", name="three-regions", exact=True)).to_be_visible()
    page.goto("/w/local/scenarios/new")
    name = f"without script {uuid.uuid4().hex[:6]}"
    text = page.get_by_role("textbox", name="YAML").input_value()
    page.get_by_role("textbox", name="YAML").fill(text.replace("Untitled scenario", name))
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    page.get_by_role("button", name="Run").click()
    expect(page).to_have_url(re.compile(r"/runs/[0-9a-f-]{36}$"))
    plain.close()

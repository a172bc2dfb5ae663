"""The pictures of the documentation, taken from the running product: `make shots`.

A picture is the window as a person sees it, 1440 × 900, in a data folder of its own; the demo
scenarios are what it shows. Written to docs/images.
"""

import os
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.live import LiveBoba
from tests.machine import chromium

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
WINDOW = {"width": 1440, "height": 900}
THEMES = ("dark", "light")
PATIENCE_MS = 60_000


def run_demo(page: Page, slug: str) -> None:
    """Run a demo scenario from its editor and wait until its timeline is drawn."""
    page.goto(f"/w/local/scenarios/{slug}/edit")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_url("**/runs/*", timeout=PATIENCE_MS)
    page.locator("#run-status", has_text="succeeded").wait_for(timeout=PATIENCE_MS)
    page.locator('#timeline[data-state="ready"]').wait_for(timeout=PATIENCE_MS)


def take(page: Page, name: str) -> None:
    """Write a picture of the page in each theme."""
    for theme in THEMES:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
        page.reload()
        page.locator('#timeline[data-state="ready"]').wait_for(timeout=PATIENCE_MS)
        page.locator(".tl-strip .main-svg").first.wait_for(timeout=PATIENCE_MS)
        page.wait_for_timeout(1500)  # fonts, the strip and its axis
        page.screenshot(path=IMAGES / f"{name}-{theme}.png")
        sys.stdout.write(f"wrote docs/images/{name}-{theme}.png\n")


def main() -> int:
    """Take every picture."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        live = LiveBoba(Path(folder) / "data")
        live.start()
        try:
            browser = playwright.chromium.launch(
                executable_path=chromium(), args=["--no-sandbox"] if os.geteuid() == 0 else []
            )
            context = browser.new_context(base_url=live.base_url, viewport=WINDOW)  # type: ignore[arg-type]
            context.add_cookies(
                [{"name": name, "value": value, "url": live.base_url} for name, value in live.visitor.cookies.items()]
            )
            page = context.new_page()
            run_demo(page, "three-regions")
            take(page, "run")
            browser.close()
        finally:
            live.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())

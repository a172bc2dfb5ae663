"""What a page must not do while a test looks at it, and the pictures that it leaves behind."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

SHOTS = Path(__file__).resolve().parent.parent.parent / "var" / "shots"
SERIOUS = ("serious", "critical")
LAYOUT_SHIFT = """
() => new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(sum), 60);
})
"""


@contextmanager
def watched(page: Page, *, ignored: tuple[str, ...] = ()) -> Iterator[list[str]]:
    """Collect console errors, exceptions and requests to other hosts; there must be none at the end.

    A text in `ignored` lets messages pass that hold it, for tests that break something on purpose.
    """
    faults: list[str] = []

    def on_message(message: Any) -> None:
        if message.type in ("error", "warning"):
            faults.append(f"console {message.type}: {message.text}")

    def on_request(request: Any) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob") and address.hostname != "127.0.0.1":
            faults.append(f"request to another host: {request.url}")

    page.on("console", on_message)
    page.on("pageerror", lambda error: faults.append(f"exception: {error}"))
    page.on("request", on_request)
    yield faults
    assert not [fault for fault in faults if not any(text in fault for text in ignored)]


def in_theme(page: Page, theme: str) -> None:
    """Show the page in a theme, past every transition of its colours."""
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
    page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))"
    )


def accessibility_faults(page: Page) -> list[str]:
    """Return what axe-core finds serious, one line for each element."""
    found = Axe().run(page).response["violations"]
    return [
        f"{violation['id']}: {node['target']} {node['html'][:120]} {node.get('failureSummary', '')[:200]}"
        for violation in found
        if violation["impact"] in SERIOUS
        for node in violation["nodes"]
    ]


def overflow_px(page: Page) -> int:
    """Return by how many pixels the page is wider than the window."""
    width: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return width


def layout_shift(page: Page) -> float:
    """Return the sum of layout shifts since the page was opened."""
    shift: float = page.evaluate(LAYOUT_SHIFT)
    return shift


def shot(page: Page, name: str) -> None:
    """Leave a picture of the page in var/shots."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png", full_page=True)

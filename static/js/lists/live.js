/**
 * Keeps lists of runs up to date while something in them is queued or running.
 *
 * A region marked `data-live` is fetched again with the page and replaced; `data-active` says whether
 * that is worth it. Nothing is replaced under the visitor's fingers: not while a menu is open in the
 * region or the focus is inside it.
 */

const INTERVAL_MS = 1500;
const region = () => document.querySelector("[data-live]");

/** @param {Element} element */
function isInUse(element) {
  return element.contains(document.activeElement) || element.querySelector("details[open]") !== null;
}

async function refresh() {
  const shown = region();
  if (!shown?.hasAttribute("data-active")) return;
  if (document.hidden || isInUse(shown)) {
    setTimeout(refresh, INTERVAL_MS);
    return;
  }
  try {
    const response = await fetch(location.href, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(response.ok ? await response.text() : "", "text/html");
    const fresh = page.querySelector("[data-live]");
    if (fresh && !isInUse(shown)) shown.replaceWith(fresh);
  } catch {
    // The server is away for a moment; the next turn tries again.
  }
  setTimeout(refresh, INTERVAL_MS);
}

setTimeout(refresh, INTERVAL_MS);

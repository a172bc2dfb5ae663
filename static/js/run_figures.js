/**
 * The key figures: the server writes them, beside those of the baseline; this asks for them again
 * when they have changed or another baseline is chosen.
 */

/** @type {AbortController | null} */
let asking = null;

/** @param {string} url  of the piece of the page that holds them */
export async function refreshFigures(url) {
  asking?.abort();
  asking = new AbortController();
  try {
    const response = await fetch(`${url}${location.search}`, { signal: asking.signal });
    if (!response.ok) return;
    const html = await response.text();
    const root = /** @type {HTMLElement} */ (document.getElementById("run-figures"));
    const focused = root.contains(document.activeElement);
    root.innerHTML = html;
    if (focused) document.getElementById("run-base")?.focus();
  } catch {
    // The figures stay as they were; the next frame that changes them, or the end, asks again.
  }
}

/** Compare with another run without leaving the view. @param {string} url */
export function listenToBaseline(url) {
  const root = /** @type {HTMLElement} */ (document.getElementById("run-figures"));
  const choose = (/** @type {string} */ base) => {
    const query = new URLSearchParams(location.search);
    if (base) query.set("base", base);
    else query.delete("base");
    const text = query.toString();
    history.replaceState(null, "", `${location.pathname}${text ? `?${text}` : ""}${location.hash}`);
    refreshFigures(url);
  };
  root.addEventListener("change", (event) => choose(/** @type {HTMLSelectElement} */ (event.target).value));
  root.addEventListener("click", (event) => {
    const link = /** @type {HTMLElement} */ (event.target).closest("[data-base]");
    if (!link) return;
    event.preventDefault();
    choose(link.getAttribute("data-base") ?? "");
  });
}

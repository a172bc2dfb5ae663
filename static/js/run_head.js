/** What stands above the timeline of a run: status, progress, banners, cancel. */

import { duration } from "./timeline/units.js";

const ICONS = /** @type {Record<string, string>} */ ({
  queued: "clock",
  running: "activity",
  succeeded: "check",
  failed: "alert",
  errored: "bug",
  cancelled: "ban",
});

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @param {string} name */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

/** @param {string} status */
export function showStatus(status) {
  const pill = /** @type {HTMLElement} */ (byId("run-status").firstElementChild);
  if (pill.dataset.status === status) return;
  pill.dataset.status = status;
  pill.replaceChildren(icon(ICONS[status] ?? "clock"), status);
}

/**
 * @param {number} simulatedNs
 * @param {number} horizonNs  0 while unknown
 * @param {string} phase
 */
export function showProgress(simulatedNs, horizonNs, phase) {
  const share = horizonNs ? Math.min(1, simulatedNs / horizonNs) : 0;
  const bar = /** @type {HTMLElement} */ (byId("run-progress").querySelector(".progress"));
  bar.setAttribute("aria-valuenow", (100 * share).toFixed(0));
  /** @type {HTMLElement} */ (bar.firstElementChild).style.width = `${100 * share}%`;
  const of = horizonNs ? ` of ${duration(horizonNs)} · ${Math.floor(100 * share)} %` : "";
  const what = phase === "fills" ? "placing prefills" : "first iteration";
  byId("run-progress-text").textContent = `${what} · ${duration(simulatedNs)}${of}`;
}

/** @param {string} kind @param {string} state @param {string} title @param {string} text */
export function addBanner(kind, state, title, text) {
  if (byId("run-banners").querySelector(`[data-state="${state}"]`)) return;
  const banner = document.createElement("div");
  banner.className = `banner banner-${kind}`;
  banner.dataset.state = state;
  const body = document.createElement("div");
  body.className = "banner-body";
  const head = document.createElement("span");
  head.className = "banner-title";
  head.textContent = `${title} `;
  body.append(head, text);
  banner.append(icon("alert"), body);
  byId("run-banners").append(banner);
}

/** @param {"connected" | "reconnecting" | "offline" | "idle"} state @param {number} seconds */
export function showConnection(state, seconds) {
  const dot = byId("connection");
  dot.hidden = state === "idle";
  dot.dataset.state = state;
  dot.textContent = state === "reconnecting" ? `reconnecting${seconds ? ` ${seconds} s` : ""}` : state;
  const chip = /** @type {HTMLElement} */ (document.querySelector('.run > [data-state="offline"]'));
  if (state === "offline" && chip.hidden) {
    const time = new Date().toLocaleTimeString([], { hour12: false });
    /** @type {HTMLElement} */ (chip.querySelector("[data-as-of]")).textContent = `as of ${time}`;
  }
  chip.hidden = state !== "offline";
}

/** Cancel without leaving the page. */
export function listenToCancel() {
  const form = /** @type {HTMLFormElement | null} */ (document.getElementById("run-cancel"));
  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = /** @type {HTMLButtonElement} */ (form.querySelector("button"));
    const label = /** @type {HTMLElement} */ (button.querySelector("span"));
    button.disabled = true;
    label.textContent = "Stopping";
    try {
      const response = await fetch(form.action, { method: "POST", body: new FormData(form), headers: { Accept: "application/json" } });
      if (!response.ok) throw new Error(String(response.status));
    } catch {
      button.disabled = false;
      label.textContent = "Cancel";
      addBanner("error", "cancel-failed", "The run was not cancelled.", "The server did not answer; try again.");
    }
  });
}

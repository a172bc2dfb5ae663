/**
 * The page of a run: joins socket, timeline and header. A finished run is read from the server
 * window by window; a live one comes by the socket, and goes over to the server when it ends.
 */

import { listenToBaseline, refreshFigures } from "./run_figures.js";
import { addBanner, listenToCancel, showConnection, showProgress, showStatus } from "./run_head.js";
import { RunStream } from "./stream.js";
import { Layout } from "./timeline/layout.js";
import { LiveSource } from "./timeline/live_source.js";
import { SegmentStore } from "./timeline/segment_store.js";
import { ServerSource } from "./timeline/server_source.js";
import { Timeline } from "./timeline/timeline.js";
import { duration } from "./timeline/units.js";

const LIVE_FRAME_MS = 120;
const CALM_FRAME_MS = 1000;
const ADDRESS_MS = 250;

const run = JSON.parse(/** @type {HTMLElement} */ (document.getElementById("run-data")).textContent ?? "{}");
const element = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const root = element("timeline");
const followButton = element("run-follow");
const backButton = element("run-back");
const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;

let addressTimer = 0;
const timeline = new Timeline(root, {
  changed() {
    showFollow();
    clearTimeout(addressTimer);
    addressTimer = setTimeout(() => {
      const { source, view } = timeline;
      if (!source) return;
      const query = view.toQuery(location.search, source.layout);
      history.replaceState(null, "", `${location.pathname}${query ? `?${query}` : ""}${location.hash}`);
    }, ADDRESS_MS);
  },
});

function showFollow() {
  const { source, view } = timeline;
  const isLive = Boolean(source?.live);
  followButton.hidden = !isLive;
  followButton.setAttribute("aria-pressed", String(view.follow));
  backButton.hidden = !isLive || view.follow;
  if (!source || backButton.hidden) return;
  const behindNs = Math.max(0, source.simulatedNs - view.t1);
  const label = /** @type {HTMLElement} */ (backButton.querySelector("span"));
  label.textContent = behindNs > 0 ? `back to live (+${duration(behindNs)})` : "back to live";
}

followButton.addEventListener("click", () => timeline.follow(!timeline.view.follow));
backButton.addEventListener("click", () => timeline.follow(true));
document.querySelector("[data-retry]")?.addEventListener("click", () => stream?.retry());
listenToCancel();
listenToBaseline(run.figures_url);

/** @param {string} message */
function fail(message) {
  root.dataset.state = "failed";
  const status = /** @type {HTMLElement} */ (root.querySelector('[data-part="status"]'));
  status.textContent = message;
}

/** @param {string} why  what to say when there is nothing */
async function openFinished(why) {
  try {
    const source = await ServerSource.open(run.layout_url, run.timeline_url);
    timeline.open(source, { search: location.search, follow: false });
  } catch (error) {
    if (run.last_seq === 0) {
      root.dataset.state = "empty";
      const empty = /** @type {HTMLElement} */ (root.querySelector('[data-part="empty"]'));
      empty.hidden = false;
      empty.textContent = why;
      fail("");
      root.dataset.state = "empty";
    } else {
      fail(`The timeline cannot be read: ${error instanceof Error ? error.message : error}. Reload to try again.`);
    }
  }
  showFollow();
}

/** @type {RunStream | null} */
let stream = null;
/** @type {SegmentStore | null} */
let store = null;
let liveTimer = 0;
let drawnAt = -Infinity;

/** Draw what has come, at a pace that eyes and processors can follow. */
function drawLive() {
  if (liveTimer) return;
  const wait = drawnAt + (isCalm ? CALM_FRAME_MS : LIVE_FRAME_MS) - performance.now();
  liveTimer = setTimeout(() => {
    liveTimer = 0;
    drawnAt = performance.now();
    timeline.advance();
    showFollow();
  }, Math.max(0, wait));
}

/** @param {import("./timeline/frame.js").Frame} frame */
function take(frame) {
  const { header } = frame;
  run.last_seq = header.seq;
  if (header.kind === "layout") {
    store = new SegmentStore(new Layout(header.layout));
    timeline.open(new LiveSource(store), { search: location.search, follow: run.pace !== null });
  } else if (header.kind === "log") {
    if (header.level !== "info") addBanner("warn", `log-${header.seq}`, "Worker:", header.message);
  } else if (store) {
    store.take(frame);
    if (header.kind === "metric") refreshFigures(run.figures_url);
    if (header.simulated_ns !== undefined) {
      showProgress(store.simulatedNs, store.horizonNs, header.phase ?? (store.iterationNs ? "fills" : "iteration"));
    }
    drawLive();
  }
}

/** @param {string} status */
function showEnd(status) {
  showStatus(status);
  refreshFigures(run.figures_url);
  element("run-progress").hidden = true;
  document.getElementById("run-cancel")?.remove();
  if (status === "succeeded") return;
  if (status === "cancelled") {
    addBanner("warn", "partial", "Partial.", "The run was cancelled; what it had computed until then is all there is.");
  } else {
    // Why it failed is on the page that the server writes.
    location.reload();
  }
}

function openLive() {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  stream = new RunStream(`${scheme}//${location.host}${run.socket_path}`, run.id, {
    chunk: take,
    status: showStatus,
    async end(status) {
      clearTimeout(liveTimer);
      timeline.advance();
      showEnd(status);
      await openFinished("The run ended before its first segment");
    },
    gap: (from, to) => addBanner("warn", "gap", "Incomplete.", `Chunks ${from} to ${to} are no longer stored; the page shows the rest.`),
    error: (message) => addBanner("error", "stream-error", "Live updates stopped.", message),
    connection: showConnection,
  });
  stream.open();
}

if (run.is_final) openFinished("The run ended before its first segment");
else openLive();

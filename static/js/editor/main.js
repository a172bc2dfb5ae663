/**
 * The scenario editor: wires form, YAML pane, checking, undo, saving and running together.
 *
 * The page works without this module as a textarea with Save; everything here is on top of that form.
 */

import { CodePane } from "./code_pane.js";
import { Form } from "./form.js";
import { History } from "./history.js";
import { Problems } from "./problems.js";
import { Rows, datacenterNames } from "./rows.js";
import { showSummary } from "./summary.js";
import { Sync } from "./sync.js";
import { valueAt } from "./paths.js";

const initial = JSON.parse(document.getElementById("editor-state")?.textContent ?? "{}");
const page = /** @type {HTMLFormElement} */ (document.getElementById("editor"));
const fields = /** @type {HTMLElement} */ (page.querySelector("[data-form]"));
const fieldset = /** @type {HTMLFieldSetElement} */ (fields.querySelector("fieldset"));
const state = /** @type {HTMLElement} */ (page.querySelector("[data-editor-state]"));
const pane = new CodePane(/** @type {HTMLElement} */ (page.querySelector("[data-code]")));
const problems = new Problems({ form: fields, panel: /** @type {HTMLElement} */ (page.querySelector("[data-problems]")), pane });
const history = new History(pane.text);
const saved = initial.saved_text ?? "";
let leaving = false;
let settled = false;
let removedInference = "";
let current = /** @type {any} */ (initial.document ?? {});

const sync = new Sync({
  url: initial.check_url,
  csrfToken: /** @type {HTMLInputElement} */ (page.querySelector("[name=csrfmiddlewaretoken]")).value,
  read: () => ({ text: pane.text, version: pane.version }),
  apply: (reply, fromForm) => {
    if (fromForm && reply.text !== null) pane.replace(reply.text);
    history.record(pane.text);
    show(reply);
  },
  report: (now, detail) => {
    page.dataset.sync = now;
    if (now === "offline") say("Offline: the text could not be checked. Trying again.", "is-warning");
    if (now === "refused") say(detail ?? "", "is-warning");
    if (now === "ready") showDirty();
  },
});
const rows = new Rows(fields, (changes) => sync.push(changes));
const form = new Form(fields, (changes) => sync.push(changes));

/** @param {any} reply */
function show(reply) {
  fieldset.disabled = reply.document === null || !initial.may_edit;
  page.classList.toggle("is-unreadable", reply.document === null);
  if (reply.document !== null) {
    current = reply.document;
    rows.arrange(current);
    form.fill(current);
    showInference();
    showPresets();
    showSummary(page, current, reply.requests);
  }
  problems.show(reply.problems);
  const count = /** @type {HTMLElement} */ (page.querySelector("[data-go-problems]"));
  count.hidden = reply.problems.length === 0;
  count.textContent = reply.problems.length === 1 ? "1 problem" : `${reply.problems.length} problems`;
  for (const button of page.querySelectorAll("button[data-needs-valid]")) {
    const blocked = reply.problems.length > 0;
    button.setAttribute("aria-disabled", String(blocked));
    button.setAttribute("title", blocked ? "Fix the problems listed first" : "");
  }
  showButtons();
  showDirty();
}

function showInference() {
  const on = current.inference !== undefined && current.inference !== null;
  for (const element of fields.querySelectorAll("[data-inference]")) /** @type {HTMLElement} */ (element).hidden = !on;
  const toggle = /** @type {HTMLInputElement} */ (fields.querySelector("#inference-on"));
  toggle.checked = on;
}

/** A select left to the preset says what the preset makes of it. */
function showPresets() {
  const preset = initial.systems[current.training?.system] ?? {};
  for (const option of fields.querySelectorAll("option[data-preset]")) {
    const element = /** @type {HTMLOptionElement} */ (option);
    const path = element.dataset.preset ?? "";
    const filled = valueAt(preset, path);
    element.textContent = filled === undefined ? (element.dataset.default ?? "") : `${filled} (${current.training.system})`;
  }
  for (const input of fields.querySelectorAll("input[data-preset]")) {
    const element = /** @type {HTMLInputElement} */ (input);
    element.placeholder = String(valueAt(preset, element.dataset.preset ?? "") ?? element.dataset.default ?? "");
  }
  const add = /** @type {HTMLButtonElement | null} */ (fields.querySelector("button[data-action=add-link]"));
  if (add) add.disabled = datacenterNames(current).length < 2;
}

function isDirty() {
  return initial.may_edit && pane.text !== saved || sync.pending.length > 0;
}

function showDirty() {
  if (page.dataset.sync === "offline" || page.dataset.sync === "refused") return;
  if (!initial.may_edit) say(`Version ${initial.version} · read only`, "is-saved");
  else if (isDirty()) say(initial.is_new ? "Not saved yet" : "Unsaved changes", "is-dirty");
  else say(initial.is_new ? "Not saved yet" : `Saved · version ${initial.version}`, "is-saved");
}

/**
 * @param {string} text
 * @param {string} look
 */
function say(text, look) {
  if (state.textContent !== text) state.textContent = text;
  state.className = `editor-state ${look}`;
}

function showButtons() {
  /** @type {HTMLButtonElement} */ (page.querySelector("[data-undo]")).disabled = !history.canUndo;
  /** @type {HTMLButtonElement} */ (page.querySelector("[data-redo]")).disabled = !history.canRedo;
}

/** @param {-1 | 1} step */
function move(step) {
  const text = history.move(step);
  if (text === null) return;
  pane.replace(text);
  sync.poke(0);
}

page.querySelector("[data-go-problems]")?.addEventListener("click", () => problems.goTo(problems.problems[0]));
page.querySelector("[data-undo]")?.addEventListener("click", () => move(-1));
page.querySelector("[data-redo]")?.addEventListener("click", () => move(1));
pane.area.addEventListener("input", () => {
  showDirty();
  sync.poke();
});

fields.querySelector("#inference-on")?.addEventListener("change", (event) => {
  const on = /** @type {HTMLInputElement} */ (event.target).checked;
  if (!on) removedInference = pane.text;
  sync.push([on ? { path: ["inference"], kind: "inference", value: removedInference } : { path: ["inference"], remove: true }]);
});

page.querySelector("[data-go-requests]")?.addEventListener("click", () => {
  const line = pane.lines.findIndex((text) => /^\s*inline:/.test(text));
  pane.show(line < 0 ? 1 : line + 1);
});

const pace = /** @type {HTMLSelectElement | null} */ (page.querySelector("[name=pace]"));
const customPace = /** @type {HTMLElement | null} */ (page.querySelector("[data-custom-pace]"));
function showPace() {
  if (customPace) customPace.hidden = pace?.value !== "custom";
}
pace?.addEventListener("change", () => {
  showPace();
  if (pace.value === "custom") customPace?.querySelector("input")?.focus();
});
showPace();

document.addEventListener("keydown", (event) => {
  const key = event.key.toLowerCase();
  if (!(event.ctrlKey || event.metaKey) || event.altKey || !initial.may_edit) return;
  const target = /** @type {HTMLElement} */ (event.target);
  const inField = target.matches("input, select, textarea") && target !== pane.area;
  if (key === "s") {
    event.preventDefault();
    page.requestSubmit(/** @type {HTMLButtonElement} */ (page.querySelector("button[value=save]")));
  } else if (key === "enter") {
    event.preventDefault();
    page.requestSubmit(/** @type {HTMLButtonElement} */ (page.querySelector("button[value=run]")));
  } else if (!inField && (key === "z" || key === "y")) {
    event.preventDefault();
    move(key === "y" || event.shiftKey ? 1 : -1);
  }
});

page.addEventListener("submit", (event) => {
  const button = /** @type {HTMLButtonElement | null} */ (event.submitter);
  if (!settled && (sync.stale || sync.busy || sync.pending.length > 0)) {
    event.preventDefault();
    void sync.settled().then(() => {
      if (sync.pending.length > 0) return;
      settled = true;
      page.requestSubmit(button);
      settled = false;
    });
    return;
  }
  if (!initial.may_edit) {
    event.preventDefault();
    return;
  }
  if (problems.problems.length > 0) {
    event.preventDefault();
    say("Not saved: fix the problems listed first", "is-warning");
    problems.goTo(problems.problems[0]);
    return;
  }
  leaving = true;
});

window.addEventListener("pageshow", () => {
  leaving = false;
});
window.addEventListener("beforeunload", (event) => {
  if (isDirty() && !leaving) event.preventDefault();
});

page.classList.add("is-live");
show({ document: initial.document, problems: initial.problems, requests: initial.requests, text: null });

/**
 * Shows what is wrong: a sentence at each field, a list with links, marks beside the YAML's lines.
 */

import { pathAndParents } from "./paths.js";

/** @typedef {import("./sync.js").Problem} Problem */

export class Problems {
  /**
   * @param {object} parts
   * @param {HTMLElement} parts.form
   * @param {HTMLElement} parts.panel  the list and its heading
   * @param {import("./code_pane.js").CodePane} parts.pane
   */
  constructor({ form, panel, pane }) {
    this.form = form;
    this.pane = pane;
    this.panel = panel;
    this.title = /** @type {HTMLElement} */ (panel.querySelector("[data-problem-title]"));
    this.list = /** @type {HTMLElement} */ (panel.querySelector("[data-problem-list]"));
    this.shown = "";
    this.list.addEventListener("click", (event) => {
      const button = /** @type {HTMLElement} */ (event.target).closest("button[data-index]");
      if (button instanceof HTMLElement) this.goTo(this.problems[Number(button.dataset.index)]);
    });
    /** @type {Problem[]} */
    this.problems = [];
  }

  /** @param {Problem[]} problems */
  show(problems) {
    this.problems = problems;
    this.pane.mark(problems.flatMap((problem) => (problem.line === null ? [] : [problem.line])));
    this.atFields();
    const same = JSON.stringify(problems);
    if (same === this.shown) return;
    this.shown = same;
    this.panel.classList.toggle("is-clean", problems.length === 0);
    this.title.textContent =
      problems.length === 0 ? "Ready to run" : problems.length === 1 ? "1 problem to fix" : `${problems.length} problems to fix`;
    this.list.replaceChildren(...problems.map((problem, index) => this.item(problem, index)));
  }

  /**
   * @param {Problem} problem
   * @param {number} index
   */
  item(problem, index) {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "problem-link";
    button.dataset.index = String(index);
    const path = document.createElement("code");
    path.textContent = problem.path || "document";
    const text = document.createElement("span");
    text.textContent = problem.message;
    button.append(path, text);
    if (problem.line !== null) {
      const line = document.createElement("small");
      line.textContent = `line ${problem.line}`;
      button.append(line);
    }
    item.append(button);
    return item;
  }

  /** @param {Problem} problem */
  goTo(problem) {
    const holder = this.holderOf(problem.path);
    const field = holder?.querySelector("input, select, textarea, button");
    if (field instanceof HTMLElement && !field.matches(":disabled")) {
      field.scrollIntoView({ block: "center" });
      field.focus();
    } else {
      this.pane.show(problem.line ?? 1);
    }
  }

  /**
   * @param {string} path
   * @returns {Element | null}
   */
  holderOf(path) {
    for (const candidate of pathAndParents(path)) {
      const holder = this.form.querySelector(`[data-problem="${CSS.escape(candidate)}"]`);
      if (holder && !holder.closest("[hidden]")) return holder;
    }
    return null;
  }

  atFields() {
    /** @type {Map<Element, Problem[]>} */
    const byHolder = new Map();
    for (const problem of this.problems) {
      const holder = this.holderOf(problem.path);
      if (holder) byHolder.set(holder, [...(byHolder.get(holder) ?? []), problem]);
    }
    for (const holder of this.form.querySelectorAll("[data-problem]")) mark(holder, byHolder.get(holder) ?? []);
  }
}

/**
 * @param {Element} holder
 * @param {Problem[]} problems
 */
function mark(holder, problems) {
  const own = holder.getAttribute("data-problem") ?? "";
  const id = `problem-${own.replaceAll(/[^\w]+/g, "-")}`;
  const exists = document.getElementById(id);
  const label = holder.closest("tr[data-row]") ? holder.getAttribute("data-label") : null;
  const text = problems
    .map((problem) => (problem.path === own ? `${label ? `${label}: ` : ""}${problem.message}` : `${problem.path}: ${problem.message}`))
    .join("\n");
  if (exists?.textContent === text || (!exists && text === "")) return;
  const fields = [...holder.querySelectorAll("input, select, textarea")].filter((field) => field.closest("[data-problem]") === holder);
  holder.classList.toggle("has-problem", text !== "");
  if (text === "") {
    if (exists) takeAway(exists);
    for (const field of fields) {
      field.removeAttribute("aria-invalid");
      field.setAttribute("aria-describedby", field.getAttribute("data-hint") ?? "");
      if (!field.getAttribute("aria-describedby")) field.removeAttribute("aria-describedby");
    }
    return;
  }
  const error = exists ?? document.createElement("p");
  error.className = "field-error";
  error.id = id;
  error.textContent = text;
  if (!exists) placeFor(holder).append(error);
  for (const field of fields) {
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", [error.id, field.getAttribute("data-hint")].filter(Boolean).join(" "));
  }
}

/**
 * Where the sentence about a field goes: beside it, or under its row where a cell is too narrow.
 *
 * @param {Element} holder
 * @returns {Element}
 */
function placeFor(holder) {
  const row = holder.closest("tr[data-row]");
  if (!row) return holder;
  const next = row.nextElementSibling;
  if (next?.classList.contains("row-errors")) return /** @type {Element} */ (next.firstElementChild);
  const errors = document.createElement("tr");
  errors.className = "row-errors";
  const cell = document.createElement("td");
  cell.colSpan = row.children.length;
  errors.append(cell);
  row.after(errors);
  return cell;
}

/** @param {Element} error */
function takeAway(error) {
  const row = error.closest("tr.row-errors");
  error.remove();
  if (row && !row.querySelector(".field-error")) row.remove();
}

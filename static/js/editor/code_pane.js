/**
 * The YAML pane: a plain textarea with line numbers and colours painted behind it.
 *
 * Only the lines on screen are painted, so a document of many thousand request rows scrolls and
 * types like a short one.
 */

const LINE_PX = 20;
const PADDING_PX = 8;
const TOKEN = /(#.*$)|("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')|([A-Za-z_][\w-]*)(?=\s*:(?:\s|$))|(?<![\w.-])([-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?![\w-])|([[\]{},:]|- )/g;
const CLASSES = ["tok-comment", "tok-text", "tok-key", "tok-number", "tok-mark"];

export class CodePane {
  /** @param {HTMLElement} root  holds a textarea; gutter and paint are added */
  constructor(root) {
    this.root = root;
    this.area = /** @type {HTMLTextAreaElement} */ (root.querySelector("textarea"));
    this.gutter = this.layer("div", "code-gutter");
    this.paint = this.layer("pre", "code-paint");
    this.version = 0;
    this.lines = [""];
    /** @type {Set<number>} lines with a problem, from 1 */
    this.marked = new Set();
    this.queued = false;
    root.classList.add("is-painted");
    this.area.addEventListener("input", () => this.changed());
    this.area.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.area);
    this.changed();
  }

  /**
   * @param {string} tag
   * @param {string} name
   */
  layer(tag, name) {
    const element = document.createElement(tag);
    element.className = name;
    element.setAttribute("aria-hidden", "true");
    this.root.prepend(element);
    return element;
  }

  get text() {
    return this.area.value;
  }

  /**
   * Put in another text and keep place and selection as near as possible.
   *
   * @param {string} text
   */
  replace(text) {
    const { area } = this;
    if (area.value === text) return;
    const { scrollTop, scrollLeft, selectionStart, selectionEnd } = area;
    area.value = text;
    if (document.activeElement === area) area.setSelectionRange(selectionStart, selectionEnd);
    area.scrollTop = scrollTop;
    area.scrollLeft = scrollLeft;
    this.changed();
  }

  changed() {
    this.version += 1;
    this.lines = this.area.value.split("\n");
    this.draw();
  }

  /** @param {Iterable<number>} lines */
  mark(lines) {
    this.marked = new Set(lines);
    this.draw();
  }

  /**
   * Select a line and bring it into view.
   *
   * @param {number} line  from 1
   */
  show(line) {
    const before = this.lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    const length = (this.lines[line - 1] ?? "").length;
    this.area.focus({ preventScroll: true });
    this.area.setSelectionRange(before, before + length);
    this.area.scrollTop = Math.max(0, (line - 1) * LINE_PX - this.area.clientHeight / 3);
    this.area.scrollLeft = 0;
    this.root.scrollIntoView({ block: "nearest" });
  }

  draw() {
    if (this.queued) return;
    this.queued = true;
    requestAnimationFrame(() => {
      this.queued = false;
      this.drawNow();
    });
  }

  drawNow() {
    const { area } = this;
    const first = Math.max(0, Math.floor((area.scrollTop - PADDING_PX) / LINE_PX));
    const last = Math.min(this.lines.length, first + Math.ceil(area.clientHeight / LINE_PX) + 2);
    const top = PADDING_PX + first * LINE_PX - area.scrollTop;
    const numbers = [];
    const painted = [];
    for (let index = first; index < last; index += 1) {
      const marked = this.marked.has(index + 1);
      const number = document.createElement("span");
      number.textContent = String(index + 1);
      if (marked) number.className = "is-marked";
      numbers.push(number);
      const line = document.createElement("span");
      if (marked) line.className = "is-marked";
      paintLine(line, this.lines[index]);
      painted.push(line);
    }
    this.gutter.replaceChildren(...numbers);
    this.paint.replaceChildren(...painted);
    this.gutter.style.transform = `translateY(${top}px)`;
    this.paint.style.transform = `translate(${-area.scrollLeft}px, ${top}px)`;
  }
}

/**
 * @param {HTMLElement} element
 * @param {string} line
 */
function paintLine(element, line) {
  const shown = line.length > 2000 ? line.slice(0, 2000) : line;
  let from = 0;
  for (const match of shown.matchAll(TOKEN)) {
    if (match.index > from) element.append(shown.slice(from, match.index));
    const kind = match.slice(1).findIndex((group) => group !== undefined);
    const token = document.createElement("b");
    token.className = CLASSES[kind];
    token.textContent = match[0];
    element.append(token);
    from = match.index + match[0].length;
  }
  element.append(shown.slice(from) || (from === 0 ? "\u200b" : ""));
}

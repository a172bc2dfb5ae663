/** One HTML tooltip for the whole timeline, kept inside the window. */

export class Tooltip {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
  }

  /**
   * @param {number} x  in the window
   * @param {number} y
   * @param {{title: string, lines: string[], color: string}} content
   */
  show(x, y, { title, lines, color }) {
    const head = document.createElement("strong");
    head.textContent = title;
    const rest = lines.map((text) => {
      const line = document.createElement("span");
      line.textContent = text;
      return line;
    });
    this.element.replaceChildren(head, ...rest);
    this.element.style.setProperty("--fill", color);
    this.element.hidden = false;
    const { width, height } = this.element.getBoundingClientRect();
    const left = x + 14 + width > innerWidth - 8 ? x - 14 - width : x + 14;
    const top = y + 16 + height > innerHeight - 8 ? y - 12 - height : y + 16;
    this.element.style.left = `${Math.max(8, left)}px`;
    this.element.style.top = `${Math.max(8, top)}px`;
  }

  hide() {
    this.element.hidden = true;
  }
}

/** The legend: one button per kind that the run has, pressed while the kind is shown. */

import { GROUPS } from "./kinds.js";

export class Legend {
  /**
   * @param {HTMLElement} element
   * @param {(group: number) => void} toggle
   */
  constructor(element, toggle) {
    this.buttons = GROUPS.map((group, index) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "tl-kind";
      button.title = `Hide or show ${group.name} (key ${index + 1})`;
      button.dataset.kind = group.letter;
      button.hidden = true;
      const swatch = document.createElement("span");
      swatch.className = `tl-swatch${group.outlined ? " is-outlined" : ""}`;
      swatch.style.setProperty("--fill", `var(--kind-${group.token})`);
      swatch.style.setProperty("--ink", `var(--on-kind-${group.token})`);
      swatch.textContent = group.letter;
      swatch.setAttribute("aria-hidden", "true");
      const name = document.createElement("span");
      name.textContent = group.name;
      button.append(swatch, name);
      button.addEventListener("click", () => toggle(index));
      return button;
    });
    const idle = document.createElement("span");
    idle.className = "tl-kind is-idle";
    idle.innerHTML = '<span class="tl-swatch" aria-hidden="true"></span><span>idle (bubble)</span>';
    element.replaceChildren(...this.buttons, idle);
  }

  /**
   * @param {Set<number>} present
   * @param {Set<number>} hidden
   */
  draw(present, hidden) {
    this.buttons.forEach((button, index) => {
      button.hidden = !present.has(index) && !hidden.has(index);
      button.setAttribute("aria-pressed", String(!hidden.has(index)));
    });
  }
}

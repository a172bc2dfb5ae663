/** Small pieces of HTML that panels and dialogs are made of. */

/**
 * @param {string} name
 * @param {string} [className]
 * @param {(Node | string)[]} children
 */
export function element(name, className = "", ...children) {
  const node = document.createElement(name);
  if (className) node.className = className;
  node.append(...children);
  return node;
}

/** @param {string} text @param {() => void} press */
export function quietButton(text, press) {
  const node = /** @type {HTMLButtonElement} */ (element("button", "button button-small button-ghost", text));
  node.type = "button";
  node.addEventListener("click", press);
  return node;
}

/**
 * @param {string} caption  for those who cannot see where it stands
 * @param {string[]} heads
 * @param {string[][]} rows
 * @param {number} firstNumber  column from which on cells are numbers
 */
export function table(caption, heads, rows, firstNumber) {
  const cell = (/** @type {string} */ name) => (/** @type {string} */ text, /** @type {number} */ column) =>
    element(name, column >= firstNumber ? "num" : "", text);
  const head = element("tr", "", ...heads.map(cell("th")));
  for (const node of head.children) node.setAttribute("scope", "col");
  return element(
    "table",
    "table",
    element("caption", "visually-hidden", caption),
    element("thead", "", head),
    element("tbody", "", ...rows.map((row) => element("tr", "", ...row.map(cell("td"))))),
  );
}

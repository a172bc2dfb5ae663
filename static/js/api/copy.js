/** Buttons with `data-copy` put the text of the element of that id on the clipboard. */

const SHOWN_MS = 1600;

document.addEventListener("click", (event) => {
  const button = /** @type {Element} */ (event.target).closest("button[data-copy]");
  if (!(button instanceof HTMLButtonElement)) return;
  const source = document.getElementById(button.dataset.copy ?? "");
  const label = button.querySelector("span");
  if (!source || !label) return;
  void copied(source).then((done) => {
    label.textContent = done ? "Copied" : "Selected: press Ctrl+C";
    setTimeout(() => {
      label.textContent = "Copy";
    }, SHOWN_MS);
  });
});

/**
 * @param {HTMLElement} source
 * @returns {Promise<boolean>} false where the browser keeps the clipboard shut; the text is selected then
 */
async function copied(source) {
  try {
    await navigator.clipboard.writeText(source.textContent ?? "");
    return true;
  } catch {
    const range = document.createRange();
    range.selectNodeContents(source);
    const selection = getSelection();
    selection?.removeAllRanges();
    selection?.addRange(range);
    return false;
  }
}

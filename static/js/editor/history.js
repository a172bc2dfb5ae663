/** Undo and redo over whole texts; the text is the only state of the editor. */

const MAX_CHARACTERS = 20_000_000;

export class History {
  /** @param {string} text */
  constructor(text) {
    this.texts = [text];
    this.at = 0;
  }

  /** @param {string} text */
  record(text) {
    if (text === this.texts[this.at]) return;
    this.texts.splice(this.at + 1);
    this.texts.push(text);
    while (this.texts.length > 2 && this.texts.reduce((sum, item) => sum + item.length, 0) > MAX_CHARACTERS) {
      this.texts.shift();
    }
    this.at = this.texts.length - 1;
  }

  get canUndo() {
    return this.at > 0;
  }

  get canRedo() {
    return this.at < this.texts.length - 1;
  }

  /**
   * @param {-1 | 1} step
   * @returns {string | null}
   */
  move(step) {
    const next = this.at + step;
    if (next < 0 || next >= this.texts.length) return null;
    this.at = next;
    return this.texts[next];
  }
}

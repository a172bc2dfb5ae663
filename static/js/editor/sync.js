/**
 * Keeps form and YAML in step through the server, which owns reading, merging and checking.
 *
 * One request is under way at a time. What the form changed waits in `pending` until a reply has it
 * in its text; if the YAML was typed in meanwhile, that reply is dropped and the changes are sent
 * again on top of the new text, so neither side loses anything.
 */

const DEBOUNCE_MS = 250;
const RETRY_MS = 2000;

/**
 * @typedef {{path: (string | number)[], kind?: string, value?: unknown, remove?: boolean}} FormChange
 * @typedef {{path: string, message: string, line: number | null}} Problem
 * @typedef {{text: string, document: object | null, problems: Problem[], requests: object | null}} Reply
 */

export class Sync {
  /**
   * @param {object} options
   * @param {string} options.url
   * @param {string} options.csrfToken
   * @param {() => {text: string, version: number}} options.read  the YAML now and its version
   * @param {(reply: Reply, fromForm: boolean) => void} options.apply
   * @param {(state: "checking" | "ready" | "offline" | "refused", detail?: string) => void} options.report
   */
  constructor(options) {
    this.options = options;
    /** @type {FormChange[]} */
    this.pending = [];
    this.timer = 0;
    this.busy = false;
    this.stale = false;
    /** @type {(() => void)[]} */
    this.waiting = [];
  }

  /** @param {FormChange[]} changes */
  push(changes) {
    for (const change of changes) {
      const key = JSON.stringify(change.path);
      const last = this.pending.at(-1);
      if (last && !change.remove && !last.remove && JSON.stringify(last.path) === key && !this.busy) this.pending.pop();
      this.pending.push(change);
    }
    this.poke();
  }

  /** Check again soon: something was typed. */
  poke(delayMs = DEBOUNCE_MS) {
    this.stale = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.flush(), delayMs);
  }

  /** @returns {Promise<void>} resolves when form and YAML say the same, or the server is away */
  async settled() {
    if (!this.stale && !this.busy) return;
    const done = new Promise((resolve) => this.waiting.push(() => resolve(undefined)));
    this.poke(0);
    await done;
  }

  async flush() {
    if (this.busy) return;
    clearTimeout(this.timer);
    this.busy = true;
    this.stale = false;
    this.options.report("checking");
    const sent = this.pending.length;
    const { text, version } = this.options.read();
    try {
      const response = await fetch(this.options.url, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRFToken": this.options.csrfToken },
        body: JSON.stringify({ text, changes: this.pending.slice(0, sent) }),
      });
      if (!response.ok) {
        this.busy = false;
        this.finish();
        this.options.report("refused", await sentenceOf(response));
        return;
      }
      const reply = /** @type {Reply} */ (await response.json());
      this.busy = false;
      if (this.options.read().version !== version) {
        this.poke();
        return;
      }
      if (reply.document !== null || sent === 0) this.pending.splice(0, sent);
      this.options.apply(reply, sent > 0);
      if (this.stale) {
        this.poke(0);
        return;
      }
      this.options.report("ready");
      this.finish();
    } catch {
      this.busy = false;
      this.options.report("offline");
      this.finish();
      this.poke(RETRY_MS);
    }
  }

  finish() {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

/** @param {Response} response */
async function sentenceOf(response) {
  if (response.status === 403) return "You are signed out or may not edit here. Open the page again in a new tab; your text stays in this one.";
  if (response.status === 413) return "The document is larger than the server accepts.";
  return `The server answered ${response.status}; the text could not be checked.`;
}

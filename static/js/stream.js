/**
 * The socket of a page: one run, every chunk exactly once and in order, whatever the network does.
 *
 * The cursor is the number of the last chunk taken. Chunks at or below it are dropped; one that
 * leaves a gap is not taken, and the run is subscribed to again from the cursor, so that the server
 * sends what is missing. A hidden tab lets go of the run and catches up when it is looked at.
 */

import { decodeFrame } from "./timeline/frame.js";

const BACKOFF_MS = [250, 500, 1000, 2000, 4000, 8000, 15000];
const OFFLINE_AFTER = 4;

/**
 * @typedef {object} Handlers
 * @property {(frame: import("./timeline/frame.js").Frame) => void} chunk
 * @property {(status: string) => void} status
 * @property {(status: string) => void} end
 * @property {(from: number, to: number) => void} gap       chunks the server no longer has
 * @property {(message: string) => void} error
 * @property {(state: "connected" | "reconnecting" | "offline" | "idle", seconds: number) => void} connection
 */

export class RunStream {
  /**
   * @param {string} url  ws: or wss:
   * @param {string} run
   * @param {Handlers} handlers
   */
  constructor(url, run, handlers) {
    this.url = url;
    this.run = run;
    this.handlers = handlers;
    this.cursor = 0;
    this.isOver = false;
    this.failures = 0;
    this.timer = 0;
    /** @type {WebSocket | null} */
    this.socket = null;
    /** Whether chunks are to be dropped until the server has answered a new subscription. */
    this.isResyncing = false;
    document.addEventListener("visibilitychange", () => this.#lookAtVisibility());
    addEventListener("online", () => this.retry());
  }

  open() {
    if (this.socket || this.isOver) return;
    const socket = new WebSocket(this.url);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.addEventListener("open", () => {
      if (!document.hidden) this.#subscribe();
      this.handlers.connection("connected", 0);
    });
    socket.addEventListener("message", ({ data }) => {
      if (socket !== this.socket) return;
      if (typeof data === "string") this.#text(JSON.parse(data));
      else this.#binary(data);
    });
    socket.addEventListener("close", () => {
      if (socket !== this.socket) return;
      this.socket = null;
      if (!this.isOver) this.#waitAndRetry();
    });
  }

  /** Connect now instead of when the wait is over. */
  retry() {
    if (this.isOver || this.socket) return;
    clearInterval(this.timer);
    this.open();
  }

  close() {
    this.isOver = true;
    clearInterval(this.timer);
    const socket = this.socket;
    this.socket = null;
    socket?.close();
    this.handlers.connection("idle", 0);
  }

  #subscribe() {
    this.#send({ t: "sub", run: this.run, after: this.cursor });
  }

  /** @param {object} message */
  #send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** @param {any} message */
  #text(message) {
    if (message.run !== this.run) {
      if (message.t === "err") this.handlers.error(message.message);
      return;
    }
    if (message.t === "hello") {
      this.failures = 0;
      this.isResyncing = false;
      this.handlers.status(message.status);
    } else if (message.t === "status") {
      this.handlers.status(message.status);
    } else if (message.t === "gap") {
      if (message.next <= this.cursor + 1) return;
      this.handlers.gap(this.cursor + 1, message.next - 1);
      this.cursor = message.next - 1;
    } else if (message.t === "end") {
      if (this.isResyncing) return;
      if (this.cursor < message.last_seq) {
        this.#resync();
        return;
      }
      this.close();
      this.handlers.end(message.status);
    } else if (message.t === "err") {
      this.handlers.error(message.message);
    }
  }

  /** @param {ArrayBuffer} data */
  #binary(data) {
    if (this.isResyncing) return;
    const frame = decodeFrame(data);
    const { run, seq } = frame.header;
    if (run !== this.run || seq <= this.cursor) return;
    if (seq > this.cursor + 1) {
      this.#resync();
      return;
    }
    this.cursor = seq;
    this.handlers.chunk(frame);
  }

  /** Something is missing: start again behind the cursor, and take nothing until the server says hello. */
  #resync() {
    this.isResyncing = true;
    this.#subscribe();
  }

  #waitAndRetry() {
    this.failures += 1;
    const waitMs = BACKOFF_MS[Math.min(this.failures, BACKOFF_MS.length) - 1] * (0.8 + 0.4 * Math.random());
    const until = performance.now() + waitMs;
    const tell = () => {
      const left = Math.max(0, Math.ceil((until - performance.now()) / 1000));
      this.handlers.connection(this.failures > OFFLINE_AFTER ? "offline" : "reconnecting", left);
      if (performance.now() >= until) this.retry();
    };
    clearInterval(this.timer);
    this.timer = setInterval(tell, Math.min(1000, waitMs));
    tell();
  }

  #lookAtVisibility() {
    if (this.isOver) return;
    if (document.hidden) this.#send({ t: "unsub", run: this.run });
    else if (this.socket?.readyState === WebSocket.OPEN) this.#subscribe();
    else this.retry();
  }
}

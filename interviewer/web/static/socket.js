/**
 * One session's socket. Reconnects with backoff and jitter, says which `seq` it has, drops what it has seen, and
 * resends nothing by itself: what was not acknowledged is the business of whoever sent it (see `interview.js`).
 */

import { newToken } from "./api.js";
import * as store from "./store.js";

const SUBPROTOCOL = "interview.v1";
const PING_EVERY = 20_000;
const PONG_WITHIN = 10_000;
const OPEN_WITHIN = 10_000;
const LONGEST_WAIT = 20_000;
/** The server closes with this code after `taken_over`. */
const TAKEN_OVER = 4001;

export class Connection {
  /**
   * @param {string} id session id
   * @param {{message: Function, state: Function, reset: Function}} handlers `state(name, detail)` gets one of
   *   connecting, open, waiting (detail: milliseconds to the next try), taken, refused (detail: error), closed.
   */
  constructor(id, handlers) {
    this.id = id;
    this.handlers = handlers;
    this.lastSeq = 0;
    this.tries = 0;
    this.refusals = 0;
    this.done = false;
    /** Milliseconds after which a server that restarts wants us back; `null` when it did not say. */
    this.retryAfter = null;
    this.socket = null;
    this.timers = new Set();
    this.wake = () => {
      if (document.visibilityState !== "visible" || this.done) return;
      if (this.state === "waiting") this.retryNow();
      else if (this.state === "open") this.#ping();
    };
    document.addEventListener("visibilitychange", this.wake);
    window.addEventListener("online", this.wake);
  }

  start() {
    this.done = false;
    this.#connect();
  }

  /** Close for good. */
  stop() {
    this.done = true;
    document.removeEventListener("visibilitychange", this.wake);
    window.removeEventListener("online", this.wake);
    this.#drop();
    this.#enter("closed");
  }

  retryNow() {
    this.done = false;
    this.tries = 0;
    this.#connect();
  }

  /** Send one message if the connection is up; returns whether it was handed over. */
  send(message) {
    if (this.state !== "open" || this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  #enter(state, detail) {
    this.state = state;
    this.handlers.state(state, detail);
  }

  #after(ms, action) {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      action();
    }, ms);
    this.timers.add(timer);
    return timer;
  }

  #cancel(timer) {
    clearTimeout(timer);
    this.timers.delete(timer);
  }

  #drop() {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
    this.pong = null;
    const socket = this.socket;
    this.socket = null;
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = socket.onerror = null;
      socket.close(1000);
    }
  }

  async #connect() {
    this.#drop();
    this.#enter("connecting");
    const attempt = (this.attempt = Symbol("attempt"));
    let token = store.read(`token:${this.id}`);
    try {
      if (!token) token = await this.#renew();
    } catch (error) {
      if (attempt !== this.attempt || this.done) return;
      if (error.status >= 400 && error.status < 500 && error.status !== 429) return this.#refuse(error);
      return this.#later();
    }
    if (attempt !== this.attempt || this.done) return undefined;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const path = store.read(`ws:${this.id}`) ?? `/v1/sessions/${encodeURIComponent(this.id)}/ws`;
    const socket = new WebSocket(`${scheme}://${location.host}${path}`, SUBPROTOCOL);
    this.socket = socket;
    this.opening = this.#after(OPEN_WITHIN, () => this.#later());
    socket.onopen = () => {
      socket.send(JSON.stringify({ type: "hello", token, last_seq: this.lastSeq }));
      // A ticket says when it ends, opens once, and is of no use again.
      if (/^\d+\./.test(token)) store.write(`token:${this.id}`, null);
    };
    socket.onmessage = (frame) => this.#receive(frame.data);
    socket.onclose = (event) => this.#closed(event);
    return undefined;
  }

  async #renew() {
    const fresh = await newToken(this.id);
    store.remember(this.id, fresh);
    return fresh.token;
  }

  #receive(data) {
    let message;
    try {
      message = JSON.parse(data);
    } catch {
      return;
    }
    this.#heard();
    if (message.type === "welcome") {
      this.#cancel(this.opening);
      this.tries = 0;
      this.refusals = 0;
      this.state = "open";
      this.handlers.message(message);
      this.#enter("open");
      this.#beat();
      return;
    }
    if (message.type === "pong") return;
    if (message.type === "going_away") {
      this.retryAfter = message.retry_after_ms; // the running turn is still sent; then the server closes
      return;
    }
    if (message.type === "resync") {
      this.lastSeq = 0;
      this.handlers.reset();
      return;
    }
    if (message.type === "error" && message.code === "unauthorized") {
      this.#unauthorized(message);
      return;
    }
    if (message.type === "error" && message.code === "taken_over") {
      this.#taken();
      return;
    }
    if (message.type === "error" && message.code === "shutting_down") {
      this.handlers.message(message);
      this.#later();
      return;
    }
    if (message.recorded) {
      if (message.seq <= this.lastSeq) return;
      this.lastSeq = message.seq;
    }
    this.handlers.message(message);
  }

  #heard() {
    if (this.pong) this.#cancel(this.pong);
    this.pong = null;
  }

  #beat() {
    this.#after(PING_EVERY, () => {
      this.#ping();
      this.#beat();
    });
  }

  /** Browsers cannot send protocol pings; a dead link shows as a missing answer to this one. */
  #ping() {
    if (!this.send({ type: "ping" }) || this.pong) return;
    this.pong = this.#after(PONG_WITHIN, () => this.#later());
  }

  #closed(event) {
    this.socket = null;
    if (this.done) return;
    if (event.code === TAKEN_OVER) this.#taken();
    else this.#later();
  }

  #taken() {
    this.done = true;
    this.#drop();
    this.#enter("taken");
  }

  #refuse(error) {
    this.done = true;
    this.#drop();
    this.#enter("refused", error);
  }

  /** The token is old: get one new token, once; then say so. */
  #unauthorized(error) {
    this.refusals += 1;
    store.write(`token:${this.id}`, null);
    if (this.refusals > 1) this.#refuse(error);
    else this.#connect();
  }

  #later() {
    this.#drop();
    if (this.done) return;
    const ceiling = Math.min(LONGEST_WAIT, 500 * 2 ** this.tries);
    const wait = this.retryAfter ?? ceiling / 2 + (Math.random() * ceiling) / 2;
    this.retryAfter = null;
    this.tries += 1;
    this.#after(wait, () => this.#connect());
    this.#enter("waiting", wait);
  }
}

/**
 * The interview. What is shown is a fold of the events; the text that is being typed, and an answer that was sent and
 * not acknowledged, are kept in the browser until the log has them, so that neither a lost connection nor a reload nor
 * the bell loses a word.
 */

import * as api from "./api.js";
import { announce, append, clear, confirmDialog, errorBox, h, option } from "./dom.js";
import { byCode, listed, t } from "./i18n.js";
import * as parts from "./parts.js";
import { Connection } from "./socket.js";
import * as store from "./store.js";
import { capAfter, clock, initials, length, level as levelWord, plain, points } from "./words.js";

const MAX_ANSWER = 20_000;
const MAX_FRAME = 64 * 1024;
/** A pause counts as at most this many seconds, as in the service. */
const PAUSE_CAP = 600;
const SLOW = 10;

const WHAT_TO_DO = {
  turn_in_progress: t("Wait until the question has been asked, then send again. Your text is back in the box."),
  empty_answer: t("Write something first; \"I do not know\" is an answer too."),
  answer_too_long: t("Shorten it to {MAX_ANSWER} characters. Your text is back in the box.", { MAX_ANSWER: MAX_ANSWER.toLocaleString("en") }),
  session_ended: t("The round is over. Your text is kept below and can be copied."),
  unknown_persona: t("Choose another interviewer."),
  no_retry: t("Go on with the question that stands."),
  over_word_limit: t("Shorten it; your text is back in the box."),
  no_hint: t("Answer with what you have; saying where your knowledge ends counts."),
  bad_message: t("Reload the page; your draft is kept."),
  shutting_down: t("The service is restarting. This page reconnects by itself."),
};

const ENDINGS = {
  candidate: t("You ended the round."),
  time: t("Time was up."),
  complete: t("The interviewer has heard what the round is for."),
  imported: t("This is an imported transcript."),
  replayed: t("This is a replay."),
};

const OPEN_DETAILS = "show-assessments";
const HIDE_TIMER = "hide-timer";

export function interview(root, id) {
  const view = new Interview(root, id);
  view.open();
  return () => view.close();
}

class Interview {
  constructor(root, id) {
    this.root = root;
    this.id = id;
    this.personas = new Map();
    this.criteria = new Map();
    this.live = true;
    this.outbox = this.#storedOutbox();
    this.#fresh();
    this.onKey = (event) => {
      if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open]")) return;
      if (this.stage === "asking") this.interrupt();
    };
    document.addEventListener("keydown", this.onKey);
    this.follow = true;
    this.tick = setInterval(() => this.#clock(), 1000);
    this.connection = new Connection(id, {
      message: (message) => this.receive(message),
      state: (name, detail) => this.connected(name, detail),
      reset: () => this.#restart(),
    });
  }

  /** What is folded from events; forgotten on `resync`. */
  #fresh() {
    this.started = null;
    this.persona = null;
    this.stage = "connecting";
    this.caughtUp = false;
    this.turn = 0;
    this.questionOf = new Map();
    this.rungs = new Map();
    this.questions = new Map();
    this.answers = new Map();
    this.streaming = null;
    this.partial = "";
    this.stopped = null;
    this.returned = null;
    this.pendingNode = null;
    this.active = 0;
    this.lastAt = null;
    this.reference = null;
    this.ended = null;
    this.waitingSince = null;
    this.warned = new Set();
    this.prices = null;
  }

  #storedOutbox() {
    try {
      const kept = JSON.parse(store.read(`outbox:${this.id}`) ?? "null");
      return kept?.msg_id && typeof kept.text === "string" ? kept : null;
    } catch {
      return null;
    }
  }

  #setOutbox(value) {
    this.outbox = value;
    store.write(`outbox:${this.id}`, value ? JSON.stringify(value) : null);
  }

  // Building

  async open() {
    document.body.className = "interviewing";
    this.#build();
    this.connection.start();
    const [row, personas, criteria] = await Promise.allSettled([api.session(this.id), api.personaNames(), api.criteriaNames()]);
    if (!this.live) return;
    if (row.status === "rejected" && row.reason.status === 404) {
      this.connection.stop();
      clear(this.root);
      document.body.className = "";
      append(
        this.root,
        h("h1", null, t("No such session")),
        h("p", null, t("It was deleted, or the address is wrong. "), h("a", { href: "#/history" }, t("See your sessions")), t(".")),
      );
      return;
    }
    if (row.status === "fulfilled") this.loop = row.value?.loop_id ?? null;
    if (personas.status === "fulfilled") this.personas = personas.value;
    if (criteria.status === "fulfilled") this.criteria = criteria.value;
    this.#who();
    this.#swapOptions();
    for (const [persona, nodes] of this.named ?? []) for (const node of nodes) node.textContent = this.#name(persona);
    if (this.ended) this.#finish();
  }

  close() {
    this.live = false;
    clearInterval(this.tick);
    clearTimeout(this.catchUp);
    clearTimeout(this.retry);
    document.removeEventListener("keydown", this.onKey);
    this.resized?.disconnect();
    this.connection.stop();
  }

  #build() {
    this.named = new Map();
    const el = (this.el = {});
    el.avatar = h("span", { class: "avatar", "aria-hidden": "true" });
    el.name = h("h1", null, t("Interview"));
    el.title = h("p", { class: "muted" });
    el.timer = h("p", { class: "timer", role: "timer", "aria-live": "off" });
    el.link = h("p", { class: "link-state", role: "status" });
    el.swap = h("select", { id: "swap" });
    el.swapButton = h("button", { type: "button", on: { click: () => this.swap() } }, t("Hand over"));
    el.hideTimer = h("input", { type: "checkbox", id: "hide-timer", checked: store.read(HIDE_TIMER) === "1", on: { change: () => this.#hideTimer() } });
    el.end = h("button", { type: "button", class: "danger", on: { click: () => this.end() } }, t("End the round"));
    el.more = h(
      "details",
      { class: "more" },
      h("summary", null, t("Round")),
      h(
        "div",
        { class: "panel" },
        (el.facts = h("p", { class: "muted" })),
        h("div", { class: "field" }, h("label", { for: "swap" }, t("Swap the interviewer")), h("div", { class: "row" }, el.swap, el.swapButton)),
        h("label", { class: "check" }, el.hideTimer, t(" Hide the timer")),
        el.end,
      ),
    );
    el.more.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !el.more.open) return;
      event.preventDefault();
      el.more.open = false;
      el.more.querySelector("summary").focus();
    });
    el.log = h("ol", { class: "log" });
    el.scroll = h("div", { class: "scroll", role: "region", "aria-label": t("Conversation"), tabindex: "0" }, el.log);
    el.scroll.addEventListener("scroll", () => { this.follow = this.#near(el.scroll); }, { passive: true });
    // A growing answer box or a phone's keyboard takes room from the conversation: its end stays in sight.
    this.resized = new ResizeObserver(() => { if (this.follow) el.scroll.scrollTop = el.scroll.scrollHeight; });
    this.resized.observe(el.scroll);
    el.status = h("p", { class: "stage" });
    el.stageText = h("span", { role: "status" });
    el.stageTime = h("span", { class: "muted", "aria-hidden": "true" });
    append(el.status, h("span", { class: "dot", "aria-hidden": "true" }), el.stageText, el.stageTime);
    el.problem = h("div");
    el.text = h("textarea", {
      id: "answer",
      rows: 3,
      "aria-describedby": "answer-help",
      spellcheck: "true",
      autocomplete: "off",
      value: store.read(`draft:${this.id}`) ?? "",
      on: {
        input: () => this.typed(),
        keydown: (event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing) {
            event.preventDefault();
            this.send();
          }
        },
      },
    });
    el.send = h("button", { type: "submit", class: "primary" }, t("Send"));
    el.stop = h("button", { type: "button", on: { click: () => this.interrupt() } }, t("Stop"), h("kbd", null, "Esc"));
    el.hint = h("button", { type: "button", on: { click: () => this.hint() } }, t("Hint"));
    el.retry = h("button", { type: "button", hidden: true, on: { click: () => this.retryAnswer() } }, t("Answer the last one again"));
    const ask = (label, text) => h("button", { type: "button", class: "small", on: { click: () => this.#ask(text) } }, label);
    el.asides = h(
      "div",
      { class: "row asides", role: "group", "aria-label": t("Say to the interviewer") },
      ask(t("Repeat the question"), "Please repeat the question."),
      ask(t("Put it differently"), "Could you rephrase the question?"),
      ask(t("A minute to think"), "I need a minute to think."),
      ask(t("I do not know"), "I do not know."),
      ask(t("Skip it"), "Can we skip this question?"),
    );
    el.count = h("span", { class: "muted count" });
    const key = /Mac|iPhone|iPad/.test(navigator.platform ?? "") ? "Cmd" : "Ctrl";
    el.composer = h(
      "form",
      {
        class: "composer",
        "aria-label": t("Your answer"),
        on: {
          submit: (event) => {
            event.preventDefault();
            this.send();
          },
        },
      },
      el.problem,
      h("label", { for: "answer", class: "sr" }, t("Your answer")),
      el.text,
      h(
        "div",
        { class: "row" },
        el.send,
        el.stop,
        el.hint,
        el.retry,
        h("span", { class: "muted help wide", id: "answer-help" }, t("{key}+Enter sends. Pauses cost nothing, and you may ask about the case first.", { key })),
        el.count,
      ),
      el.asides,
    );
    el.after = h("div", { class: "composer after", hidden: true });
    clear(this.root);
    append(
      this.root,
      h(
        "div",
        { class: "interview" },
        h("div", { class: "interview-head" }, el.avatar, h("div", { class: "who-is" }, el.name, el.title), h("div", { class: "meters" }, el.timer, el.link), el.more),
        el.scroll,
        h("div", { class: "foot" }, el.status, el.composer, el.after),
      ),
    );
    this.#autosize();
    this.#hideTimer();
    this.#refresh();
  }

  #restart() {
    this.#fresh();
    clear(this.el.log);
    this.named.clear();
    this.#refresh();
  }

  #name(persona) {
    return this.personas.get(persona)?.name ?? plain(persona ?? "interviewer");
  }

  #nameNode(persona) {
    const node = h("span", { class: "speaker" }, this.#name(persona));
    this.named.set(persona, [...(this.named.get(persona) ?? []), node]);
    return node;
  }

  #who() {
    const { el } = this;
    const persona = this.personas.get(this.persona);
    if (!this.persona) return;
    el.avatar.textContent = initials(this.#name(this.persona));
    el.name.textContent = this.#name(this.persona);
    el.title.textContent = listed([persona?.title, this.started ? plain(this.started.rubric) : null].filter(Boolean));
    if (this.started) {
      const { mode, level, minutes } = this.started;
      el.facts.textContent = t("{mode} Level: {level}. {minutes} minutes.", { mode: mode === "real" ? t("Real mode: nothing is shown before the end.") : t("Practice mode."), level: plain(level), minutes });
    }
  }

  #swapOptions() {
    clear(this.el.swap);
    for (const [id, persona] of this.personas) {
      if (id !== this.persona) append(this.el.swap, option(id, `${persona.name}, ${persona.title}`));
    }
  }

  // From the server

  connected(name, detail) {
    const { el } = this;
    if (name === "waiting" && this.ended) {
      this.connection.stop(); // The log is complete; there is nothing to come back for.
      return;
    }
    clear(el.link);
    el.link.className = `link-state ${name}`;
    const button = (text, action) => h("button", { type: "button", class: "small", on: { click: action } }, text);
    const again = () => {
      clear(el.problem);
      this.connection.retryNow();
    };
    if (name === "open") append(el.link, h("span", { class: "dot", "aria-hidden": "true" }), t("connected"));
    if (name === "connecting") append(el.link, h("span", { class: "dot", "aria-hidden": "true" }), t("connecting"));
    if (name === "waiting") append(el.link, h("span", { class: "dot", "aria-hidden": "true" }), t("offline, trying again "), button(t("Now"), again));
    if (name === "taken") {
      append(el.link, t("opened elsewhere"));
      this.#problem({
        message: t("This session was opened elsewhere."),
        hint: t("Only one window can hold it. Your draft is kept here."),
        action: button(t("Take it back here"), again),
      });
    }
    if (name === "refused") {
      append(el.link, t("not connected"));
      this.#problem({ message: detail?.message ?? t("The service refused the connection."), hint: detail?.hint, action: button(t("Try again"), again) });
    }
    if (name !== "open") this.caughtUp = false;
    this.#refresh();
  }

  receive(message) {
    switch (message.type) {
      case "welcome":
        this.#welcome(message);
        break;
      case "event":
      case "assessment":
        this.apply(message.recorded);
        if (this.connection.lastSeq >= this.seqAtHello) this.#isCaughtUp();
        break;
      case "question.delta":
        this.delta(message);
        break;
      case "question.done":
        this.#question(message.turn, { text: message.text, interrupted: message.interrupted });
        break;
      case "prices":
        this.prices = message;
        this.#refresh();
        break;
      case "status":
        this.#enter(message.stage);
        break;
      case "report.ready":
        this.reportReady = true;
        if (this.ended) this.#finish();
        break;
      case "error":
        this.refused(message);
        break;
      default:
    }
  }

  #welcome({ seq, partial }) {
    this.seqAtHello = seq;
    this.stopped = null;
    this.#dropStream();
    this.partial = partial; // Shown after the events that were missed: it belongs to the question after them.
    // Events that real mode holds back leave gaps, so the last seq may never come.
    clearTimeout(this.catchUp);
    if (this.connection.lastSeq >= seq) this.#isCaughtUp();
    else this.catchUp = setTimeout(() => this.#isCaughtUp(), 500);
  }

  #isCaughtUp() {
    if (this.caughtUp) return;
    clearTimeout(this.catchUp);
    this.caughtUp = true;
    if (this.partial && !this.streaming) {
      this.delta({ turn: this.turn, offset: 0, text: "" });
      if (this.streaming) this.streaming.provisional = true;
    }
    if (this.outbox && !this.ended) {
      this.#showPending();
      this.#transmit();
    }
    this.#scrollDown(true);
    this.#refresh();
  }

  apply({ at, event }) {
    const time = Date.parse(at);
    if (this.lastAt !== null) this.active += Math.min(PAUSE_CAP, Math.max(0, (time - this.lastAt) / 1000));
    this.lastAt = time;
    this.reference = this.caughtUp ? Date.now() : Math.min(time, Date.now());
    const actions = {
      session_started: () => {
        this.started = event;
        this.persona = event.persona;
        this.#swapOptions();
        this.#enter("choosing");
      },
      persona_changed: () => {
        const before = this.persona;
        this.persona = event.persona;
        if (before !== event.persona) this.#line("aside", this.#nameNode(event.persona), t(" takes over."));
        this.#swapOptions();
      },
      probe_chosen: () => {
        if (event.counterfactual) return;
        this.prices = null;
        if (event.again_of) this.#line("aside", t("A question is put once more."));
        this.questionOf.set(event.turn, event.question_id);
        this.turn = event.turn;
        this.#enter("asking");
      },
      question_asked: () => this.#question(event.turn, event),
      answer_given: () => this.#answer(event),
      request_made: () => this.#request(event),
      code_checked: () => this.#attach(event.turn, h("div", { class: "reading" }, parts.code(event.report))),
      answer_assessed: () => {
        this.#assessment(event.turn, event.assessment);
        this.#enter("choosing");
      },
      answer_unscored: () => {
        this.#unscored(event);
        this.#enter("choosing");
      },
      hint_given: () => this.#hintShown(event),
      notice: () => this.#line("aside note", event.message),
      session_ended: () => {
        this.ended = event;
        this.#dropStream();
        if (event.farewell) {
          this.#line("said theirs", this.#nameNode(this.persona), h("p", { class: "words" }, event.farewell));
          if (this.caughtUp) announce(event.farewell);
        }
        this.#enter("ended");
        this.#finish();
      },
    };
    actions[event.type]?.();
    this.#who();
    this.#refresh();
  }

  delta({ turn, offset, text }) {
    if (this.stopped === turn || (this.questions.get(turn)?.done && !this.partial)) return;
    if (!this.streaming || (this.streaming.turn !== turn && !this.streaming.provisional)) {
      this.#dropStream();
      this.#stream(turn);
    }
    const { streaming } = this;
    streaming.turn = turn;
    streaming.provisional = false;
    if (this.partial) {
      streaming.node.appendData(this.partial);
      streaming.length = length(this.partial);
      this.partial = "";
      this.#enter("asking");
    }
    if (offset > streaming.length) return; // A gap: the finished question fills it.
    const fresh = points(text).slice(streaming.length - offset).join("");
    if (!fresh) return;
    streaming.node.appendData(fresh);
    streaming.length += length(fresh);
    this.#enter("asking");
    this.waitingSince = null;
    this.#stage();
    this.#scrollDown();
  }

  #stream(turn) {
    const node = document.createTextNode("");
    const item = this.#line("said theirs streaming", this.#nameNode(this.persona), h("p", { class: "words" }, node));
    item.setAttribute("aria-busy", "true");
    this.streaming = { turn, node, item, length: 0, provisional: false };
  }

  #dropStream() {
    this.streaming?.item.remove();
    this.streaming = null;
  }

  /** The question as it is stored; called by `question.done` and by the event, in either order. */
  #question(turn, { text, interrupted, persona }) {
    const known = this.questions.get(turn);
    this.turn = Math.max(this.turn, turn);
    if (known?.done) return;
    if (this.caughtUp || this.connection.lastSeq > this.seqAtHello) this.partial = "";
    this.#dropStream();
    this.stopped = null;
    const who = persona ?? this.persona;
    this.#line(
      "said theirs",
      this.#nameNode(who),
      text ? h("p", { class: "words" }, text) : null,
      interrupted ? h("p", { class: "muted mark" }, text ? t("You stopped here.") : t("You stopped this question before its first word.")) : null,
    );
    this.questions.set(turn, { done: true });
    this.#enter("waiting");
    if (this.caughtUp) {
      announce(`${this.#name(who)}: ${text}`);
      this.#scrollDown();
    }
    this.#refresh();
  }

  /** What was sent stands in the log now. */
  #acknowledged(msgId) {
    if (this.outbox?.msg_id === msgId) this.#setOutbox(null);
    if (this.returned?.msg_id === msgId) this.#unreturn();
    if (this.pendingNode?.dataset.msg === msgId) {
      this.pendingNode.remove();
      this.pendingNode = null;
    }
  }

  /** Something that was asked in place of an answer, and what was told; the question stands. */
  #request({ msg_id: msgId, text, reply }) {
    this.#acknowledged(msgId);
    this.#line("said yours", h("span", { class: "speaker" }, t("You")), h("p", { class: "words" }, text));
    this.#line("said theirs", this.#nameNode(this.persona), h("p", { class: "words" }, reply));
    this.#enter("waiting");
    if (this.caughtUp) {
      announce(reply);
      this.#scrollDown(true);
    }
  }

  #answer({ turn, msg_id: msgId, text }) {
    this.#acknowledged(msgId);
    this.prices = null;
    this.answers.set(turn, this.#line("said yours", h("span", { class: "speaker" }, t("You")), h("p", { class: "words" }, text)));
    this.#enter("reading");
    if (this.caughtUp) this.#scrollDown(true);
  }

  #showPending() {
    if (!this.outbox) return;
    this.pendingNode?.remove();
    this.pendingNode = this.#line(
      "said yours pending",
      h("span", { class: "speaker" }, t("You")),
      h("p", { class: "words" }, this.outbox.text),
      h("p", { class: "muted mark" }, t("Sending.")),
    );
    this.pendingNode.dataset.msg = this.outbox.msg_id;
  }

  #assessment(turn, assessment) {
    const details = h(
      "details",
      { class: "reading", open: store.read(OPEN_DETAILS) !== "0" },
      h("summary", null, t("What this answer shows so far")),
      parts.notices(assessment.notices),
      assessment.criteria.length
        ? parts.levels(assessment.criteria, { names: this.criteria })
        : h("p", { class: "muted" }, t("Not assessed: no criterion of this question was brought out.")),
    );
    this.#attach(turn, details);
  }

  #unscored({ turn, reason, detail, notices }) {
    this.#attach(
      turn,
      h(
        "div",
        { class: "reading" },
        h("p", null, h("strong", null, t("Not assessed. ")), byCode(reason, detail || plain(reason)), t(" Nothing is held against you.")),
        parts.notices(notices),
      ),
    );
  }

  #attach(turn, node) {
    node.addEventListener("toggle", () => store.write(OPEN_DETAILS, node.open ? null : "0"));
    const item = this.answers.get(turn);
    if (item) append(item, node);
    else this.#line("aside", node);
    if (this.caughtUp) this.#scrollDown();
  }

  #hintShown({ turn, question_id: questionId, rung, text }) {
    this.questionOf.set(turn, questionId);
    this.rungs.set(questionId, Math.max(rung, this.rungs.get(questionId) ?? 0));
    this.#line("aside hint", h("p", null, h("strong", null, t("Hint {rung} of 3. ", { rung })), text), h("p", { class: "muted" }, price(rung)));
    if (this.caughtUp) {
      announce(t("Hint: {text}", { text }));
      this.#scrollDown(true);
    }
  }

  refused({ code, message, retryable, msg_id: msgId }) {
    const ours = this.outbox && (!msgId || msgId === this.outbox.msg_id);
    const aboutAnswer = Boolean(msgId) || ["turn_in_progress", "empty_answer", "answer_too_long", "session_ended"].includes(code);
    if (ours && aboutAnswer) {
      if (retryable && code !== "turn_in_progress") {
        clearTimeout(this.retry);
        this.retry = setTimeout(() => this.#transmit(), 2000 + Math.random() * 1000);
      } else {
        this.#takeBack();
      }
    }
    this.#problem({ message: byCode(code, message), hint: WHAT_TO_DO[code] ?? (retryable ? t("This page tries again by itself.") : null) });
    this.#refresh();
  }

  /** A refused answer goes back into the box, before whatever was typed since. */
  #takeBack() {
    const { text } = this.outbox;
    this.returned = this.outbox;
    this.#setOutbox(null);
    this.pendingNode?.remove();
    this.pendingNode = null;
    const since = this.el.text.value;
    this.el.text.value = since.trim() ? `${text}\n\n${since}` : text;
    this.typed();
    if (this.ended) this.#finish();
  }

  /** It was accepted after all: what was put back into the box is no draft. */
  #unreturn() {
    const { text } = this.returned;
    this.returned = null;
    if (!this.el.text.value.startsWith(text)) return;
    this.el.text.value = this.el.text.value.slice(text.length).trimStart();
    this.typed();
  }

  // From the candidate

  typed() {
    store.write(`draft:${this.id}`, this.el.text.value);
    this.#autosize();
    this.#refresh();
  }

  send() {
    const text = this.el.text.value.trim();
    if (!this.#maySend(text)) return;
    this.el.text.value = "";
    this.typed();
    this.#say(text);
  }

  /** Say one of the short requests; a draft that is being written stays in the box. */
  #ask(text) {
    if (this.#maySend(text)) this.#say(text);
  }

  #say(text) {
    clear(this.el.problem);
    const msgId = globalThis.crypto?.randomUUID?.() ?? `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
    this.#setOutbox({ msg_id: msgId, text });
    this.#showPending();
    this.#transmit();
    this.#scrollDown(true);
    this.el.text.focus();
    this.#refresh();
  }

  #transmit() {
    if (this.outbox && this.caughtUp) this.connection.send({ type: "answer", ...this.outbox });
  }

  interrupt() {
    if (this.stage !== "asking" || this.stopped !== null) return;
    const { streaming } = this;
    const sent = this.connection.send({ type: "interrupt", last_seq: this.connection.lastSeq, seen: streaming?.length ?? 0 });
    if (!sent) return;
    this.stopped = streaming?.turn ?? this.turn;
    this.#refresh();
  }

  async hint() {
    const rung = this.#nextRung();
    if (this.stage !== "waiting" || rung > 3) return;
    const ok = await confirmDialog({
      title: t("Take hint {rung} of 3?", { rung }),
      body: [price(rung, this.prices?.hint_cap), rung < 3 ? t("A later hint on the same question costs more.") : t("This is the last one, and almost the answer.")],
      confirm: t("Take the hint"),
      cancel: t("Go on without"),
    });
    if (ok) this.connection.send({ type: "hint" });
  }

  async retryAnswer() {
    const { retry_turn: turn, retry_cap: cap } = this.prices ?? {};
    if (!turn || this.stage !== "waiting") return;
    const ok = await confirmDialog({
      title: t("Answer the last question again?"),
      body: [
        t("Its price: your answers on that question can then show at most level {cap} ({word}).", { cap, word: levelWord(cap) }),
        t("The new answer counts in place of the earlier one, even if it is weaker. Both stay in the log. The question that stands now is asked again afterwards."),
      ],
      confirm: t("Answer it again"),
      cancel: t("Go on"),
    });
    if (ok) this.connection.send({ type: "retry" });
  }

  swap() {
    const persona = this.el.swap.value;
    if (!persona) return;
    if (this.connection.send({ type: "persona", persona })) {
      this.el.more.open = false;
      this.el.text.focus();
    }
  }

  async end() {
    const draft = this.el.text.value.trim();
    const ok = await confirmDialog({
      title: t("End the round?"),
      body: [
        t("The interviewer stops here and the report is written. An ended round cannot be opened again."),
        ...(draft ? [t("You have an unsent draft. It will not be part of the interview; send it first if it should count.")] : []),
      ],
      confirm: t("End the round"),
      cancel: t("Go on"),
      danger: true,
    });
    if (ok && !this.connection.send({ type: "end" })) {
      this.#problem({ message: t("Not connected: the round was not ended."), hint: t("Wait for the connection, then end it again.") });
    }
  }

  // Showing

  #line(className, ...children) {
    const item = h("li", { class: className }, children);
    this.el.log.append(item);
    // An unacknowledged answer stays the last thing said by the candidate, a running question the last of all.
    if (this.streaming && this.streaming.item !== item) this.el.log.append(this.streaming.item);
    return item;
  }

  #enter(stage) {
    const busyNow = ["reading", "choosing", "asking"].includes(stage);
    const busyBefore = ["reading", "choosing", "asking"].includes(this.stage);
    if (busyNow && !busyBefore) this.waitingSince = Date.now();
    if (!busyNow) this.waitingSince = null;
    if (this.ended && stage !== "ended") return;
    this.stage = stage;
    this.#refresh();
  }

  #problem({ message, hint, action }) {
    clear(this.el.problem);
    this.el.problem.append(append(errorBox({ message, hint }), action ? h("p", null, action) : null));
  }

  #nextRung() {
    return (this.rungs.get(this.questionOf.get(this.turn)) ?? 0) + 1;
  }

  #tooLong(text) {
    if (length(text) > MAX_ANSWER) return true;
    if (text.length * 6 < MAX_FRAME) return false;
    return new TextEncoder().encode(JSON.stringify({ type: "answer", msg_id: "x".repeat(36), text })).length > MAX_FRAME;
  }

  #maySend(text) {
    return Boolean(text) && this.stage === "waiting" && !this.outbox && !this.ended && !this.#tooLong(text);
  }

  #refresh() {
    const { el } = this;
    if (!el) return;
    const text = el.text.value.trim();
    const connected = this.connection?.state === "open";
    const disable = (node, yes) => node.setAttribute("aria-disabled", String(yes));
    disable(el.send, !this.#maySend(text));
    el.stop.hidden = this.stage !== "asking";
    disable(el.stop, this.stopped !== null || !connected);
    const rung = this.#nextRung();
    el.hint.hidden = this.started?.mode !== "practice" || Boolean(this.ended);
    disable(el.hint, rung > 3 || this.stage !== "waiting" || !connected || Boolean(this.outbox));
    const sayable = this.#maySend("x") && connected;
    el.asides.hidden = Boolean(this.ended);
    for (const node of el.asides.children) disable(node, !sayable);
    el.retry.hidden = el.hint.hidden || !this.prices?.retry_turn;
    disable(el.retry, this.stage !== "waiting" || !connected || Boolean(this.outbox));
    const cap = this.prices?.hint_cap ?? capAfter(rung);
    el.hint.textContent = rung > 3 ? t("No hints left here") : t("Hint (then at most level {cap})", { cap });
    disable(el.swapButton, !connected || Boolean(this.ended));
    disable(el.end, !connected || Boolean(this.ended));
    const count = length(text);
    el.count.textContent = this.#tooLong(text)
      ? t("{count} characters: too long to send", { count: count.toLocaleString("en") })
      : count > MAX_ANSWER * 0.8 ? t("{count} of {MAX_ANSWER} characters", { count: count.toLocaleString("en"), MAX_ANSWER: MAX_ANSWER.toLocaleString("en") }) : "";
    const mark = this.pendingNode?.querySelector(".mark");
    if (mark) mark.textContent = connected ? t("Sending.") : t("Not sent yet; it goes out by itself when the connection is back.");
    this.#stage();
    this.#clock();
  }

  #stage() {
    const { el } = this;
    const name = this.#name(this.persona);
    const text = {
      connecting: "",
      reading: t("Reading your answer"),
      choosing: this.questions.size ? t("Choosing what to ask next") : t("{name} is opening the round", { name }),
      asking: this.stopped !== null ? t("Stopping") : this.streaming ? t("{name} is asking", { name }) : t("{name} is about to ask", { name }),
      waiting: this.outbox ? t("Sending your answer") : "",
      ended: "",
    }[this.stage] ?? "";
    if (el.stageText.textContent !== text) el.stageText.textContent = text;
    el.status.classList.toggle("idle", !text);
  }

  #clock() {
    const { el } = this;
    const waited = this.waitingSince ? Math.floor((Date.now() - this.waitingSince) / 1000) : 0;
    el.stageTime.textContent = waited >= 1 ? ` ${waited} s${waited >= SLOW ? t(". It is still at work; your answer is safe.") : ""}` : "";
    if (!this.started || this.reference === null) return;
    const total = this.started.minutes * 60;
    const since = this.ended ? 0 : Math.min(PAUSE_CAP, Math.max(0, (Date.now() - this.reference) / 1000));
    const elapsed = this.active + since;
    const left = total - elapsed;
    el.timer.textContent = this.ended ? t("{elapsed} in all", { elapsed: clock(elapsed) }) : left > 0 ? t("{elapsed} gone, {left} left", { elapsed: clock(elapsed), left: clock(left) }) : t("time is up (+{clock})", { clock: clock(-left) });
    el.timer.classList.toggle("late", left <= 0 && !this.ended);
    if (this.ended || !this.caughtUp) return;
    this.#bell("five", left <= 300 && left > 60 && total > 600, t("Five minutes left."));
    this.#bell("one", left <= 60 && left > 0, t("One minute left."));
    this.#bell("over", left <= 0, t("Time is up. Finish the answer that you are writing and send it; nothing that you typed is lost."), true);
  }

  #bell(key, now, text, shown = false) {
    if (!now || this.warned.has(key)) return;
    this.warned.add(key);
    announce(text);
    if (shown) this.#line("aside note", text);
  }

  #hideTimer() {
    const hidden = this.el.hideTimer.checked;
    store.write(HIDE_TIMER, hidden ? "1" : null);
    this.el.timer.hidden = hidden;
  }

  #finish() {
    const { el } = this;
    const draft = this.outbox?.text ? `${this.outbox.text}\n\n${el.text.value}`.trim() : el.text.value.trim();
    if (this.outbox) {
      this.#setOutbox(null);
      this.pendingNode?.remove();
      this.pendingNode = null;
      store.write(`draft:${this.id}`, draft);
    }
    const focus = (el.after.hidden && this.caughtUp) || el.after.contains(document.activeElement);
    el.more.open = false;
    el.composer.hidden = true;
    el.after.hidden = false;
    clear(el.after);
    const link = h("a", { class: "button primary", href: `#/s/${encodeURIComponent(this.id)}/report` }, t("Read the report"));
    append(
      el.after,
      h("p", null, h("strong", null, t("The round is over. ")), ENDINGS[this.ended.reason] ?? ""),
      draft
        ? h(
            "details",
            { open: true },
            h("summary", null, t("Your unsent draft")),
            h("pre", { class: "draft", tabindex: "0" }, draft),
            h("button", { type: "button", on: { click: (event) => copy(event.currentTarget, draft) } }, t("Copy the draft")),
          )
        : null,
      h("p", { class: "row" }, link, this.loop ? h("a", { href: `#/l/${encodeURIComponent(this.loop)}` }, t("Back to the loop")) : null),
    );
    if (focus) link.focus({ preventScroll: true });
    this.#scrollDown(true);
  }

  #autosize() {
    if (CSS.supports("field-sizing", "content")) return;
    const { text } = this.el;
    text.style.height = "auto";
    text.style.height = `${text.scrollHeight + 2}px`;
  }

  /** Follow the conversation unless the reader has scrolled up. */
  #scrollDown(force = false) {
    const box = getComputedStyle(this.el.scroll).overflowY === "auto" ? this.el.scroll : document.scrollingElement;
    const near = box === this.el.scroll ? this.follow : this.#near(box);
    if (force || near) box.scrollTop = box.scrollHeight;
  }

  #near(box) {
    return box.scrollHeight - box.scrollTop - box.clientHeight < 120;
  }
}

function price(rung, left = null) {
  const cap = left ?? capAfter(rung);
  return cap ? t("Its price: your answer on this question can then show at most level {cap} ({word}).", { cap, word: levelWord(cap) }) : t("Its price: your answer on this question can then show nothing above level 0.");
}

async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = t("Copied");
  } catch {
    button.textContent = t("Select the text and copy it by hand");
  }
}

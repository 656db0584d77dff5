/** The player: any session again, turn by turn, from its log. One turn is on the page at a time, however long it was. */

import * as api from "./api.js";
import { append, busy, clear, errorBox, field, h, option, working } from "./dom.js";
import { byCode, t, tn } from "./i18n.js";
import * as parts from "./parts.js";
import * as store from "./store.js";
import { capAfter, clock, move, plain, source } from "./words.js";

const PAUSE = 6; // seconds at normal speed; nobody watches somebody think for longer
const WHOLE = 1500; // milliseconds for a turn that is shown at once
const PACE = 2.7; // words a second, for logs that were written in one moment
const SPEEDS = ["0.5", "1", "2", "4", "8", "instant"];
const HIDDEN = new Set(["session_started"]);

/** Turns with their events in order, each with the seconds to wait before it. Events of no turn go with the last one. */
export function turnsOf(log) {
  const turns = new Map();
  let current = null;
  for (const { at, event } of log) {
    if (HIDDEN.has(event.type)) continue;
    const number = event.turn ?? current ?? 1;
    if (!turns.has(number)) turns.set(number, { number, beats: [], at: null });
    if (current === null || number > current) current = number;
    turns.get(number).beats.push({ at: Date.parse(at), event });
  }
  const all = [...turns.values()].sort((a, b) => a.number - b.number);
  const { at: from, event: started } = log[0] ?? { at: 0, event: {} };
  const begun = Date.parse(from);
  const stored = log.length > 1 && Date.parse(log[log.length - 1].at) - begun < 1000;
  const cues = all.some((turn) => turn.beats.some(({ event }) => Number.isFinite(event.start)));
  let before = null;
  for (const turn of all) {
    const chosen = turn.beats.find(({ event }) => event.type === "probe_chosen")?.event;
    const cue = turn.beats.find(({ event }) => Number.isFinite(event.start))?.event.start;
    if (cues) turn.at = cue ?? null;
    else if (stored || started.parent) turn.at = chosen ? chosen.elapsed * 60 * started.minutes : null;
    else turn.at = (turn.beats[0].at - begun) / 1000;
    for (const beat of turn.beats) {
      beat.wait = Math.min(PAUSE, Math.max(0, gap(before, beat, cues, stored)));
      if (!cues || Number.isFinite(beat.event.start)) before = beat;
    }
  }
  return all;
}

function gap(before, { at, event }, cues, stored) {
  if (!before) return 0;
  if (cues) return Number.isFinite(event.start) ? event.start - before.event.start : 0.8;
  if (!stored) return (at - before.at) / 1000;
  return before.event.text ? before.event.text.split(/\s+/).length / PACE : 0.8;
}

export function player(root, id, position = "1") {
  const state = { live: true, playing: false, turn: 0, shown: 0, speed: "1", end: () => {} };
  append(root, h("h1", null, t("Played back")));
  const place = root.appendChild(h("div"));
  load(place, root.firstChild, id, Number(position) || 1, state);
  return () => {
    state.live = false;
    state.end();
  };
}

async function load(place, heading, id, position, state) {
  clear(place);
  const wait = busy(t("Loading the session"));
  place.append(wait.node);
  try {
    const [log, personas, titles] = await Promise.all([api.events(id), api.personaNames(), api.titles()]);
    if (!state.live) return;
    const { event: started } = log[0];
    heading.textContent = t("Played back: {round}", { round: titles.get(started.rubric) ?? plain(started.rubric) });
    const turns = turnsOf(log);
    if (turns.some((turn) => turn.beats.some(({ event }) => event.type === "question_asked"))) show(place, { id, started, turns, personas, state, position });
    else append(place, h("p", null, t("Nothing was asked in this session yet. "), h("a", { href: `#/s/${encodeURIComponent(id)}` }, t("Open it")), t(".")));
  } catch (error) {
    if (!state.live) return;
    if (error.status === 404) append(place, h("p", null, t("There is no such session; it may have been deleted. "), h("a", { href: "#/history" }, t("See your sessions")), t(".")));
    else place.append(errorBox(error, () => load(place, heading, id, position, state)));
  } finally {
    wait.stop();
  }
}

function show(place, { id, started, turns, personas, state, position }) {
  const name = (who) => personas.get(who)?.name ?? plain(who);
  const stage = h("ol", { class: "log" });
  const told = h("div", { role: "log", "aria-live": "polite", "aria-label": t("What was said and read in this turn") }, stage);
  const where = h("p", { class: "where" });
  const play = h("button", { type: "button", class: "primary", on: { click: () => (state.playing ? pause() : start()) } });
  const slider = h("input", { type: "range", min: 1, max: turns.length, step: 1, "aria-label": t("Turn"), on: { input: () => seek(Number(slider.value) - 1) } });
  const speed = h("select", { on: { change: () => { state.speed = speed.value; if (state.playing) schedule(); } } }, SPEEDS.map((v) => option(v, v === "instant" ? t("Instant") : `${v}x`, v === "1")));
  const step = (by, label) => h("button", { type: "button", on: { click: () => seek(state.turn + by) } }, label);
  const after = h("div");

  const beats = () => turns[state.turn].beats;
  const last = () => state.turn === turns.length - 1;

  function position_() {
    const turn = turns[state.turn];
    const text = t("Turn {number} of {last}", { number: turn.number, last: turns.at(-1).number });
    where.textContent = turn.at === null ? text : t("{text}, at {at}", { text, at: clock(turn.at) });
    slider.value = state.turn + 1;
    slider.setAttribute("aria-valuetext", where.textContent);
    history.replaceState(null, "", `#/s/${encodeURIComponent(id)}/play/${turn.number}`);
  }

  function add() {
    const node = beat(beats()[state.shown].event, name);
    state.shown += 1;
    if (node) stage.append(node);
    if (node && state.playing) node.scrollIntoView({ block: "nearest" });
    if (state.shown === beats().length) append(clear(after), whatIf(id, turns[state.turn], started, state));
  }

  /** Show a turn: whole when nothing plays, else from its start. */
  function seek(index) {
    state.turn = Math.min(turns.length - 1, Math.max(0, index));
    state.shown = 0;
    clear(stage);
    clear(after);
    position_();
    if (!state.playing || state.speed === "instant") while (state.shown < beats().length) add();
    if (state.playing) schedule();
  }

  function schedule() {
    clearTimeout(state.timer);
    const done = state.shown === beats().length;
    if (done && last()) return pause();
    const next = done ? turns[state.turn + 1].beats[0] : beats()[state.shown];
    const wait = state.speed === "instant" ? WHOLE : (next.wait * 1000) / Number(state.speed);
    state.timer = setTimeout(() => {
      if (done) seek(state.turn + 1);
      else {
        add();
        schedule();
      }
    }, wait);
    return undefined;
  }

  function start() {
    state.playing = true;
    play.textContent = t("Pause");
    if (state.shown < beats().length) schedule();
    else if (last()) seek(0);
    else schedule();
  }

  function pause() {
    state.playing = false;
    clearTimeout(state.timer);
    play.textContent = t("Play");
  }

  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const tag = event.target.tagName;
    if (/^(INPUT|SELECT|TEXTAREA|SUMMARY)$/.test(tag) || event.target.closest("dialog")) return;
    const act = { ArrowLeft: () => seek(state.turn - 1), ArrowRight: () => seek(state.turn + 1), Home: () => seek(0), End: () => seek(turns.length - 1), " ": () => play.click() }[event.key];
    if (!act || (event.key === " " && /^(BUTTON|A)$/.test(tag))) return;
    event.preventDefault();
    act();
  }
  document.addEventListener("keydown", key);
  state.end = () => {
    clearTimeout(state.timer);
    document.removeEventListener("keydown", key);
  };

  const link = (href, text) => h("a", { class: "button", href }, text);
  const at = encodeURIComponent(id);
  append(
    place,
    h(
      "div",
      { class: "player", role: "group", "aria-label": t("Player") },
      h("div", { class: "row" }, step(-1, t("Back")), play, step(1, t("Forward")), h("label", { class: "row" }, t("Speed"), speed), where),
      slider,
      h("p", { class: "help" }, t("Space plays and pauses, the arrow keys step, Home and End jump. Pauses are cut to {PAUSE} seconds.", { PAUSE })),
    ),
    told,
    after,
    h(
      "p",
      { class: "row no-print" },
      link(`#/s/${at}/report`, t("Report")),
      started.parent ? link(`#/s/${encodeURIComponent(started.parent)}/play`, t("Play the original")) : null,
      started.parent ? link(`#/s/${encodeURIComponent(started.parent)}/replay/${at}`, t("Compare with the original")) : null,
    ),
  );
  pause();
  seek(Math.max(0, turns.findIndex((turn) => turn.number >= position)));
}

function beat(event, name) {
  const li = (kind, ...children) => h("li", { class: kind }, children);
  const aim = (probe) => (probe.criterion ? `${plain(probe.criterion)}: ${probe.move ? move(probe.move) : t("main question")}` : t("Main question"));
  switch (event.type) {
    case "persona_changed":
      return li("aside", h("p", null, t("{persona} takes over.", { persona: name(event.persona) })));
    case "probe_chosen":
      if (!event.reason) return li("aside", h("p", null, t("Why this question was asked is shown once the session has ended.")));
      return event.counterfactual
        ? li("aside note", h("p", null, h("strong", null, t("Would have asked instead: ")), event.probe), h("p", null, event.reason), h("p", { class: "muted" }, aim(event)))
        : li("aside", h("p", null, h("strong", null, t("Why this question: ")), event.reason), h("p", null, aim(event)));
    case "question_asked":
      return li(
        "theirs",
        h("span", { class: "speaker" }, name(event.persona)),
        h("p", { class: "words" }, event.text || t("(stopped before the first word)")),
        h("p", { class: "muted mark" }, [source(event.source), event.interrupted ? t("stopped here by the candidate") : null].filter(Boolean).join(" · ")),
      );
    case "answer_given":
      return li("yours", h("span", { class: "speaker" }, t("Candidate")), h("p", { class: "words" }, event.text));
    case "hint_given":
      return li("aside hint", h("p", null, h("strong", null, t("Hint {rung}: ", { rung: event.rung })), event.text), h("p", { class: "muted" }, t("From here at most level {capAfter} can be shown on this question.", { capAfter: capAfter(event.rung) })));
    case "code_checked":
      return li("aside", parts.code(event.report));
    case "answer_assessed":
      return li("reading", h("p", { class: "muted" }, t("What was read:")), parts.levels(event.assessment.criteria, { turns: false }), event.assessment.flags.length ? parts.flags(event.assessment.flags, { turns: false, heading: "h2" }) : null, parts.notices(event.assessment.notices));
    case "answer_unscored":
      return li("aside note", h("p", null, h("strong", null, t("Not assessed: ")), byCode(event.reason, event.detail)));
    case "notice":
      return li("aside note", h("p", null, event.message));
    case "session_ended":
      return li("aside", event.farewell ? h("p", { class: "words" }, event.farewell) : null, h("p", null, t("The session ended ({reason}).", { reason: plain(event.reason).toLowerCase() })));
    default:
      return null;
  }
}

/** Go on live from this turn with another answer. */
function whatIf(id, turn, started, state) {
  const given = turn.beats.find(({ event }) => event.type === "answer_given")?.event;
  if (!given) return null;
  const problem = h("div");
  const key = store.editOf(id, turn.number);
  const box = store.kept(h("textarea", { value: given.text, maxlength: 20000, rows: 5 }), key);
  const go = h("button", { type: "submit" }, t("Go on live from here"));
  const form = h(
    "form",
    {
      on: {
        submit: (event) => {
          event.preventDefault();
          working(go, problem, t("Preparing the interview"), async () => {
            const made = await api.whatIf(id, turn.number, box.value === given.text ? {} : { [turn.number]: box.value });
            store.remember(made.id, made);
            store.write(key, null);
            if (state.live) location.hash = `#/s/${encodeURIComponent(made.id)}`;
          });
        },
      },
    },
    field(t("Your answer in turn {number}, as you would give it now", { number: turn.number }), box, t("A new session starts after this answer, with {count} in all as before and the clock where it stood. This session stays as it is.", { count: tn(started.minutes, "{n} minute", "{n} minutes") })),
    go,
    problem,
  );
  return h("details", { class: "no-print", open: box.value !== given.text }, h("summary", null, t("What if you had answered otherwise?")), form);
}

/** Levels over time, flags, what to practise next, two attempts side by side, and export or deletion of everything. */

import * as api from "./api.js";
import { append, busy, clear, confirmDialog, errorBox, field, h, option, s, table } from "./dom.js";
import { listed, t, tn } from "./i18n.js";
import * as store from "./store.js";
import { plain, when } from "./words.js";

const [WIDE, TALL, LEFT, RIGHT, TOP, STEP] = [340, 112, 18, 44, 8, 32];
const SHOWN = 12;

export function progress(place, state) {
  load(place, state);
}

async function load(place, state) {
  const wait = busy(t("Loading the progress"));
  clear(place).append(wait.node);
  try {
    const [found, titles] = await Promise.all([api.progress(), api.titles()]);
    if (state.live) show(clear(place), found, titles, state);
  } catch (error) {
    if (state.live) clear(place).append(errorBox(error, () => load(place, state)));
  } finally {
    wait.stop();
  }
}

function show(place, found, titles, state) {
  if (!found.criteria.length) return;
  append(
    place,
    h("h2", null, t("What to practise next")),
    h("ol", { class: "next" }, found.suggestions.map((each) => suggestion(each, titles))),
    h("h2", null, t("Levels over time")),
    h("p", { class: "muted" }, t("From 0 to 3, oldest first. The bar is one standard deviation of the reading; ○ practice, □ real, × not assessed; h is a hint, r another try.")),
    h("div", { class: "charts" }, found.criteria.map((line) => chart(line))),
    h("details", null, h("summary", null, t("The same as a table")), levels(found.criteria)),
    found.flags.length ? h("h2", null, t("Flags")) : null,
    found.flags.length ? flags(found.flags) : null,
    found.repeated.length ? comparison(found.repeated, state) : null,
  );
}

function suggestion(each, titles) {
  const problem = h("div");
  const body = each.drill ? { drill: each.drill } : null;
  const start = async () => {
    clear(problem);
    try {
      const made = await api.createSession(body);
      store.remember(made.id, made);
      location.hash = `#/s/${encodeURIComponent(made.id)}`;
    } catch (error) {
      problem.append(errorBox(error));
    }
  };
  return h(
    "li",
    null,
    h("strong", null, plain(each.criterion)),
    each.due ? null : h("span", { class: "muted" }, ` · ${t("due {when}", { when: when(each.due_at) })}`),
    h("p", { class: "muted" }, each.reason),
    each.question ? h("p", null, t("Question: {question} ({round})", { question: each.topic ?? each.question, round: titles.get(each.rubric) ?? plain(each.rubric) })) : null,
    h(
      "p",
      { class: "row" },
      each.question ? h("a", { class: "button", href: `#/start/${encodeURIComponent(each.question)}` }, t("Start an interview with this question")) : null,
      each.question ? h("a", { class: "button", href: `#/score/${encodeURIComponent(each.question)}` }, t("Answer this in writing")) : null,
      body ? h("button", { type: "button", on: { click: start } }, t("Start the drill: {drill}", { drill: plain(each.drill) })) : null,
    ),
    problem,
  );
}

const y = (value) => TOP + (3 - value) * STEP;

function chart(line) {
  const points = line.points.slice(-SHOWN);
  const x = (n) => LEFT + 12 + n * ((WIDE - LEFT - RIGHT - 12) / Math.max(1, points.length - 1));
  const nodes = [0, 1, 2, 3].map((n) => [
    s("line", { class: "grid", x1: LEFT, x2: WIDE - RIGHT + 8, y1: y(n), y2: y(n) }),
    s("text", { x: 2, y: y(n) + 4 }, n),
  ]);
  let before = null;
  points.forEach((point, n) => {
    if (point.level === null) {
      nodes.push(s("text", { class: "gap", x: x(n), y: y(0) + 4, "text-anchor": "middle" }, "×"));
      before = null;
      return;
    }
    if (before) nodes.push(s("line", { class: "path", x1: before[0], y1: before[1], x2: x(n), y2: y(point.expected) }));
    nodes.push(s("line", { class: "spread", x1: x(n), x2: x(n), y1: y(point.low), y2: y(point.high) }));
    nodes.push(point.mode === "real" ? s("rect", { class: "dotmark", x: x(n) - 4, y: y(point.expected) - 4, width: 8, height: 8 }) : s("circle", { class: "dotmark", cx: x(n), cy: y(point.expected), r: 4 }));
    const marks = (point.hints ? "h" : "") + (point.retried ? "r" : "");
    if (marks) nodes.push(s("text", { x: x(n) + 6, y: y(point.expected) - 5 }, marks));
    before = [x(n), y(point.expected)];
    if (n === points.length - 1) nodes.push(s("text", { class: "last", x: x(n) + 10, y: y(point.expected) + 4 }, point.expected.toFixed(1)));
  });
  const told = t("{name}: {levels}", { name: plain(line.criterion), levels: points.map(words).join("; ") });
  return h("figure", null, h("figcaption", null, plain(line.criterion)), s("svg", { class: "chart", viewBox: `0 0 ${WIDE} ${TALL + 8}`, role: "img", "aria-label": told }, nodes));
}

function words(point) {
  if (point.level === null) return t("not assessed");
  const notes = [point.hints ? tn(point.hints, "{n} hint", "{n} hints") : "", point.retried ? t("another try") : ""].filter(Boolean);
  return `${point.expected.toFixed(1)} (${point.low.toFixed(1)}–${point.high.toFixed(1)})${notes.length ? listed(["", ...notes]) : ""}`;
}

function levels(lines) {
  const rows = lines.flatMap((line) => line.points.map((p) => [plain(line.criterion), when(p.at), plain(p.rubric), plain(p.mode), words(p)]));
  return table(t("Levels over time"), [t("Criterion"), t("When"), t("Round"), t("Mode"), t("Level, 0 to 3")], rows);
}

function flags(lines) {
  const states = { new: t("new"), persists: t("persists"), gone: t("went away") };
  const rows = lines.map((f) => [plain(f.flag), f.strength ? t("strength") : t("warning"), states[f.state], String(f.sessions.length)]);
  return table(t("Flags"), [t("Flag"), t("Kind"), t("State"), t("Sessions")], rows);
}

function comparison(repeated, state) {
  const place = h("div");
  const pick = h("select", null, repeated.map((id) => option(id, id)));
  const open = async () => {
    try {
      const found = await api.attempts(pick.value);
      if (state.live) sideBySide(clear(place), found);
    } catch (error) {
      if (state.live) clear(place).append(errorBox(error, open));
    }
  };
  return [h("h2", null, t("Two attempts at one question")), field(t("Question"), pick), h("p", null, h("button", { type: "button", on: { click: open } }, t("Compare"))), place];
}

function sideBySide(place, { text, attempts, comparison: pair }) {
  append(place, h("p", { tabindex: "-1" }, h("strong", null, text)), h("p", { class: "muted" }, tn(attempts.length, "{n} attempt", "{n} attempts")));
  if (!pair) return;
  const told = (level) => (level ? t("level {level} ({low} to {high})", { level: level.level, low: level.low.toFixed(1), high: level.high.toFixed(1) }) : t("not assessed"));
  const change = (row) => (row.change === null ? "–" : `${row.change > 0 ? "+" : ""}${row.change.toFixed(1)}${row.clear ? "" : ` ${t("(within the spread)")}`}`);
  append(
    place,
    table(t("Levels of both"), [t("Criterion"), t("Before"), t("After"), t("Change")], pair.levels.map((row) => [plain(row.criterion), told(row.before), told(row.after), change(row)]), {}),
    pair.remarks.map((remark) => h("p", { class: "muted" }, remark)),
    h("div", { class: "pair" }, side(t("Before"), pair.before), side(t("After"), pair.after)),
  );
}

function side(name, attempt) {
  return h(
    "section",
    null,
    h("h3", null, `${name} · ${when(attempt.at)}`),
    attempt.answers.map((text) => h("blockquote", null, text)),
    h("ul", null, attempt.levels.flatMap((row) => row.quotes.map((quote) => h("li", null, `${plain(row.criterion)}: “${quote.text}”`)))),
  );
}

/** Download everything, or delete it after being asked twice. */
export function everything(place, changed) {
  const problem = h("div");
  const remove = async () => {
    clear(problem);
    const first = await confirmDialog({ title: t("Delete everything?"), body: t("All sessions, replays, loops and reports are removed from the server for good. Export them first if you may want them."), confirm: t("Continue to delete"), cancel: t("Keep everything"), danger: true });
    if (!first) return;
    const second = await confirmDialog({ title: t("Really everything?"), body: t("This cannot be undone."), confirm: t("Delete everything now"), cancel: t("Keep everything"), danger: true });
    if (!second) return;
    try {
      const gone = await api.deleteEverything();
      changed();
      problem.append(h("p", { role: "status" }, t("Deleted: {count}.", { count: tn(gone.sessions, "{n} session", "{n} sessions") })));
    } catch (error) {
      problem.append(errorBox(error));
    }
  };
  append(
    place,
    h("p", { class: "row" }, [["json", t("Everything as JSON Lines")], ["markdown", t("Text as Markdown")], ["csv", t("Levels as CSV")]].map(([format, name]) => h("a", { class: "button", href: api.links.everything(format), download: true }, name))),
    h("p", null, h("button", { type: "button", class: "danger", on: { click: remove } }, t("Delete everything"))),
    problem,
  );
}

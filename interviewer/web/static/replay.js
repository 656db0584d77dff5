/** Replays: asking for one, and the comparison with its original. */

import * as api from "./api.js";
import { append, busy, clear, errorBox, field, h, option, table, working } from "./dom.js";
import { t } from "./i18n.js";
import * as parts from "./parts.js";
import { move, percent, plain } from "./words.js";

/** The form of a report that makes a replay. */
export function replayForm({ id, data, personas, titles, state }) {
  const problem = h("div");
  const who = h("select", { id: "replay-persona" }, option("", t("Those who asked")), [...personas.values()].map((p) => option(p.id, `${p.name}, ${p.title}`)));
  const others = [...personas.keys()].filter((p) => p !== data.persona);
  if (others.length) who.value = others[0];
  const round = h("select", null, option("", t("The same round")), [...titles].filter(([rubric]) => rubric !== data.round).map(([rubric, title]) => option(rubric, title)));
  const judge = h("select", null, option("", t("Levels as they were read")), option("again", t("Read again by the judge that runs now")));
  const named = {
    small: t("Read again by the trained judge"),
    uncalibrated: t("Read again by the trained judge without its calibration"),
    structured: t("Read again by asking the model for a verdict"),
  };
  api.about().then(({ judges }) => append(judge, Object.keys(judges).map((name) => option(name, named[name] ?? name))), () => {});
  const run = h("button", { type: "submit" }, t("Replay"));
  const submit = (event) => {
    event.preventDefault();
    working(run, problem, t("Replaying: the same answers again"), async () => {
      const body = { ...(who.value && { persona: who.value }), ...(round.value && { rubric: round.value }), ...(judge.value && { judge: judge.value }) };
      const made = await api.replay(id, body);
      if (state.live) location.hash = `#/s/${encodeURIComponent(id)}/replay/${encodeURIComponent(made.id)}`;
    });
  };
  return h(
    "form",
    { on: { submit } },
    h("h3", null, t("Replay")),
    h("p", { class: "help" }, t("Your answers stay; you see what somebody else would have asked at each turn, and what moves.")),
    h("div", { class: "pair" }, field(t("Interviewer"), who), field(t("Round to judge by"), round)),
    field(t("Judge"), judge),
    h("div", { class: "row" }, run),
    problem,
  );
}

export function replayDiff(root, id, child) {
  const state = { live: true };
  append(root, h("h1", null, t("Replay against the original")));
  const place = root.appendChild(h("div"));
  load(place, id, child, state);
  return () => { state.live = false; };
}

async function load(place, id, child, state) {
  clear(place);
  const wait = busy(t("Comparing"));
  place.append(wait.node);
  try {
    const [found, personas] = await Promise.all([api.diff(child), api.personaNames()]);
    if (state.live) show(place, found, personas);
  } catch (error) {
    if (!state.live) return;
    const again = () => load(place, id, child, state);
    if (error.status === 409) {
      const open = h("a", { class: "button", href: `#/s/${encodeURIComponent(child)}` }, t("Go on with it"));
      append(place, h("div", { class: "notice" }, h("p", null, error.message), h("p", { class: "row" }, open, h("button", { type: "button", on: { click: again } }, t("Try again")))));
    } else if (error.status === 404) {
      append(place, h("p", null, `${error.message} `, h("a", { href: "#/history" }, t("See your sessions")), t(".")));
    } else place.append(errorBox(error, again));
  } finally {
    wait.stop();
  }
}

function show(place, found, personas) {
  const name = (id) => personas.get(id)?.name ?? plain(id);
  const step = (value) => (value ? plain(value) : t("No verdict"));
  const both = found.probes.filter((p) => !p.only);
  const changed = both.filter((p) => !p.same).length;
  const live = found.probes.some((p) => p.only || p.answer_changed);
  const pair = (label, [before, after], say) => [label, before === after ? t("{say}, in both", { say: say(before) }) : t("{before}, then {after}", { before: say(before), after: say(after) })];
  const same = found.persona[0] === found.persona[1];
  append(
    place,
    parts.definitions([
      pair(t("Interviewer"), found.persona, name),
      pair(t("Round"), found.rubric, plain),
      pair(t("Verdict"), found.verdict, step),
      [t("Questions that differ"), t("{changed} of {total}", { changed, total: both.length })],
      pair(t("Judge"), found.judge, (judge) => judge),
    ]),
    found.remarks.length ? h("ul", { class: "notices" }, found.remarks.map((text) => h("li", { class: "notice" }, text))) : null,
    h("h2", null, t("Turn by turn")),
    table(
      t("What was asked, and what was or would have been asked in the replay"),
      [t("Turn"), same ? t("Original") : t("Asked by {name}", { name: name(found.persona[0]) }), live ? t("In the replay") : same ? t("Replay") : t("{name} instead", { name: name(found.persona[1]) }), t("Why")],
      found.probes.map((p) => [String(p.turn), asked(p), instead(p), p.same ? h("span", { class: "muted" }, t("no difference")) : (p.why ?? "")]),
      { className: "diff" },
    ),
    h("h2", null, t("Levels")),
    table(t("Levels before and after"), [t("Criterion"), t("Before"), t("After"), t("Change")], found.levels.map(level), { className: "compact" }),
    h("h2", null, t("Flags")),
    found.flags.length
      ? table(t("Flags before and after"), [t("Flag"), t("Before"), t("After"), t("Change")], found.flags.map(flag), { className: "compact" })
      : h("p", { class: "muted" }, t("None, in both.")),
    h(
      "p",
      { class: "row no-print" },
      h("a", { class: "button", href: `#/s/${encodeURIComponent(found.parent)}/report` }, t("Report of the original")),
      h("a", { class: "button", href: `#/s/${encodeURIComponent(found.child)}/report` }, t("Report of the replay")),
      h("a", { class: "button", href: `#/s/${encodeURIComponent(found.child)}/play` }, t("Play the replay")),
      h("button", { type: "button", on: { click: () => window.print() } }, t("Print")),
    ),
  );
}

function note(criterion, moved, minute) {
  const aim = criterion ? `${plain(criterion)}: ${moved ? move(moved) : t("main question")}` : t("Main question");
  return h("p", { class: "muted" }, minute === null ? aim : t("{aim} · minute {minute}", { aim, minute }));
}

function asked(p) {
  if (p.asked === null) return h("span", { class: "muted" }, t("the original has no such turn"));
  return [h("p", null, p.asked), note(p.asked_criterion, p.asked_move, p.minute), p.asked_why ? h("p", { class: "muted" }, p.asked_why) : null];
}

function instead(p) {
  const edited = p.answer_changed ? h("p", { class: "muted" }, h("strong", null, t("The answer is another one."))) : null;
  if (p.same) return [h("span", { class: "muted" }, t("the same")), edited];
  if (p.ends) return h("p", null, h("strong", null, t("would have ended the round")));
  if (p.only === "original") return h("span", { class: "muted" }, t("the replay has no such turn"));
  return [h("p", null, p.instead), note(p.instead_criterion, p.instead_move, p.instead_minute), edited];
}

const none = () => h("span", { class: "muted" }, t("none"));

function level(l) {
  const by = () => (l.after > l.before ? t("up by {n}", { n: l.after - l.before }) : t("down by {n}", { n: l.before - l.after }));
  const change = l.before === l.after ? none() : h("strong", null, l.after === null ? t("no longer assessed") : l.before === null ? t("now assessed") : by());
  return [h("span", { class: "criterion" }, plain(l.criterion)), parts.meter(l.before), parts.meter(l.after), change];
}

function flag(f) {
  const say = (p) => (p === null ? h("span", { class: "muted" }, t("not found")) : `${percent(p)}${p >= 0.5 ? t(", raised") : ""}`);
  const change = f.before === f.after ? none() : h("strong", null, f.after === null ? t("gone") : f.before === null ? t("new") : f.after > f.before ? t("more likely") : t("less likely"));
  return [h("span", { class: "criterion" }, plain(f.flag)), say(f.before), say(f.after), change];
}

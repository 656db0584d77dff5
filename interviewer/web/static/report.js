/** The report of a session, and the comparison of a session with its replay. */

import * as api from "./api.js";
import { append, busy, clear, confirmDialog, errorBox, h, option, table } from "./dom.js";
import * as parts from "./parts.js";
import * as store from "./store.js";
import { capAfter, move, percent, plain, plural, source } from "./words.js";

const POLL = 2000;

export function report(root, id) {
  const state = { live: true, shown: null };
  const heading = h("h1", null, "Report");
  const place = h("div");
  append(root, heading, place);
  load(place, heading, id, state);
  const open = () => openAll(root, state);
  const restore = () => restoreAll(state);
  window.addEventListener("beforeprint", open);
  window.addEventListener("afterprint", restore);
  return () => {
    state.live = false;
    clearTimeout(state.timer);
    window.removeEventListener("beforeprint", open);
    window.removeEventListener("afterprint", restore);
  };
}

/** Paper has no disclosure triangles. */
function openAll(root, state) {
  state.opened = [...root.querySelectorAll("details:not([open])")];
  for (const details of state.opened) details.open = true;
}

function restoreAll(state) {
  for (const details of state.opened ?? []) details.open = false;
}

async function load(place, heading, id, state) {
  clear(place);
  const wait = busy("Writing the report");
  place.append(wait.node);
  try {
    const [row, data, personas, titles, texts] = await Promise.all([api.session(id), api.report(id), api.personaNames(), api.titles(), api.flagTexts()]);
    if (!state.live) return;
    heading.textContent = `Report: ${titles.get(data.round) ?? plain(data.round)}`;
    show(place, { id, row, data, personas, texts, state, again: () => load(place, heading, id, state) });
  } catch (error) {
    if (!state.live) return;
    if (error.status === 404) {
      append(place, h("p", null, "There is no such session; it may have been deleted. ", h("a", { href: "#/history" }, "See your sessions"), "."));
    } else if (error.status === 409 || error.status === 425) {
      append(
        place,
        h("div", { class: "notice" }, h("p", null, h("strong", null, error.message)), error.hint ? h("p", null, error.hint) : null),
        h("p", null, h("a", { href: `#/s/${encodeURIComponent(id)}` }, "Back to the interview")),
      );
      state.timer = setTimeout(() => load(place, heading, id, state), POLL * 2);
    } else {
      place.append(errorBox(error, () => load(place, heading, id, state)));
    }
  } finally {
    wait.stop();
  }
}

function show(place, context) {
  const { id, row, data, personas, state } = context;
  const persona = personas.get(data.persona);
  const progress = row?.progress;
  const reading = progress && progress.assessed < progress.total;
  append(
    place,
    h(
      "p",
      { class: "muted byline" },
      [persona ? `${persona.name}, ${persona.title}` : plain(data.persona), `${data.level} level`, row?.mode ? `${row.mode} mode` : null, row?.origin && row.origin !== "live" ? row.origin : null, plural(data.receipt.questions, "question")]
        .filter(Boolean)
        .join(" · "),
    ),
    row && !row.ended && !reading
      ? h("div", { class: "notice" }, h("p", null, "The round is still open; this is what it shows so far. ", h("a", { href: `#/s/${encodeURIComponent(id)}` }, "Go on with it"), "."))
      : null,
  );
  if (reading) {
    append(
      place,
      h(
        "div",
        { class: "notice", role: "status" },
        h("p", null, `Still reading: ${progress.assessed} of ${plural(progress.total, "answer")}. The report grows as it goes on.`),
        h("progress", { max: progress.total, value: progress.assessed, "aria-label": "Answers read" }),
      ),
    );
    watch(context, progress.assessed);
  }
  append(
    place,
    verdict(data.verdict),
    nextSteps(data.next_steps),
    reasons(data.verdict),
    criteria(data.criteria),
    h("section", { "aria-labelledby": "flags" }, h("h2", { id: "flags" }, "What a committee would write down"), parts.flags(data.flags, { texts: context.texts })),
    situation(data.scenario),
    code(data.code),
    probes(data.probes),
    receipt(data.receipt, data.notices),
    actions(context),
    versions(data.versions, data.session_id),
  );
}

function watch(context, before) {
  const { id, state, again } = context;
  state.timer = setTimeout(async () => {
    try {
      const row = await api.session(id);
      if (!state.live) return;
      if (row.progress?.assessed !== before) again();
      else watch(context, before);
    } catch {
      if (state.live) watch(context, before);
    }
  }, POLL);
}

function verdict(found) {
  const title = found.step ? plain(found.step) : "No verdict";
  return h(
    "section",
    { class: "verdict", "aria-labelledby": "verdict" },
    h("h2", { id: "verdict" }, title, found.also_possible ? h("span", { class: "also" }, ` or ${plain(found.also_possible).toLowerCase()}: too close to call`) : null),
    parts.verdictScale(found),
    found.step ? null : h("p", null, found.reasons[0] ?? "Not enough was heard."),
    found.better_role ? h("p", null, h("strong", null, "Role that would fit better: "), found.better_role) : null,
  );
}

function nextSteps(steps) {
  return h(
    "section",
    { "aria-labelledby": "next" },
    h("h2", { id: "next" }, "What to work on next"),
    steps.length
      ? h("ol", { class: "next" }, steps.map(nextStep))
      : h("p", null, "Nothing below the top level was assessed, so there is no drill to name. Try another round, or the senior level."),
  );
}

function nextStep(step) {
  return h(
    "li",
    null,
    h("h3", null, plain(step.criterion)),
    h("p", null, step.why),
    h("p", { class: "drill" }, h("strong", null, "Drill: "), step.drill),
    h("p", null, step.how),
    contrast(step),
  );
}

export function contrast(pair) {
  if (!pair?.bad && !pair?.good) return null;
  const side = (kind, label, text) => (text ? h("div", { class: `side ${kind}` }, h("p", { class: "side-label" }, label), h("p", null, text)) : null);
  return h("div", { class: "contrast" }, side("bad", "How it usually goes wrong", pair.bad), side("good", "How a good answer moves", pair.good));
}

function reasons(found) {
  const list = (items) => h("ul", null, items.map((text) => h("li", null, text)));
  return h(
    "section",
    { "aria-labelledby": "why" },
    h("h2", { id: "why" }, "Why this verdict"),
    list(found.reasons),
    found.would_change.length ? [h("h3", null, "What would change it"), list(found.would_change)] : null,
  );
}

function criteria(rows) {
  return h(
    "section",
    { "aria-labelledby": "criteria" },
    h("h2", { id: "criteria" }, "What was shown"),
    parts.legend(),
    table(
      "Levels with evidence, one criterion a row",
      ["Criterion", "Level", "Evidence"],
      rows.map((row) => [
        [
          h("span", { class: "criterion" }, plain(row.criterion)),
          row.must_ask ? h("span", { class: "tag" }, "must ask") : null,
          h("p", { class: "muted" }, row.asks),
        ],
        row.level === null
          ? [parts.meter(null), row.why_not_assessed ? h("p", { class: "muted" }, row.why_not_assessed) : null]
          : [
              h("div", { class: "levels-head" }, parts.meter(row.level), parts.distribution(row.probabilities)),
              h("p", { class: "muted" }, [`${percent(row.confidence)} sure`, `asked ${row.probed === 1 ? "once" : `${row.probed} times`}`].join(", ")),
              row.hints ? h("p", { class: "muted" }, `Capped by ${plural(row.hints, "hint")}: at most level ${capAfter(row.hints)} could be shown.`) : null,
            ],
        row.level === null
          ? h("span", { class: "muted" }, "No evidence either way.")
          : [
              row.anchor ? h("p", null, row.anchor) : null,
              parts.quotes(row.quotes) ?? h("p", { class: "muted" }, "Nothing in the answers carries more than this."),
              row.next_anchor ? h("p", { class: "muted" }, h("strong", null, "Next level: "), row.next_anchor) : null,
            ],
      ]),
      { className: "criteria" },
    ),
    h("p", { class: "muted" }, "Quotes are cut from your answers by position, and are exact."),
  );
}

function situation(found) {
  if (!found) return null;
  const list = (facts) => h("ul", null, facts.map((f) => h("li", null, h("strong", null, `${f.about}. `), f.says, f.asked_in ? h("span", { class: "muted" }, ` (turn ${f.asked_in})`) : null)));
  const earned = found.facts.filter((f) => f.asked_in);
  const never = found.facts.filter((f) => !f.asked_in);
  return h(
    "section",
    { "aria-labelledby": "situation" },
    h("h2", { id: "situation" }, `The situation: ${found.title}`),
    h("h3", null, `What you asked for: ${earned.length} of ${found.facts.length}`),
    earned.length ? list(earned) : h("p", { class: "muted" }, "Nothing."),
    never.length ? [h("h3", null, "What was never asked"), list(never)] : null,
  );
}

function code(rows) {
  if (!rows?.length) return null;
  return h(
    "section",
    { "aria-labelledby": "code" },
    h("h2", { id: "code" }, "Code"),
    rows.map((row) => [h("h3", null, `Turn ${row.turn}`), parts.code(row.report)]),
  );
}

function probes(rows) {
  return h(
    "section",
    { "aria-labelledby": "probes" },
    h("h2", { id: "probes" }, "Why each question was asked"),
    h(
      "ol",
      { class: "probes" },
      rows.map((row) =>
        h(
          "li",
          { value: row.turn },
          h("p", { class: "asked" }, row.asked || "(stopped before the first word)", row.interrupted ? h("span", { class: "muted" }, " (you stopped it here)") : null),
          h("p", null, row.reason),
          h(
            "p",
            { class: "muted" },
            [row.criterion ? `${plain(row.criterion)}: ${row.move ? move(row.move) : "main question"}` : "Main question", source(row.source)].join(" · "),
          ),
          row.unscored ? h("p", { class: "muted" }, h("strong", null, "Not assessed: "), row.unscored) : null,
        ),
      ),
    ),
  );
}

function receipt(found, notices) {
  const counts = [
    ["Questions", found.questions],
    ["Follow-ups", found.follow_ups],
    ["Worded by the model", found.generated],
    ["Fell back to the rubric's wording", found.fell_back],
    ["Hints", found.hints],
    ["Answers not assessed", found.unscored],
    ["Must ask, never brought out", found.missed.length ? found.missed.map(plain).join(", ") : "none"],
  ];
  return h(
    "section",
    { "aria-labelledby": "receipt" },
    h("h2", { id: "receipt" }, "The interviewer's receipt"),
    parts.definitions(counts),
    notices.length ? [h("h3", null, "Notices"), parts.notices(notices)] : null,
  );
}

function actions({ id, row, data, personas, state }) {
  const problem = h("div");
  const select = h("select", { id: "replay-persona" }, [...personas.values()].filter((p) => p.id !== data.persona).map((p) => option(p.id, `${p.name}, ${p.title}`)));
  const run = h("button", { type: "submit" }, "Replay");
  let running = false;
  const form = h(
    "form",
    {
      on: {
        submit: async (event) => {
          event.preventDefault();
          if (running) return;
          running = true;
          run.setAttribute("aria-disabled", "true");
          clear(problem);
          const wait = busy("Replaying: the same answers, another interviewer");
          problem.append(wait.node);
          try {
            const made = await api.replay(id, select.value);
            if (state.live) location.hash = `#/s/${encodeURIComponent(id)}/replay/${encodeURIComponent(made.id)}`;
          } catch (error) {
            problem.append(errorBox(error));
          } finally {
            wait.stop();
            running = false;
            run.removeAttribute("aria-disabled");
          }
        },
      },
    },
    h("div", { class: "field" }, h("label", { for: "replay-persona" }, "Replay as another interviewer"), h("div", { class: "row" }, select, run)),
    h("p", { class: "help" }, "Your answers stay; you see what somebody else would have asked at each turn, and what moves."),
  );
  const file = (href, text) => h("li", null, h("a", { href, download: true }, text));
  return h(
    "section",
    { class: "no-print", "aria-labelledby": "keep" },
    h("h2", { id: "keep" }, "Keep, compare, delete"),
    h(
      "ul",
      { class: "files" },
      file(api.links.report(id), "Report, Markdown"),
      file(api.links.transcript(id, "md"), "Transcript, Markdown"),
      file(api.links.transcript(id, "txt"), "Transcript, text"),
      file(api.links.transcript(id, "json"), "Transcript, JSON"),
      file(api.links.events(id), "Events, NDJSON"),
    ),
    select.options.length ? form : null,
    problem,
    h(
      "div",
      { class: "row" },
      h("button", { type: "button", on: { click: () => window.print() } }, "Print"),
      row?.loop_id ? h("a", { class: "button", href: `#/l/${encodeURIComponent(row.loop_id)}` }, "Back to the loop") : null,
      row?.parent
        ? h("a", { class: "button", href: `#/s/${encodeURIComponent(row.parent)}/replay/${encodeURIComponent(id)}` }, "Compare with the original")
        : null,
      h(
        "button",
        {
          type: "button",
          class: "danger",
          on: {
            click: async () => {
              if (!(await confirmDelete())) return;
              try {
                await api.deleteSession(id);
                store.forget(id);
                location.hash = "#/history";
              } catch (error) {
                clear(problem).append(errorBox(error));
              }
            },
          },
        },
        "Delete the session",
      ),
    ),
  );
}

export function confirmDelete() {
  return confirmDialog({
    title: "Delete the session?",
    body: "The answers, the levels and the report are removed from the server for good.",
    confirm: "Delete",
    cancel: "Keep it",
    danger: true,
  });
}

function versions(found, id) {
  return h(
    "details",
    { class: "versions" },
    h("summary", null, "Versions"),
    parts.definitions([["Session", h("code", null, id)], ...Object.entries(found).map(([name, value]) => [plain(name), value === null ? "none" : h("code", null, value)])]),
  );
}

// Replay

export function replayDiff(root, id, child) {
  const state = { live: true };
  append(root, h("h1", null, "Replay against the original"));
  const place = h("div");
  root.append(place);
  loadDiff(place, id, child, state);
  return () => { state.live = false; };
}

async function loadDiff(place, id, child, state) {
  clear(place);
  const wait = busy("Comparing");
  place.append(wait.node);
  try {
    const [found, personas] = await Promise.all([api.diff(child), api.personaNames()]);
    if (state.live) showDiff(place, found, personas);
  } catch (error) {
    if (state.live) place.append(errorBox(error, () => loadDiff(place, id, child, state)));
  } finally {
    wait.stop();
  }
}

function showDiff(place, found, personas) {
  const name = (id) => personas.get(id)?.name ?? plain(id);
  const step = (value) => (value ? plain(value) : "No verdict");
  const changed = found.probes.filter((p) => !p.same).length;
  const note = (criterion, moved) => (criterion ? h("p", { class: "muted" }, `${plain(criterion)}: ${moved ? move(moved) : "main question"}`) : null);
  const word = (n) => (n === null ? parts.meter(null) : parts.meter(n));
  const pair = (label, [before, after], show) => [label, before === after ? `${show(before)}, in both` : `${show(before)}, then ${show(after)}`];
  append(
    place,
    parts.definitions([
      pair("Interviewer", found.persona, name),
      pair("Round", found.rubric, plain),
      pair("Verdict", found.verdict, step),
      ["Questions that differ", `${changed} of ${found.probes.length}`],
    ]),
    found.judge[0] === found.judge[1] ? null : h("p", { class: "muted" }, `Judge: ${found.judge[0]}, then ${found.judge[1]}.`),
    h("h2", null, "Turn by turn"),
    table(
      "What was asked, and what the other interviewer would have asked",
      ["Turn", `Asked by ${name(found.persona[0])}`, `${name(found.persona[1])} instead`, "Why"],
      found.probes.map((p) => [
        String(p.turn),
        [h("p", null, p.asked), note(p.asked_criterion, p.asked_move)],
        p.same ? h("span", { class: "muted" }, "the same") : [p.instead ? h("p", null, p.instead) : h("p", { class: "muted" }, "would have ended"), note(p.instead_criterion, p.instead_move)],
        p.same ? h("span", { class: "muted" }, "no difference") : (p.why ?? ""),
      ]),
      { className: "diff" },
    ),
    h("h2", null, "Levels"),
    table(
      "Levels before and after",
      ["Criterion", "Before", "After", "Change"],
      found.levels.map((l) => [
        h("span", { class: "criterion" }, plain(l.criterion)),
        word(l.before),
        word(l.after),
        l.before === l.after ? h("span", { class: "muted" }, "none") : l.before === null || l.after === null ? h("strong", null, l.after === null ? "no longer assessed" : "now assessed") : h("strong", null, `${l.after > l.before ? "up" : "down"} by ${Math.abs(l.after - l.before)}`),
      ]),
      { className: "compact" },
    ),
    h(
      "p",
      { class: "row no-print" },
      h("a", { class: "button", href: `#/s/${encodeURIComponent(found.parent)}/report` }, "Report of the original"),
      h("a", { class: "button", href: `#/s/${encodeURIComponent(found.child)}/report` }, "Report of the replay"),
      h("button", { type: "button", on: { click: () => window.print() } }, "Print"),
    ),
  );
}

/** The report of a session. */

import * as api from "./api.js";
import { coaching, contrast } from "./coaching.js";
import { append, busy, clear, confirmDialog, errorBox, h, table } from "./dom.js";
import { differing, own, steering } from "./material.js";
import * as parts from "./parts.js";
import { replayForm } from "./replay.js";
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
    show(place, { id, row, data, personas, titles, texts, state, again: () => load(place, heading, id, state) });
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
    nextSteps(data.next_steps, data.main),
    reasons(data.verdict),
    criteria(data.criteria),
    h("section", { "aria-labelledby": "flags" }, h("h2", { id: "flags" }, "What a committee would write down"), parts.flags(data.flags, { texts: context.texts })),
    situation(data.scenario),
    drill(data.drill),
    code(data.code),
    differing(data.contradictions),
    steering(data.job),
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

function drill(found) {
  if (!found) return null;
  return h(
    "section",
    { "aria-labelledby": "drill" },
    h("h2", { id: "drill" }, `The drill: ${found.title}`),
    h("p", null, found.how),
    h(
      "p",
      null,
      `${Math.round(found.minutes_used)} of ${found.minutes} minutes, ${found.asked} of ${plural(found.questions, "question")}.`,
      found.words ? ` Your longest answer had ${found.longest} of ${found.words} words.` : "",
    ),
    h("ul", null, found.trained.map(([id, level]) => h("li", null, `${plain(id)}: ${level === null ? "not assessed" : `level ${level}`}`))),
    found.news.length
      ? h("ul", null, found.news.map((n) => h("li", null, `Minute ${n.minute}: ${n.says ?? "not told yet"}${n.told_in ? ` (turn ${n.told_in})` : " (the round ended before it was told)"}`)))
      : null,
  );
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

function nextSteps(steps, main) {
  return h(
    "section",
    { "aria-labelledby": "next" },
    h("h2", { id: "next" }, "What to work on next"),
    main ? h("div", { class: "notice" }, h("p", null, h("strong", null, "The main thing: "), main.line), h("p", { class: "muted" }, `${plain(main.criterion)}, turn ${main.turn}`)) : null,
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
          (row.cited ?? []).map(own),
          row.unscored ? h("p", { class: "muted" }, h("strong", null, "Not assessed: "), row.unscored) : null,
          ofAnswer(row.coaching, row.turn),
        ),
      ),
    ),
  );
}

/** What stands between one answer and its next level; folded, so that the main thing stays the main thing. */
function ofAnswer(found, turn) {
  const inside = coaching(found, { heading: "h4" });
  return inside ? h("details", { class: "coaching" }, h("summary", null, `What would lift your answer ${turn}`), inside) : null;
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

function actions(context) {
  const { id, row } = context;
  const problem = h("div");
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
    replayForm(context),
    problem,
    h(
      "div",
      { class: "row" },
      h("button", { type: "button", on: { click: () => window.print() } }, "Print"),
      h("a", { class: "button", href: `#/s/${encodeURIComponent(id)}/play` }, "Play it back"),
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
              const gone = await confirmDelete(id);
              if (!gone) return;
              try {
                await api.deleteSession(id);
                gone.forEach(store.forget);
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

/** Ask before a session is deleted; its replays repeat what was said in it. Resolves to all ids that go, or null. */
export async function confirmDelete(id) {
  const replays = await api.session(id).then((row) => row.replays, () => []);
  const sure = await confirmDialog({
    title: "Delete the session?",
    body: [
      "The answers, the levels and the report are removed from the server for good.",
      replays.length ? `So ${replays.length === 1 ? "is its replay, which repeats" : `are its ${replays.length} replays, which repeat`} the answers.` : null,
    ].filter(Boolean),
    confirm: replays.length ? `Delete ${plural(replays.length + 1, "session")}` : "Delete",
    cancel: "Keep it",
    danger: true,
  });
  return sure ? [id, ...replays] : null;
}

function versions(found, id) {
  return h(
    "details",
    { class: "versions" },
    h("summary", null, "Versions"),
    parts.definitions([["Session", h("code", null, id)], ...Object.entries(found).map(([name, value]) => [plain(name), value === null ? "none" : h("code", null, value)])]),
  );
}

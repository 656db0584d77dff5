/** The report of a session. */

import * as api from "./api.js";
import { coaching, contrast } from "./coaching.js";
import { append, busy, clear, confirmDialog, errorBox, h, table } from "./dom.js";
import { listed, t, tn } from "./i18n.js";
import { differing, own, steering } from "./material.js";
import * as parts from "./parts.js";
import { replayForm } from "./replay.js";
import * as store from "./store.js";
import { capAfter, move, percent, plain, source } from "./words.js";

const POLL = 2000;

export function report(root, id) {
  const state = { live: true, shown: null };
  const heading = h("h1", null, t("Report"));
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
  const wait = busy(t("Writing the report"));
  place.append(wait.node);
  try {
    const [row, data, personas, titles, texts] = await Promise.all([api.session(id), api.report(id), api.personaNames(), api.titles(), api.flagTexts()]);
    if (!state.live) return;
    heading.textContent = t("Report: {round}", { round: titles.get(data.round) ?? plain(data.round) });
    show(place, { id, row, data, personas, titles, texts, state, again: () => load(place, heading, id, state) });
  } catch (error) {
    if (!state.live) return;
    if (error.status === 404) {
      append(place, h("p", null, t("There is no such session; it may have been deleted. "), h("a", { href: "#/history" }, t("See your sessions")), t(".")));
    } else if (error.status === 409 || error.status === 425) {
      append(
        place,
        h("div", { class: "notice" }, h("p", null, h("strong", null, error.message)), error.hint ? h("p", null, error.hint) : null),
        h("p", null, h("a", { href: `#/s/${encodeURIComponent(id)}` }, t("Back to the interview"))),
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
      [persona ? `${persona.name}, ${persona.title}` : plain(data.persona), t("{level} level", { level: plain(data.level) }), row?.mode ? t("{mode} mode", { mode: plain(row.mode) }) : null, row?.origin && row.origin !== "live" ? plain(row.origin) : null, tn(data.receipt.questions, "{n} question", "{n} questions")]
        .filter(Boolean)
        .join(" · "),
    ),
    row && !row.ended && !reading
      ? h("div", { class: "notice" }, h("p", null, t("The round is still open; this is what it shows so far. "), h("a", { href: `#/s/${encodeURIComponent(id)}` }, t("Go on with it")), t(".")))
      : null,
  );
  if (reading) {
    append(
      place,
      h(
        "div",
        { class: "notice", role: "status" },
        h("p", null, t("Still reading: {assessed} of {count}. The report grows as it goes on.", { assessed: progress.assessed, count: tn(progress.total, "{n} answer", "{n} answers") })),
        h("progress", { max: progress.total, value: progress.assessed, "aria-label": t("Answers read") }),
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
    h("section", { "aria-labelledby": "flags" }, h("h2", { id: "flags" }, t("What a committee would write down")), parts.flags(data.flags, { texts: context.texts })),
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
    h("h2", { id: "drill" }, t("The drill: {title}", { title: found.title })),
    h("p", null, found.how),
    h(
      "p",
      null,
      t("{minutes_used} of {minutes} minutes, {asked} of {count}.", { minutes_used: Math.round(found.minutes_used), minutes: found.minutes, asked: found.asked, count: tn(found.questions, "{n} question", "{n} questions") }),
      found.words ? t(" Your longest answer had {longest} of {words} words.", { longest: found.longest, words: found.words }) : "",
    ),
    h("ul", null, found.trained.map(([id, level]) => h("li", null, `${plain(id)}: ${level === null ? t("not assessed") : t("level {level}", { level })}`))),
    found.news.length
      ? h("ul", null, found.news.map((n) => h("li", null, t("Minute {minute}: {news}{told}", { minute: n.minute, news: n.says ?? t("not told yet"), told: n.told_in ? t(" (turn {told_in})", { told_in: n.told_in }) : t(" (the round ended before it was told)") }))))
      : null,
  );
}

function verdict(found) {
  const title = found.step ? plain(found.step) : t("No verdict");
  return h(
    "section",
    { class: "verdict", "aria-labelledby": "verdict" },
    h("h2", { id: "verdict" }, title, found.also_possible ? h("span", { class: "also" }, t(" or {also_possible}: too close to call", { also_possible: plain(found.also_possible).toLowerCase() })) : null),
    parts.verdictScale(found),
    found.step ? null : h("p", null, found.reasons[0] ?? t("Not enough was heard.")),
    found.better_role ? h("p", null, h("strong", null, t("Role that would fit better: ")), found.better_role) : null,
  );
}

function nextSteps(steps, main) {
  return h(
    "section",
    { "aria-labelledby": "next" },
    h("h2", { id: "next" }, t("What to work on next")),
    main ? h("div", { class: "notice" }, h("p", null, h("strong", null, t("The main thing: ")), main.line), h("p", { class: "muted" }, t("{criterion}, turn {turn}", { criterion: plain(main.criterion), turn: main.turn }))) : null,
    steps.length
      ? h("ol", { class: "next" }, steps.map(nextStep))
      : h("p", null, t("Nothing below the top level was assessed, so there is no drill to name. Try another round, or the senior level.")),
  );
}

function nextStep(step) {
  return h(
    "li",
    null,
    h("h3", null, plain(step.criterion)),
    h("p", null, step.why),
    h("p", { class: "drill" }, h("strong", null, t("Drill: ")), step.drill),
    h("p", null, step.how),
    contrast(step),
  );
}

function reasons(found) {
  const list = (items) => h("ul", null, items.map((text) => h("li", null, text)));
  return h(
    "section",
    { "aria-labelledby": "why" },
    h("h2", { id: "why" }, t("Why this verdict")),
    list(found.reasons),
    found.would_change.length ? [h("h3", null, t("What would change it")), list(found.would_change)] : null,
  );
}

function criteria(rows) {
  return h(
    "section",
    { "aria-labelledby": "criteria" },
    h("h2", { id: "criteria" }, t("What was shown")),
    parts.legend(),
    table(
      t("Levels with evidence, one criterion a row"),
      [t("Criterion"), t("Level, 0 to 3"), t("Evidence")],
      rows.map((row) => [
        [
          h("span", { class: "criterion" }, plain(row.criterion)),
          row.must_ask ? h("span", { class: "tag" }, t("must ask")) : null,
          h("p", { class: "muted" }, row.asks),
        ],
        row.level === null
          ? [parts.meter(null), row.why_not_assessed ? h("p", { class: "muted" }, row.why_not_assessed) : null]
          : [
              h("div", { class: "levels-head" }, parts.meter(row.level), parts.distribution(row.probabilities)),
              h("p", { class: "muted" }, listed([t("{confidence} sure", { confidence: percent(row.confidence) }), tn(row.probed, "asked once", "asked {n} times")])),
              row.hints ? h("p", { class: "muted" }, t("Capped by {count}: at most level {capAfter} could be shown.", { count: tn(row.hints, "{n} hint", "{n} hints"), capAfter: capAfter(row.hints) })) : null,
            ],
        row.level === null
          ? h("span", { class: "muted" }, t("No evidence either way."))
          : [
              row.anchor ? h("p", null, row.anchor) : null,
              parts.quotes(row.quotes) ?? h("p", { class: "muted" }, t("Nothing in the answers carries more than this.")),
              row.next_anchor ? h("p", { class: "muted" }, h("strong", null, t("Next level: ")), row.next_anchor) : null,
            ],
      ]),
      { className: "criteria" },
    ),
    h("p", { class: "muted" }, t("Quotes are cut from your answers by position, and are exact.")),
  );
}

function situation(found) {
  if (!found) return null;
  const list = (facts) => h("ul", null, facts.map((f) => h("li", null, h("strong", null, `${f.about}. `), f.says, f.asked_in ? h("span", { class: "muted" }, t(" (turn {asked_in})", { asked_in: f.asked_in })) : null)));
  const earned = found.facts.filter((f) => f.asked_in);
  const never = found.facts.filter((f) => !f.asked_in);
  return h(
    "section",
    { "aria-labelledby": "situation" },
    h("h2", { id: "situation" }, t("The situation: {title}", { title: found.title })),
    h("h3", null, t("What you asked for: {found} of {total}", { found: earned.length, total: found.facts.length })),
    earned.length ? list(earned) : h("p", { class: "muted" }, t("Nothing.")),
    never.length ? [h("h3", null, t("What was never asked")), list(never)] : null,
  );
}

function code(rows) {
  if (!rows?.length) return null;
  return h(
    "section",
    { "aria-labelledby": "code" },
    h("h2", { id: "code" }, t("Code")),
    rows.map((row) => [h("h3", null, t("Turn {turn}", { turn: row.turn })), parts.code(row.report)]),
  );
}

function probes(rows) {
  return h(
    "section",
    { "aria-labelledby": "probes" },
    h("h2", { id: "probes" }, t("Why each question was asked")),
    h(
      "ol",
      { class: "probes" },
      rows.map((row) =>
        h(
          "li",
          { value: row.turn },
          h("p", { class: "asked" }, row.asked || t("(stopped before the first word)"), row.interrupted ? h("span", { class: "muted" }, t(" (you stopped it here)")) : null),
          h("p", null, row.reason),
          h(
            "p",
            { class: "muted" },
            [row.criterion ? `${plain(row.criterion)}: ${row.move ? move(row.move) : t("main question")}` : t("Main question"), source(row.source)].join(" · "),
          ),
          (row.cited ?? []).map(own),
          row.unscored ? h("p", { class: "muted" }, h("strong", null, t("Not assessed: ")), row.unscored) : null,
          ofAnswer(row.coaching, row.turn),
        ),
      ),
    ),
  );
}

/** What stands between one answer and its next level; folded, so that the main thing stays the main thing. */
function ofAnswer(found, turn) {
  const inside = coaching(found, { heading: "h4" });
  return inside ? h("details", { class: "coaching" }, h("summary", null, t("What would lift your answer {turn}", { turn })), inside) : null;
}

function receipt(found, notices) {
  const counts = [
    [t("Questions"), found.questions],
    [t("Follow-ups"), found.follow_ups],
    [t("Worded by the model"), found.generated],
    [t("Fell back to the rubric's wording"), found.fell_back],
    [t("Hints"), found.hints],
    [t("Answers not assessed"), found.unscored],
    [t("Must ask, never brought out"), found.missed.length ? listed(found.missed.map(plain)) : t("none")],
  ];
  return h(
    "section",
    { "aria-labelledby": "receipt" },
    h("h2", { id: "receipt" }, t("The interviewer's receipt")),
    parts.definitions(counts),
    notices.length ? [h("h3", null, t("Notices")), parts.notices(notices)] : null,
  );
}

function actions(context) {
  const { id, row } = context;
  const problem = h("div");
  const file = (href, text) => h("li", null, h("a", { href, download: true }, text));
  return h(
    "section",
    { class: "no-print", "aria-labelledby": "keep" },
    h("h2", { id: "keep" }, t("Keep, compare, delete")),
    h(
      "ul",
      { class: "files" },
      file(api.links.report(id), t("Report, Markdown")),
      file(api.links.transcript(id, "md"), t("Transcript, Markdown")),
      file(api.links.transcript(id, "txt"), t("Transcript, text")),
      file(api.links.transcript(id, "json"), t("Transcript, JSON")),
      file(api.links.events(id), t("Events, NDJSON")),
    ),
    replayForm(context),
    problem,
    h(
      "div",
      { class: "row" },
      h("button", { type: "button", on: { click: () => window.print() } }, t("Print")),
      h("a", { class: "button", href: `#/s/${encodeURIComponent(id)}/play` }, t("Play it back")),
      row?.loop_id ? h("a", { class: "button", href: `#/l/${encodeURIComponent(row.loop_id)}` }, t("Back to the loop")) : null,
      row?.parent
        ? h("a", { class: "button", href: `#/s/${encodeURIComponent(row.parent)}/replay/${encodeURIComponent(id)}` }, t("Compare with the original"))
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
        t("Delete the session"),
      ),
    ),
  );
}

/** Ask before a session is deleted; its replays repeat what was said in it. Resolves to all ids that go, or null. */
export async function confirmDelete(id) {
  const replays = await api.session(id).then((row) => row.replays, () => []);
  const sure = await confirmDialog({
    title: t("Delete the session?"),
    body: [
      t("The answers, the levels and the report are removed from the server for good."),
      replays.length ? tn(replays.length, "So is its replay, which repeats the answers.", "So are its {n} replays, which repeat the answers.") : null,
    ].filter(Boolean),
    confirm: replays.length ? t("Delete {count}", { count: tn(replays.length + 1, "{n} session", "{n} sessions") }) : t("Delete"),
    cancel: t("Keep it"),
    danger: true,
  });
  return sure ? [id, ...replays] : null;
}

function versions(found, id) {
  return h(
    "details",
    { class: "versions" },
    h("summary", null, t("Versions")),
    parts.definitions([[t("Session"), h("code", null, id)], ...Object.entries(found).map(([name, value]) => [plain(name), value === null ? t("none") : h("code", null, value)])]),
  );
}

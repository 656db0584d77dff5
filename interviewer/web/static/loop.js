/** A loop of rounds, and the committee's memo over them. */

import * as api from "./api.js";
import { append, busy, clear, errorBox, h, table } from "./dom.js";
import { listedNodes, t } from "./i18n.js";
import * as parts from "./parts.js";
import { RAISED, STRENGTHS, plain } from "./words.js";

async function load(place, state, text, get, show) {
  clear(place);
  const wait = busy(text);
  place.append(wait.node);
  try {
    const data = await get();
    if (state.live) show(data);
  } catch (error) {
    if (state.live) place.append(errorBox(error, () => load(place, state, text, get, show)));
  } finally {
    wait.stop();
  }
}

function view(root, title) {
  const state = { live: true };
  const place = h("div");
  append(root, h("h1", null, title), place);
  return { state, place, leave: () => { state.live = false; } };
}

const sessionLink = (id) => `#/s/${encodeURIComponent(id)}`;

/** What can be done next with a session: start, go on, read. */
export function nextLink(row) {
  const path = sessionLink(row.id);
  if (row.ended || row.origin !== "live") return h("a", { href: `${path}/report` }, t("Report"));
  return h("a", { href: path }, row.seq > 1 ? t("Continue") : t("Start"));
}

export const stateOf = (row) => (row.ended ? t("ended") : row.seq > 1 ? t("under way") : t("not started"));

export function loop(root, id) {
  const { state, place, leave } = view(root, t("Interview loop"));
  load(
    place,
    state,
    t("Loading the loop"),
    () => Promise.all([api.loop(id), api.personaNames(), api.rubrics().catch(() => [])]),
    ([data, personas, list]) => {
      const rubrics = new Map(list.map((r) => [r.id, r]));
      const done = data.sessions.filter((row) => row.ended).length;
      append(
        place,
        h("p", { class: "lead" }, t("{level} level. {done} of {total} rounds are over. Take them in any order; each can be left and continued.", { level: plain(data.sessions[0]?.level), done, total: data.sessions.length })),
        h(
          "ol",
          { class: "rows" },
          data.sessions.map((row) =>
            h(
              "li",
              null,
              h("div", { class: "grow" }, h("h2", null, rubrics.get(row.rubric)?.title ?? plain(row.rubric)), h("p", { class: "muted" }, [personas.get(row.persona)?.name ?? plain(row.persona), rubrics.get(row.rubric)?.decides].filter(Boolean).join(". "))),
              h("p", { class: "state" }, stateOf(row)),
              h("p", { class: "row" }, nextLink(row)),
            ),
          ),
        ),
        h("p", { class: "row" }, h("a", { class: "button", href: `#/l/${encodeURIComponent(id)}/memo` }, t("Committee memo")), done < data.sessions.length ? h("span", { class: "muted" }, t("It covers the rounds that are over.")) : null),
      );
    },
  );
  return leave;
}

/** Raised flags and strengths in short; the round's report has the evidence. */
function flagList(flags) {
  const shown = flags.filter((f) => f.probability >= RAISED);
  if (!shown.length) return h("span", { class: "muted" }, t("none raised"));
  return h("ul", { class: "plain" }, shown.map((f) => h("li", null, STRENGTHS.has(f.flag) ? t("Strength: {flag}", { flag: plain(f.flag).toLowerCase() }) : plain(f.flag))));
}

/** What the committee says, with the rounds that it rests on and their quotes. */
function sentence(said) {
  const rounds = new Map(said.sources.map((s) => [s.session_id, s]));
  const found = new Map(said.sources.flatMap((s) => s.quotes.map((q) => [`${s.session_id} ${q.turn} ${q.start}`, { ...q, source: s }])));
  return h(
    "li",
    null,
    said.text,
    " ",
    h("span", { class: "muted rests" }, t("rests on"), " ", listedNodes([...rounds.values()].map(source))),
    [...found.values()].map((q) => h("blockquote", { class: "quote" }, h("q", null, q.text), h("cite", null, `${plain(q.source.round)}, ${t("turn {turn}", { turn: q.turn })}`))),
  );
}

function source(found) {
  const open = found.part === "not_over";
  return h("a", { href: `${sessionLink(found.session_id)}${open ? "" : "/report"}` }, plain(found.round));
}

function section(title, said, empty) {
  if (!said.length && !empty) return null;
  return h("section", null, h("h2", null, title), said.length ? h("ul", { class: "said" }, said.map(sentence)) : h("p", { class: "muted" }, empty));
}

function votes(rounds) {
  if (!rounds.length) return h("p", { class: "muted" }, t("No round is over yet."));
  return table(
    t("Verdicts of the rounds"),
    [t("Round"), t("Verdict"), t("Why"), t("Flags")],
    rounds.map((round) => [
      h("a", { href: `${sessionLink(round.session_id)}/report` }, plain(round.rubric)),
      [plain(round.verdict ?? t("no verdict")), round.also_possible ? h("p", { class: "muted" }, t("or {also_possible}", { also_possible: plain(round.also_possible).toLowerCase() })) : null],
      h("ul", { class: "plain" }, round.says.map((said) => h("li", null, said.text))),
      flagList(round.flags),
    ]),
  );
}

export function memo(root, id) {
  const { state, place, leave } = view(root, t("Committee memo"));
  load(place, state, t("Writing the memo"), () => api.memoOf(id), (data) => {
    const found = data.decision;
    append(
      place,
      h(
        "section",
        { class: "verdict", "aria-labelledby": "decision" },
        h("h2", { id: "decision" }, found.step ? plain(found.step) : t("No decision yet")),
        parts.verdictScale({ step: found.step }),
        found.vote.map((said) => h("p", null, said.text)),
      ),
      section(t("Rounds without a vote"), found.unfinished),
      section(t("How the votes make it"), found.reasons),
      section(t("Evidence"), found.evidence),
      section(t("Where the rounds disagree"), found.disagreement, data.rounds.length > 1 ? t("They do not.") : null),
      section(t("Gaps that can decide"), found.gaps),
      section(t("Level"), found.seniority),
      section(t("The role that would fit"), found.role),
      section(t("What would change the vote"), found.would_change),
      h("h2", null, t("Round by round")),
      h("p", { class: "muted" }, t("Each round's packet is written from that round alone; the committee reads them side by side only here.")),
      votes(data.rounds),
      h(
        "p",
        { class: "row no-print" },
        h("a", { class: "button", href: `#/l/${encodeURIComponent(id)}` }, t("Back to the loop")),
        h("a", { class: "button", href: api.links.memo(id), download: true }, t("Memo, Markdown")),
        h("button", { type: "button", on: { click: () => window.print() } }, t("Print")),
      ),
    );
  });
  return leave;
}

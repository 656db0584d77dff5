/** A loop of rounds, and the committee's memo over them. */

import * as api from "./api.js";
import { append, busy, clear, errorBox, h, table } from "./dom.js";
import { t } from "./i18n.js";
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
        h("p", { class: "lead" }, t("{level} level. {done} of {total} rounds are over. Take them in any order; each can be left and continued.", { level: plain(data.level), done, total: data.sessions.length })),
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

const asVerdict = (value) => (value && typeof value === "object" ? value : { step: value ?? null, reasons: [], would_change: [] });

/** Raised flags and strengths in short; the round's report has the evidence. */
function flagList(flags) {
  const shown = flags.map((f) => (typeof f === "string" ? { flag: f, probability: 1 } : f)).filter((f) => f.probability >= RAISED);
  if (!shown.length) return h("span", { class: "muted" }, t("none raised"));
  return h("ul", { class: "plain" }, shown.map((f) => h("li", null, STRENGTHS.has(f.flag) ? t("Strength: {flag}", { flag: plain(f.flag).toLowerCase() }) : plain(f.flag))));
}

export function memo(root, id) {
  const { state, place, leave } = view(root, t("Committee memo"));
  load(place, state, t("Writing the memo"), () => api.memoOf(id), (data) => {
    const decision = data.decision;
    const list = (title, items, empty) =>
      items?.length ? [h("h2", null, title), h("ul", null, items.map((t) => h("li", null, t)))] : empty ? [h("h2", null, title), h("p", { class: "muted" }, empty)] : null;
    append(
      place,
      h(
        "section",
        { class: "verdict", "aria-labelledby": "decision" },
        h("h2", { id: "decision" }, decision?.step ? plain(decision.step) : t("No decision yet")),
        parts.verdictScale({ step: decision?.step ?? null, also_possible: decision?.also_possible }),
      ),
      list(t("Reasons"), decision?.reasons),
      list(t("Where the rounds disagree"), decision?.disagreement, t("They do not.")),
      list(t("What would change the vote"), decision?.would_change),
      h("h2", null, t("Round by round")),
      data.rounds.length
        ? table(
            t("Verdicts of the rounds"),
            [t("Round"), t("Verdict"), t("Why"), t("Flags")],
            data.rounds.map((round) => {
              const verdict = asVerdict(round.verdict);
              return [
                h("a", { href: `${sessionLink(round.session_id)}/report` }, plain(round.rubric)),
                [plain(verdict.step ?? t("no verdict")), verdict.also_possible ? h("p", { class: "muted" }, t("or {also_possible}", { also_possible: plain(verdict.also_possible).toLowerCase() })) : null],
                h("ul", { class: "plain" }, verdict.reasons.map((t) => h("li", null, t))),
                flagList(round.flags ?? []),
              ];
            }),
          )
        : h("p", { class: "muted" }, t("No round is over yet.")),
      h("p", { class: "row no-print" }, h("a", { class: "button", href: `#/l/${encodeURIComponent(id)}` }, t("Back to the loop")), h("button", { type: "button", on: { click: () => window.print() } }, t("Print"))),
    );
  });
  return leave;
}


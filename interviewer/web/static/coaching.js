/** What stands between an answer and its next level, for a scored answer and for each answer of a report. */

import { h } from "./dom.js";
import { t } from "./i18n.js";
import { plain } from "./words.js";

/** The coaching of one answer, the main thing first; null when there is nothing to say. */
export function coaching(found, { heading = "h2" } = {}) {
  const notes = (found?.notes ?? []).filter((note) => note.missing);
  const corrections = found?.corrections ?? [];
  if (!notes.length && !corrections.length && !found?.contrast) return null;
  const below = `h${Number(heading[1]) + 1}`;
  return [
    found.first ? [h(heading, null, t("The main thing")), h("p", { class: "notice" }, found.first.line)] : null,
    corrections.length > 1
      ? [h(below, null, t("Also not right")), h("ul", null, corrections.slice(1).map((c) => h("li", null, `\u201c${c.quote.text}\u201d: ${c.right}`)))]
      : null,
    notes.length ? h(heading, null, t("What the next level asks for")) : null,
    notes.map((note) => nextLevel(note, below)),
    contrast(found.contrast),
  ];
}

function nextLevel(note, heading) {
  return [
    h(heading, null, t("{criterion}, to {level}", { criterion: plain(note.criterion), level: note.level + 1 })),
    h("p", { class: "muted" }, note.missing),
    h(
      "ul",
      null,
      note.clauses.map((clause) =>
        h("li", null, h("strong", null, clause.shown ? t("Seen: ") : t("Not seen: ")), clause.needs, ". ", clause.shown ? h("q", null, clause.shown.text) : h("span", { class: "block" }, clause.line)),
      ),
    ),
  ];
}

/** How an answer usually goes wrong and how a good one moves. */
export function contrast(pair) {
  if (!pair?.bad && !pair?.good) return null;
  const side = (kind, label, text) => (text ? h("div", { class: `side ${kind}` }, h("p", { class: "side-label" }, label), h("p", null, text)) : null);
  return h("div", { class: "contrast" }, side("bad", t("How it usually goes wrong"), pair.bad), side("good", t("How a good answer moves"), pair.good));
}

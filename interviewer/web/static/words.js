/** Names of things as people read them, and the arithmetic of offsets. */

import { language, named, t } from "./i18n.js";

export const LEVELS = [t("not shown"), t("named"), t("reasoned"), t("usable as a decision")];

export const STEPS = ["strong_no_hire", "no_hire", "lean_no_hire", "lean_hire", "hire", "strong_hire"];

const MOVES = {
  move_constraint: t("move a constraint"),
  other_side: t("ask for the other side"),
  ask_number: t("ask for the number"),
  ask_redo: t("ask for the redo"),
  move_domain: t("move the domain"),
  find_edge: t("find the edge"),
  clarify: t("clarify"),
};

const SOURCES = {
  authored: t("the rubric's own wording"),
  generated: t("worded by the model"),
  tied: t("worded by the model, after a quote of yours"),
  mixed: t("tied in by the model, the rubric's own question"),
  fallback: t("the rubric's wording, because the model's did not pass the checks"),
  imported: t("from the imported transcript"),
};

export const STRENGTHS = new Set(["decision_chain", "product_sense", "honest_about_limits"]);

/** Probability from which a flag counts as raised, as in the service. */
export const RAISED = 0.5;

/** `llm_serving_depth` -> `LLM serving depth`. */
export function plain(id) {
  const known = named(id);
  if (known) return known;
  const text = String(id ?? "").replace(/[_-]+/g, " ").replace(/\b(llm|api|gpu|kv|ml)\b/gi, (w) => w.toUpperCase());
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export const move = (id) => MOVES[id] ?? plain(id).toLowerCase();
export const source = (id) => SOURCES[id] ?? plain(id).toLowerCase();
export const level = (n) => LEVELS[n] ?? String(n);
export const percent = (p) => `${Math.round(p * 100)}%`;

/** The highest level that an answer can still show after a hint of that rung. */
export const capAfter = (rung) => Math.max(0, 3 - rung);

export function initials(name) {
  const parts = String(name ?? "").trim().split(/\s+/).filter(Boolean);
  if (!parts.length) return "?";
  const last = parts.length > 1 ? [...parts[parts.length - 1]][0] : "";
  return ([...parts[0]][0] + last).toUpperCase();
}

export function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (n) => String(n).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

const DATE = new Intl.DateTimeFormat(language === "en" ? undefined : language, { dateStyle: "medium", timeStyle: "short" });
export function when(iso) {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? String(iso ?? "") : DATE.format(date);
}

/** The service counts characters as code points, a browser as UTF-16 units. */
export const points = (text) => Array.from(text);
export const length = (text) => points(text).length;

/**
 * Place quotes in the text that they were cut from: `[{start, end, tags}]` in UTF-16 units, sorted, disjoint, where
 * overlapping quotes share a piece with both tags. A quote that is not an exact piece of the text is left out.
 */
export function placeQuotes(text, quotes) {
  const units = [];
  let at = 0;
  for (const point of points(text)) {
    units.push(at);
    at += point.length;
  }
  units.push(at);
  const spans = [];
  for (const { quote, tag } of quotes) {
    const [start, end] = [units[quote.start], units[quote.end]];
    if (start !== undefined && end > start && text.slice(start, end) === quote.text) spans.push({ start, end, tag });
  }
  const edges = [...new Set(spans.flatMap((span) => [span.start, span.end]))].sort((a, b) => a - b);
  const pieces = [];
  for (let i = 0; i + 1 < edges.length; i += 1) {
    const [start, end] = [edges[i], edges[i + 1]];
    const tags = [...new Set(spans.filter((x) => x.start <= start && x.end >= end).map((x) => x.tag))];
    if (tags.length) pieces.push({ start, end, tags });
  }
  return pieces;
}

/** Pieces that several views show: levels, distributions, quotes, flags, the verdict scale. */

import { append, h, s } from "./dom.js";
import { listed, t } from "./i18n.js";
import { LEVELS, RAISED, STEPS, STRENGTHS, level as levelWord, percent, plain } from "./words.js";

/** Three cells, `n` of them filled, with the level in words; `null` is "not assessed" and has no cells. */
export function meter(n) {
  if (n === null || n === undefined) return h("span", { class: "level none" }, t("not assessed"));
  const cells = [0, 1, 2].map((i) =>
    s("rect", { x: i * 21 + 0.75, y: 0.75, width: 18, height: 9.5, rx: 2, class: i < n ? "on" : "off" }),
  );
  return h(
    "span",
    { class: "level" },
    s("svg", { class: "meter", viewBox: "0 0 62 11", width: 62, height: 11, "aria-hidden": "true" }, cells),
    h("span", { class: "level-word" }, h("b", null, String(n)), ` ${levelWord(n)}`),
  );
}

/** How probable each level is, as four columns. */
export function distribution(probabilities) {
  if (!probabilities) return null;
  const label = listed(probabilities.map((p, n) => t("level {n} {p}", { n, p: percent(p) })));
  const columns = probabilities.map((p, n) => {
    const height = Math.max(1, p * 20);
    return s("rect", { x: n * 11, y: 21 - height, width: 9, height, class: "on" });
  });
  return s(
    "svg",
    { class: "spark", viewBox: "0 0 42 22", width: 42, height: 22, role: "img", "aria-label": t("Probabilities: {label}", { label }) },
    s("title", null, label),
    columns,
    s("path", { d: "M0 21.5h42", class: "axis" }),
  );
}

export function quotes(list, { turns = true } = {}) {
  if (!list?.length) return null;
  return list.map((q) =>
    h(
      "blockquote",
      { class: "quote" },
      h("q", null, q.text),
      turns && q.turn ? h("cite", null, t("turn {turn}", { turn: q.turn })) : null,
    ),
  );
}

/** Levels of one assessment, as a list: the practice view and the score view. */
export function levels(criteria, { names = new Map(), turns = true, number = false } = {}) {
  return h(
    "ol",
    { class: "levels" },
    criteria.map((found, index) => {
      const asks = found.asks ?? names.get(found.criterion)?.asks;
      const unscored = found.unscored;
      return h(
        "li",
        { id: number ? `criterion-${index + 1}` : null },
        h(
          "div",
          { class: "levels-head" },
          h("span", { class: "criterion", title: asks }, number ? `${index + 1}. ` : null, plain(found.criterion)),
          unscored ? meter(null) : meter(found.level),
          unscored ? null : h("span", { class: "muted sure" }, t("{confidence} sure", { confidence: percent(found.confidence) })),
          unscored ? null : distribution(found.probabilities),
        ),
        number && asks ? h("p", { class: "muted" }, asks) : null,
        unscored ? h("p", { class: "muted" }, typeof unscored === "string" ? plain(unscored) : (unscored.detail ?? plain(unscored.reason))) : null,
        !unscored && found.anchor ? h("p", null, found.anchor) : null,
        unscored ? null : (quotes(found.evidence, { turns }) ?? h("p", { class: "muted" }, t("Nothing in the answer carries more than this."))),
      );
    }),
  );
}

export function notices(list) {
  if (!list?.length) return null;
  return h("ul", { class: "notices" }, list.map((n) => h("li", { class: "notice" }, n.message)));
}

/** Flags, raised first, strengths apart. */
export function flags(list, { turns = true, texts = new Map(), heading = "h3" } = {}) {
  const group = (title, items) =>
    items.length
      ? [
          h(heading, null, title),
          h(
            "ul",
            { class: "flags" },
            items.map((flag) =>
              h(
                "li",
                null,
                h("div", { class: "levels-head" }, h("span", { class: "criterion" }, plain(flag.flag)), probability(flag.probability)),
                texts.has(flag.flag) ? h("p", { class: "muted" }, texts.get(flag.flag).replace(/^\(strength\) /, "")) : null,
                quotes(flag.evidence, { turns }),
              ),
            ),
          ),
        ]
      : [];
  const marks = list.filter((f) => !STRENGTHS.has(f.flag));
  const strengths = list.filter((f) => STRENGTHS.has(f.flag));
  const parts = [
    ...group(t("Raised"), marks.filter((f) => f.probability >= RAISED)),
    ...group(t("Possible, not raised"), marks.filter((f) => f.probability < RAISED)),
    ...group(t("Strengths"), strengths),
  ];
  return parts.length ? parts : [h("p", { class: "muted" }, t("None."))];
}

function probability(p) {
  return h(
    "span",
    { class: "level" },
    s(
      "svg",
      { class: "meter", viewBox: "0 0 62 11", width: 62, height: 11, "aria-hidden": "true" },
      s("rect", { x: 0.75, y: 0.75, width: 60, height: 9.5, rx: 2, class: "off" }),
      s("rect", { x: 0.75, y: 0.75, width: Math.max(1, 60 * p), height: 9.5, rx: 2, class: "on" }),
    ),
    h("span", { class: "level-word" }, t("probability {p}", { p: percent(p) })),
  );
}

const TWO_LINES = {
  strong_no_hire: [t("Strong"), t("no hire")],
  no_hire: [t("No hire")],
  lean_no_hire: [t("Lean"), t("no hire")],
  lean_hire: [t("Lean"), t("hire")],
  hire: [t("Hire")],
  strong_hire: [t("Strong"), t("hire")],
};

/** The six-step scale, drawn twice: across for wide places, down for narrow ones. CSS shows one of them. */
export function verdictScale(verdict) {
  const label = verdict.step
    ? t("Verdict on a scale of six, from strong no hire to strong hire: {step}{other}.", { step: plain(verdict.step), other: verdict.also_possible ? t(", too close to call against {also_possible}", { also_possible: plain(verdict.also_possible) }) : "" })
    : t("No verdict on the scale of six: not enough was heard.");
  const kind = (step) => (step === verdict.step ? "is" : step === verdict.also_possible ? "maybe" : "no");
  const hatch = (id) =>
    s(
      "defs",
      null,
      s(
        "pattern",
        { id, width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
        s("path", { d: "M0 0v7", class: "hatch" }),
      ),
    );
  const across = STEPS.flatMap((step, i) => {
    const x = i * 120 + 2;
    const middle = x + 58;
    const state = kind(step);
    return [
      s("rect", { x, y: 18, width: 116, height: 24, rx: 3, class: `step ${state}`, fill: state === "maybe" ? "url(#hatch-across)" : null }),
      state === "is" ? s("path", { d: `M${middle - 7} 2h14l-7 11z`, class: "pointer" }) : null,
      TWO_LINES[step].map((line, row) =>
        s("text", { x: middle, y: 62 + row * 17, "text-anchor": "middle", class: `step-label ${state}` }, line),
      ),
    ];
  });
  const down = [...STEPS].reverse().flatMap((step, i) => {
    const y = i * 30 + 2;
    const state = kind(step);
    return [
      s("rect", { x: 22, y, width: 64, height: 24, rx: 3, class: `step ${state}`, fill: state === "maybe" ? "url(#hatch-down)" : null }),
      state === "is" ? s("path", { d: `M4 ${y + 5}v14l11-7z`, class: "pointer" }) : null,
      s("text", { x: 98, y: y + 17, class: `step-label ${state}` }, plain(step)),
    ];
  });
  return h(
    "div",
    { class: "scale" },
    append(s("svg", { class: "across", viewBox: "0 0 720 84", role: "img", "aria-label": label }, hatch("hatch-across")), across),
    append(s("svg", { class: "down", viewBox: "0 0 250 182", role: "img", "aria-label": label }, hatch("hatch-down")), down),
  );
}

/** What the words of the levels mean, once per page. */
export function legend() {
  return h("p", { class: "muted legend" }, t("Levels: {levels}. A level is what this answer shows, not what its author may know.", { levels: listed(LEVELS.map((word, n) => `${n} ${word}`)) }));
}

const CODE_STATE = new Map([[true, t("works")], [false, t("does not")], [null, t("open")]]);

/** What was found out about the code of one answer. */
export function code(found) {
  return [
    h("p", null, h("strong", null, t("{task}, {lines} lines: {how}.", { task: plain(found.task), lines: found.lines, how: found.ran ? t("run on a tiny model") : t("read, not run") }))),
    found.notice ? h("p", { class: "muted" }, found.notice) : null,
    h("ul", null, found.checks.map((c) => h("li", null, h("strong", null, `${plain(c.check)}: ${CODE_STATE.get(c.ok)}. `), c.says))),
  ];
}

export function definitions(pairs) {
  return h("dl", { class: "pairs" }, pairs.map(([term, value]) => [h("dt", null, term), h("dd", null, value)]));
}

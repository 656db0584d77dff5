/** The question bank: every round's questions, what each listens for, and a way into practice from each. */

import * as api from "./api.js";
import { append, busy, clear, errorBox, field, h, option, uid } from "./dom.js";
import { t, tn } from "./i18n.js";
import { move, plain } from "./words.js";

export function bank(root) {
  const state = { live: true };
  const body = h("div");
  append(
    root,
    h("h1", null, t("Question bank")),
    h("p", { class: "lead" }, t("Every question of every round, and what an answer to it is read for.")),
    body,
  );
  load(body, state);
  return () => { state.live = false; };
}

async function load(body, state) {
  const wait = busy(t("Loading the questions"));
  clear(body).append(wait.node);
  try {
    const [questions, rubrics, criteria] = await Promise.all([api.allQuestions(), api.rubrics(), api.criteriaTexts()]);
    if (state.live) browse(body, questions, rubrics, criteria);
  } catch (error) {
    if (state.live) body.append(errorBox(error, () => load(body, state)));
  } finally {
    wait.stop();
  }
}

function browse(body, questions, rubrics, criteria) {
  const titles = new Map(rubrics.map((r) => [r.id, r.title]));
  const used = [...criteria.keys()].filter((id) => questions.some((q) => q.criteria.includes(id)));
  const search = h("input", { type: "search", autocomplete: "off" });
  const round = h("select", null, option("", t("All rounds")), rubrics.map((r) => option(r.id, r.title)));
  const criterion = h("select", null, option("", t("All criteria")), used.map((id) => option(id, plain(id))));
  const level = h("select", null, option("", t("Mid and senior")), option("mid", t("Mid")), option("senior", t("Senior")));
  const count = h("p", { class: "muted", role: "status" });
  const list = h("ul", { class: "bank" });
  const open = new Set();
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = questions.filter((q) => {
      const text = [q.id, q.topic, q.text, q.senior ?? "", titles.get(q.rubric) ?? "", ...q.criteria.map(plain)].join(" ").toLowerCase();
      return (!round.value || q.rubric === round.value) && (!criterion.value || q.criteria.includes(criterion.value)) && words.every((word) => text.includes(word));
    });
    count.textContent = tn(found.length, "{n} question", "{n} questions");
    append(clear(list), found.map((q) => entry(q, { level: level.value, title: titles.get(q.rubric) ?? plain(q.rubric), criteria, open })));
  };
  const form = h(
    "form",
    { role: "search", "aria-label": t("Question bank"), on: { submit: (event) => event.preventDefault(), input: show } },
    field(t("Search"), search, t("In topics, wordings and criteria.")),
    h("div", { class: "pair" }, field(t("Round"), round), field(t("Criterion"), criterion), field(t("Level"), level, t("Whose wording is shown, and at which level it is practised."))),
  );
  append(body, form, count, list);
  show();
}

function entry(question, { level, title, criteria, open }) {
  const details = h("details", { open: open.has(question.id) }, h("summary", null, h("h2", null, question.topic), h("span", { class: "muted" }, title)));
  let filled = false;
  const fill = () => {
    if (details.open) open.add(question.id);
    else open.delete(question.id);
    if (!details.open || filled) return;
    filled = true;
    append(details, contents(question, level, criteria));
  };
  details.addEventListener("toggle", fill);
  fill();
  return h("li", { "data-question": question.id }, details);
}

function contents(question, level, criteria) {
  const wordings = question.senior && level !== "mid" ? [...(level ? [] : [[t("Mid"), question.text]]), [t("Senior"), question.senior]] : [[question.senior ? t("Mid") : t("Mid and senior"), question.text]];
  const at = level === "senior" ? "/senior" : "";
  const address = `${encodeURIComponent(question.id)}${at}`;
  const about = uid("topic");
  return [
    wordings.map(([name, text]) => [h("h3", null, name), h("p", { class: "asked", lang: "en" }, text)]),
    h("h3", null, t("Listens for")),
    h("ul", null, question.criteria.map((id) => h("li", null, h("strong", null, plain(id)), criteria.get(id) ? `: ${criteria.get(id)}` : null))),
    h(
      "p",
      { class: "row" },
      h("span", { class: "sr", id: about }, question.topic),
      h("a", { class: "button", href: `#/score/${address}`, "aria-describedby": about }, t("Answer this in writing")),
      h("a", { class: "button primary", href: `#/start/${address}`, "aria-describedby": about }, t("Start an interview with this question")),
    ),
    behind(question),
  ];
}

/** Hints, facts and follow-ups: fetched only when somebody says that they want them. */
function behind(question) {
  const place = h("div");
  const warning = uid("spoiler");
  const button = h("button", { type: "button", class: "small", "aria-describedby": warning }, t("Show hints, facts and follow-ups"));
  button.addEventListener("click", async () => {
    const wait = busy(t("Loading the question"));
    clear(place).append(wait.node);
    button.disabled = true;
    try {
      const { spoilers } = await api.spoilers(question.id);
      append(clear(place), given(spoilers));
      button.hidden = true;
      place.tabIndex = -1;
      place.focus({ preventScroll: true });
    } catch (error) {
      button.disabled = false;
      clear(place).append(errorBox(error));
    } finally {
      wait.stop();
    }
  });
  return h(
    "div",
    { class: "notice" },
    h("p", { id: warning }, h("strong", null, t("This spoils the question.")), " ", t("Who has read what the interviewer knows can no longer be asked it in earnest.")),
    h("p", null, button),
    place,
  );
}

function given({ hints, facts, probes, givens }) {
  return [
    givens.length
      ? [h("h3", null, t("Told to who asks before answering")), h("ul", null, givens.map((one) => h("li", null, h("span", { class: "muted" }, `${one.about}: `), one.says)))]
      : null,
    h("h3", null, t("Hints, each nearer to the answer")),
    h("ol", null, hints.map((text) => h("li", null, text))),
    h("h3", null, t("What a good answer may contain")),
    h("ul", null, facts.map((text) => h("li", null, text))),
    h("h3", null, t("Follow-ups")),
    Object.entries(probes).map(([criterion, list]) => [
      h("h4", null, plain(criterion)),
      h("ul", null, list.map((p) => h("li", null, h("span", { class: "muted" }, `${move(p.move)}: `), p.text, p.senior ? h("span", { class: "block" }, h("span", { class: "muted" }, `${t("Senior")}: `), p.senior) : null))),
    ]),
  ];
}

/** Score one answer: pick or write a question, paste the answer, see what it shows and where. */

import * as api from "./api.js";
import { coaching } from "./coaching.js";
import { append, busy, clear, errorBox, field, h, option, working } from "./dom.js";
import { byCode, listed, t } from "./i18n.js";
import * as parts from "./parts.js";
import { levelSelect } from "./start.js";
import * as store from "./store.js";
import { length, placeQuotes, plain } from "./words.js";

const MAX_ANSWER = 20_000;

export function score(root, wanted, seniority) {
  const state = { live: true, wanted, seniority };
  append(
    root,
    h("h1", null, t("Score one answer")),
    h("p", { class: "lead" }, t("The same judge as in an interview, on one question and one answer. Nothing is stored.")),
  );
  const body = h("div");
  root.append(body);
  load(body, state);
  return () => { state.live = false; };
}

async function load(body, state) {
  clear(body);
  const wait = busy(t("Loading the questions"));
  body.append(wait.node);
  try {
    const [rubrics, criteria, texts] = await Promise.all([api.rubrics(), api.criteriaNames(), api.flagTexts()]);
    state.texts = texts;
    state.opening = state.wanted ? await api.question(state.wanted) : null;
    if (state.live) form(body, state, rubrics, criteria);
  } catch (error) {
    if (state.live) body.append(errorBox(error, () => load(body, state)));
  } finally {
    wait.stop();
  }
}

function form(body, state, rubrics, criteria) {
  const known = new Map();
  const source = (value, label, checked) => h("label", { class: "check" }, h("input", { type: "radio", name: "source", value, checked }), ` ${label}`);
  const rubric = h("select", null, rubrics.map((r) => option(r.id, r.title)));
  const question = h("select");
  const asked = h("p", { class: "asked", "aria-live": "polite" });
  const own = store.kept(h("textarea", { rows: 3, maxlength: 4000 }), "draft-score-question");
  const ticks = [...criteria.values()].map((c) =>
    h("label", { class: "check", title: c.asks }, h("input", { type: "checkbox", name: "criterion", value: c.id }), ` ${plain(c.id)}`),
  );
  const picked = h("div", null, h("div", { class: "pair" }, field(t("Round"), rubric), field(t("Question"), question)), asked);
  const written = h(
    "div",
    { hidden: true },
    field(t("Your question"), own),
    h("fieldset", { class: "ticks" }, h("legend", null, t("Judge it on")), ticks),
  );
  const answer = store.kept(h("textarea", { rows: 10, required: true }), "draft-score-answer");
  const level = levelSelect();
  const problem = h("div");
  const result = h("div", { tabindex: "-1" });
  const button = h("button", { type: "submit", class: "primary" }, t("Score"));
  const data = h(
    "form",
    null,
    h("fieldset", { class: "inline" }, h("legend", null, t("Question")), source("pick", t("From a round"), !own.value), source("write", t("My own"), Boolean(own.value))),
    picked,
    written,
    field(t("Answer"), answer),
    h("div", { class: "narrow" }, field(t("Level"), level)),
    problem,
    h("div", { class: "row" }, button),
  );
  const mode = () => data.elements.source.value;
  const turn = () => {
    picked.hidden = mode() !== "pick";
    written.hidden = mode() !== "write";
  };
  data.addEventListener("change", (event) => event.target.name === "source" && turn());
  turn();
  const describe = () => {
    const found = known.get(question.value);
    clear(asked);
    if (found) append(asked, (level.value === "senior" && found.senior) || found.text, h("span", { class: "muted block" }, t("Brings out: {criteria}.", { criteria: listed(found.criteria.map((c) => plain(typeof c === "string" ? c : c.id))) })));
  };
  const fetchQuestions = async () => {
    const wanted = rubric.value;
    clear(question);
    clear(asked);
    try {
      const list = await api.questions(wanted);
      if (!state.live || rubric.value !== wanted) return;
      clear(question);
      for (const q of list) {
        known.set(q.id, q);
        append(question, option(q.id, q.topic));
      }
      if (state.opening?.rubric === wanted) question.value = state.opening.id;
      describe();
    } catch (error) {
      if (state.live) clear(problem).append(errorBox(error, fetchQuestions));
    }
  };
  rubric.addEventListener("change", fetchQuestions);
  question.addEventListener("change", describe);
  level.addEventListener("change", describe);
  if (state.opening) rubric.value = state.opening.rubric;
  if (state.seniority) level.value = state.seniority;
  data.addEventListener("submit", (event) => {
    event.preventDefault();
    working(button, problem, t("Reading the answer"), async () => {
      const text = answer.value;
      const chosen = [...data.querySelectorAll("[name=criterion]:checked")].map((box) => box.value);
      const wrong = check(mode(), question.value, own.value, chosen, text);
      if (wrong) throw new Error(wrong);
      const request = { answer: text, level: level.value, question: mode() === "pick" ? { id: question.value } : { text: own.value.trim() } };
      if (mode() === "write") request.criteria = chosen;
      const found = await api.score(request);
      for (const key of ["draft-score-question", "draft-score-answer"]) store.write(key, null);
      if (!state.live) return;
      show(clear(result), found, text, state.texts);
      result.focus({ preventScroll: true });
      result.scrollIntoView({ block: "start" });
    });
  });
  append(body, data, result);
  fetchQuestions();
}

function check(mode, question, own, chosen, text) {
  if (mode === "pick" && !question) return t("Choose a question first.");
  if (mode === "write" && !own.trim()) return t("Write the question first.");
  if (mode === "write" && !chosen.length) return t("Tick at least one criterion to judge it on.");
  if (!text.trim()) return t("Paste an answer first.");
  if (length(text) > MAX_ANSWER) return t("The answer is too long: {length} of {MAX_ANSWER} characters.", { length: length(text).toLocaleString("en"), MAX_ANSWER: MAX_ANSWER.toLocaleString("en") });
  return null;
}

function show(place, found, text, texts) {
  append(place, h("h2", null, t("What this answer shows")));
  append(place, parts.notices(found.notices));
  if (found.unscored) {
    append(
      place,
      h("div", { class: "notice" }, h("p", null, h("strong", null, t("Not assessed: ")), `${plain(found.unscored.reason).toLowerCase()}.`), h("p", null, byCode(found.unscored.reason, found.unscored.detail))),
    );
  }
  if (found.scores.length) {
    append(place, parts.legend(), parts.levels(found.scores, { turns: false, number: true }));
    append(place, h("h2", null, t("The answer, with what carries the levels")), highlighted(text, found.scores));
  }
  append(place, h("h2", null, t("Flags")), parts.flags(found.flags ?? [], { turns: false, texts }));
  append(place, coaching(found.coaching));
  const timing = found.timing ?? {};
  append(
    place,
    h(
      "details",
      { class: "versions" },
      h("summary", null, t("Versions and timing")),
      parts.definitions([
        ...Object.entries(found.versions ?? {}).map(([name, value]) => [plain(name), h("code", null, String(value))]),
        ...Object.entries(timing).map(([name, value]) => [plain(name.replace(/_ms$/, "")), t("{value} ms", { value: Math.round(value) })]),
      ]),
    ),
  );
}

function highlighted(text, scores) {
  const pieces = placeQuotes(text, scores.flatMap((found, i) => (found.evidence ?? []).map((quote) => ({ quote, tag: i + 1 }))));
  if (!pieces.length) return h("p", { class: "answer" }, text);
  const node = h("p", { class: "answer" });
  let at = 0;
  for (const { start, end, tags } of pieces) {
    append(node, text.slice(at, start));
    const names = listed(tags.map((tag) => plain(scores[tag - 1].criterion)));
    append(node, h("mark", { title: names }, text.slice(start, end), h("sup", { "aria-label": t("carries {names}", { names }) }, tags.join(","))));
    at = end;
  }
  return append(node, text.slice(at));
}

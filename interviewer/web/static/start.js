/** Start: choose a round or the whole loop, and begin when the engine is ready. */

import * as api from "./api.js";
import { append, busy, clear, errorBox, field, h, option } from "./dom.js";
import { language, t } from "./i18n.js";
import { material } from "./material.js";
import * as store from "./store.js";
import { initials, plain } from "./words.js";

const LOOP = "*loop*";
const DRILL = "drill:";
const POLL = 2000;
/** The order of a loop; others follow. */
const ORDER = ["recruiter", "hiring_manager", "coding_design", "deep_dive", "behavioral"];
const place = (persona) => (ORDER.includes(persona.rubric) ? ORDER.indexOf(persona.rubric) : ORDER.length);

export function start(root, wanted, level) {
  append(
    root,
    h("h1", null, t("Start an interview")),
    h("p", { class: "lead" }, t("One round with one interviewer, or the whole loop for an applied AI engineer.")),
  );
  if (language !== "en") {
    append(root, h("div", { class: "notice" }, h("p", null, h("strong", null, t("Interviews are held in English"))), h("p", null, t("The page can be read in this language, the interview itself stays English: the judge was trained and measured on English answers only, and declines to assess answers in other languages rather than guess. Questions, rubrics and level descriptions are English too."))));
  }
  const state = { ready: false, live: true, wanted, level };
  const banner = h("div", { role: "status" });
  const body = h("div");
  append(root, banner, body);
  poll(banner, state);
  load(body, state);
  return () => {
    state.live = false;
    clearTimeout(state.timer);
  };
}

async function poll(banner, state) {
  let answer;
  try {
    answer = await api.ready();
  } catch (error) {
    answer = { ready: false, checks: {}, error };
  }
  if (!state.live) return;
  state.ready = Boolean(answer?.ready);
  show(banner, answer, state);
  state.changed?.();
  state.timer = setTimeout(() => poll(banner, state), state.ready ? POLL * 10 : POLL);
}

function show(banner, answer, state) {
  const failing = Object.entries(answer?.checks ?? {}).filter(([, check]) => !check.ok);
  const key = JSON.stringify([state.ready, failing, answer?.error?.message]);
  if (key === state.shown) return; // Said again only when it changes.
  state.shown = key;
  clear(banner);
  if (state.ready) return;
  banner.append(
    h(
      "div",
      { class: "notice" },
      h(
        "p",
        null,
        h("strong", null, answer?.error ? answer.error.message : t("The service is starting.")),
        answer?.error ? t(" This page keeps trying.") : t(" The model takes up to a minute to load; you can fill in the form meanwhile."),
      ),
      failing.length
        ? h("ul", { class: "plain" }, failing.map(([name, check]) => h("li", null, `${plain(name)}: ${check.detail || t("not ready")}`)))
        : null,
    ),
  );
}

async function load(body, state) {
  clear(body);
  const wait = busy(t("Loading the rounds"));
  body.append(wait.node);
  try {
    const [personas, rubrics, scenarios, drills] = await Promise.all([api.personas(), api.rubrics(), api.scenarios(), api.drills()]);
    const opening = state.wanted ? await api.question(state.wanted) : null;
    const asking = opening ? personas.filter((p) => p.rubric === opening.rubric) : personas;
    const ordered = [...asking].sort((a, b) => place(a) - place(b));
    state.opening = opening;
    if (state.live) form(body, state, ordered, new Map(rubrics.map((r) => [r.id, r])), scenarios, drills);
  } catch (error) {
    if (state.live) body.append(errorBox(error, () => load(body, state)));
  } finally {
    wait.stop();
  }
}

function form(body, state, personas, rubrics, scenarios, drills) {
  const rounds = h("fieldset", { class: "rounds" }, h("legend", null, t("Round")));
  personas.forEach((persona, index) => append(rounds, round(persona, rubrics.get(persona.rubric), index === 0)));
  if (state.opening) append(body, opens(state.opening, state.level));
  else append(
    rounds,
    card(LOOP, t("Whole loop"), t("{total} rounds", { total: personas.length }), t("Every round in order, one session each, and a committee memo over all of them. Take the rounds in any order and on any day.")),
  );
  const exercises = h("select", { name: "drill" }, option("", t("None: the whole round")), ...drills.map((d) => option(d.id, t("{title} ({minutes} min)", { title: d.title, minutes: d.minutes }))));
  const how = h("p", { class: "muted", id: "drill-how", role: "status" });
  const exerciseField = h("div", null, field(t("Drill"), exercises, t("One exercise alone, with its own questions, length and rules.")), how);
  const minutes = h("input", { type: "number", name: "minutes", min: 5, max: 240, step: 5, inputmode: "numeric" });
  const minutesField = field(t("Minutes"), minutes, t("10 to 20 for a short session."));
  const situation = h("select", { name: "scenario" });
  const situationField = field(t("Situation"), situation, t("Its facts are told only to who asks for them."));
  const own = (name, props) => store.kept(h("textarea", { name, ...props }), `draft-${name}`);
  const background = own("background", { rows: 3, maxlength: 8000, placeholder: "Six years of ad-serving infrastructure in C++, one year of fine-tuning." });
  const resume = own("resume", { rows: 8, maxlength: 20000 });
  const job = own("job", { rows: 8, maxlength: 20000 });
  const about = h(
    "section",
    { "aria-labelledby": "about-you" },
    h("h2", { id: "about-you" }, t("About you")),
    h("p", { class: "muted" }, t("Optional. The interviewers tie their questions to it. It stays on this server and goes when you delete the session.")),
    field(t("Background"), background, t("What you have built, in a line or two.")),
    material(resume, job, state),
  );
  const problem = h("div");
  const button = h("button", { type: "submit", class: "primary big" }, t("Start the round"));
  const why = h("p", { class: "muted", id: "start-why" });
  const data = h(
    "form",
    { class: "start" },
    rounds,
    h(
      "div",
      { class: "pair" },
      choice("level", t("Level"), [
        ["mid", t("Mid"), t("Correct use and sound choice.")],
        ["senior", t("Senior"), t("Deeper probes, a stricter bar.")],
      ]),
      choice("mode", t("Mode"), [
        ["practice", t("Practice"), t("You see what each answer showed, and can buy hints.")],
        ["real", t("Real"), t("As on the day: no hints, nothing shown before the end.")],
      ]),
    ),
    exerciseField,
    minutesField,
    situationField,
    about,
    problem,
    h("div", { class: "row" }, button, why),
  );
  const chosen = () => data.elements.round.value;
  const exercise = () => (chosen() === LOOP ? null : drills.find((d) => d.id === exercises.value));
  let touched = false;
  let sending = false;
  const usual = () => {
    const looping = chosen() === LOOP;
    const drill = exercise();
    exerciseField.hidden = looping || Boolean(state.opening);
    how.textContent = drill ? drillText(drill) : "";
    button.textContent = looping ? t("Start the loop") : drill ? t("Start the drill") : t("Start the round");
    minutesField.querySelector("label").textContent = looping ? t("Minutes per round") : t("Minutes");
    minutes.placeholder = looping ? t("as usual") : "";
    minutes.required = !looping;
    const persona = personas.find((p) => p.id === chosen());
    const fitting = looping ? [] : scenarios.filter((s) => s.rubric === persona?.rubric);
    situationField.hidden = !fitting.length || Boolean(drill) || Boolean(state.opening);
    clear(situation);
    append(situation, option("", t("None")), option("any", t("Any of them")), ...fitting.map((s) => option(s.id, s.title)));
    if (!touched) minutes.value = looping ? "" : drill ? drill.minutes : (rubrics.get(persona?.rubric)?.minutes ?? 45);
  };
  state.changed = () => {
    button.setAttribute("aria-disabled", String(!state.ready || sending));
    button.setAttribute("aria-describedby", "start-why");
    why.textContent = state.ready ? "" : t("Possible as soon as the service is ready.");
  };
  minutes.addEventListener("input", () => { touched = minutes.value !== ""; });
  rounds.addEventListener("change", () => {
    if (exercise() && exercise().rubric !== personas.find((p) => p.id === chosen())?.rubric) exercises.value = "";
    usual();
  });
  exercises.addEventListener("change", () => {
    const asks = exercise() && personas.find((p) => p.id === exercise().persona);
    if (asks) data.elements.round.value = asks.id; // Whoever leads the drill's round asks it.
    touched = false;
    usual();
  });
  data.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!state.ready || sending) return;
    sending = true;
    state.changed();
    clear(problem);
    const wait = busy(t("Opening the session"));
    problem.append(wait.node);
    const { level, mode } = data.elements;
    const common = { level: level.value, mode: mode.value, background: background.value.trim(), resume: resume.value.trim(), job: job.value.trim() };
    if (minutes.value) common.minutes = Number(minutes.value);
    try {
      if (chosen() === LOOP) {
        const loop = await api.createLoop(common);
        for (const session of loop.sessions) store.remember(session.id, session);
        location.hash = `#/l/${encodeURIComponent(loop.id)}`;
      } else {
        const persona = personas.find((p) => p.id === chosen());
        const session = await api.createSession({
          ...common,
          persona: persona.id,
          rubric: persona.rubric,
          ...(state.opening ? { question: state.opening.id } : {}),
          ...(exercise() ? { drill: exercise().id } : {}),
          ...(situation.value && !exercise() ? { scenario: situation.value } : {}),
        });
        store.remember(session.id, session);
        location.hash = `#/s/${encodeURIComponent(session.id)}`;
      }
      for (const name of ["background", "resume", "job"]) store.write(`draft-${name}`, null);
    } catch (error) {
      problem.append(errorBox(error));
    } finally {
      wait.stop();
      sending = false;
      state.changed();
    }
  });
  body.append(data);
  if (state.level) data.elements.level.value = state.level;
  usual();
  state.changed();
}

/** Says with which question the interview opens. */
function opens(question, level) {
  return h(
    "div",
    { class: "notice" },
    h("p", null, h("strong", null, t("It opens with: {topic}", { topic: question.topic }))),
    h("p", { class: "asked", lang: "en" }, (level === "senior" && question.senior) || question.text),
    h("p", { class: "muted" }, t("What comes after it is chosen by your answers. "), h("a", { href: "#/" }, t("Start without it"))),
  );
}

function drillText(drill) {
  const rules = [
    drill.words ? t("At most {words} words an answer.", { words: drill.words }) : "",
    drill.events ? t("{events} things happen while the clock runs.", { events: drill.events }) : "",
  ];
  return [drill.how, ...rules].filter(Boolean).join(" ");
}

function round(persona, rubric, checked) {
  const note = persona.prompt_only ? t("No trained adapter on this server: this interviewer is the base model with a prompt.") : null;
  return card(
    persona.id,
    rubric?.title ?? persona.title,
    rubric ? t("{minutes} min", { minutes: rubric.minutes }) : "",
    rubric?.decides ?? "",
    { persona, note, checked },
  );
}

function card(value, title, meta, text, { persona, note, checked } = {}) {
  return h(
    "label",
    { class: "card" },
    h("input", { type: "radio", name: "round", value, checked }),
    h("span", { class: "card-title" }, title, meta ? h("span", { class: "meta" }, meta) : null),
    persona
      ? h("span", { class: "who" }, h("span", { class: "avatar small", "aria-hidden": "true" }, initials(persona.name)), `${persona.name}, ${persona.title}`)
      : null,
    text ? h("span", { class: "card-text" }, text) : null,
    note ? h("span", { class: "card-text muted" }, note) : null,
  );
}

function choice(name, legend, entries) {
  return h(
    "fieldset",
    { class: "choice" },
    h("legend", null, legend),
    entries.map(([value, title, text], index) =>
      h(
        "label",
        { class: "radio" },
        h("input", { type: "radio", name, value, checked: index === 0 }),
        h("span", null, h("strong", null, title), h("span", { class: "muted" }, ` ${text}`)),
      ),
    ),
  );
}

/** A select of levels, for other views. */
export function levelSelect() {
  return h("select", { name: "level" }, option("mid", t("Mid")), option("senior", t("Senior")));
}

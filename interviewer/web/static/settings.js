/** Settings, read-only: what runs here, and how far its judge can be trusted. */

import * as api from "./api.js";
import { append, busy, clear, errorBox, h, table } from "./dom.js";
import { listed, t, tn } from "./i18n.js";
import { definitions } from "./parts.js";
import { percent, plain } from "./words.js";

export function settings(root) {
  const state = { live: true };
  const body = h("div");
  append(
    root,
    h("h1", null, t("Settings")),
    h("p", { class: "lead" }, t("What runs here. It is changed where the service is started, by its options and INTERVIEWER_ variables.")),
    body,
  );
  load(body, state);
  return () => { state.live = false; };
}

async function load(body, state) {
  const wait = busy(t("Loading the settings"));
  clear(body).append(wait.node);
  try {
    const found = await api.about();
    if (state.live) show(clear(body), found);
  } catch (error) {
    if (state.live) body.append(errorBox(error, () => load(body, state)));
  } finally {
    wait.stop();
  }
}

const code = (text) => h("code", null, text);
const number = (value) => value.toFixed(2);

function section(title, ...content) {
  return h("section", null, h("h2", null, title), ...content);
}

function show(place, found) {
  const { engine, turns, kept, versions } = found;
  const devices = { cpu: t("processor"), gpu: t("graphics card") };
  append(
    place,
    section(
      t("Engine"),
      definitions([
        [t("Kind"), engine.kind === "embedded" ? t("embedded, run by this service") : t("an endpoint that somebody else runs")],
        [t("State"), found.ready ? t("ready") : t("not ready")],
        [t("Model"), code(engine.model)],
        engine.parameters ? [t("Parameters"), t("{millions} million", { millions: Math.round(engine.parameters / 1e6) })] : null,
        [t("Device"), engine.device ? devices[engine.device] : t("not known here")],
        engine.dtype ? [t("Element type"), code(engine.dtype)] : null,
        [t("Follow-ups"), turns.quote_first ? t("begin with an exact quote of yours; the model words the question after it") : t("the model words its own tie-in to what you said")],
        [t("Code in answers"), turns.code === "run" ? t("read, and run in a sandbox") : t("read, not run")],
      ].filter(Boolean)),
    ),
    section(t("Interviewers"), personas(found)),
    section(t("Judge"), judge(found.judge)),
    section(
      t("What is kept"),
      definitions([
        [t("Sessions"), kept.stored ? (kept.days ? t("on disk, deleted after {days} without anything new", { days: tn(kept.days, "{n} day", "{n} days") }) : t("on disk, until you delete them")) : t("in memory only: gone when the service stops")],
        [t("Access"), kept.keys ? t("by key; everybody sees their own sessions only") : t("without keys, for one person")],
      ]),
    ),
    section(
      t("Versions"),
      definitions([
        [t("Service"), code(versions.service)],
        engine.version ? [t("Engine"), code(engine.version)] : null,
        [t("Prompt"), code(versions.prompt)],
        [t("Checks of facts"), code(versions.facts)],
      ].filter(Boolean)),
      h("details", null, h("summary", null, t("Documents")), definitions(Object.entries(versions.documents).map(([name, hash]) => [code(name), code(hash)]))),
    ),
  );
}

function personas({ personas: people, adapters }) {
  const bare = people.filter((p) => !p.adapter);
  const idle = adapters.filter((a) => !a.active);
  return [
    bare.length ? h("p", { class: "notice" }, t("Without a trained adapter, on the base model with a prompt: {names}.", { names: listed(bare.map((p) => p.name)) })) : null,
    table(t("Interviewers"), [t("Interviewer"), t("Served by its adapter"), t("Version")], people.map((p) => [`${p.name}, ${p.title}`, p.adapter ? t("yes") : t("no, prompt only"), p.adapter ? code(p.adapter) : "–"])),
    idle.length ? h("p", { class: "muted" }, t("Other versions that are there: {versions}.", { versions: listed(idle.map((a) => `${a.adapter}@${a.version}`)) })) : null,
  ];
}

function judge({ identity, model, adapter, calibration, measured, weak_below: bar }) {
  const who = definitions([
    [t("Identity"), code(identity)],
    [t("Model"), code(model)],
    adapter ? [t("Adapter"), code(adapter)] : null,
    calibration ? [t("Calibration"), code(calibration)] : null,
  ].filter(Boolean));
  if (!measured) {
    return [who, h("p", { class: "notice" }, h("strong", null, t("Not measured.")), " ", t("There are no numbers for this very judge, its version and its calibration. Take its levels as one opinion."))];
  }
  const rows = Object.entries(measured.by_criterion).sort(([, a], [, b]) => a.kappa - b.kappa);
  const weak = rows.filter(([, row]) => row.weak);
  return [
    who,
    h("p", null, t("Measured on {answers} labelled answers to {questions} questions that it never saw: agreement (weighted kappa) {kappa}, between {low} and {high} with 95% confidence; exactly the labelled level in {exact} of the readings.", { answers: measured.answers, questions: measured.questions, kappa: number(measured.kappa), low: number(measured.kappa_95[0]), high: number(measured.kappa_95[1]), exact: percent(measured.exact) })),
    weak.length
      ? h("p", { class: "notice" }, h("strong", null, t("Weak, with kappa under {bar}:", { bar: number(bar) })), ` ${listed(weak.map(([name, row]) => `${plain(name)} (${number(row.kappa)})`))}. `, t("A level of these says little by itself."))
      : h("p", null, t("No criterion is under a kappa of {bar}.", { bar: number(bar) })),
    h("h3", null, t("Accuracy by criterion, the weakest first")),
    table(
      t("Accuracy by criterion, the weakest first"),
      [t("Criterion"), t("Kappa"), t("Exact level"), t("Leans by"), t("Labels")],
      rows.map(([name, row]) => [plain(name), row.weak ? h("strong", null, t("{kappa}, weak", { kappa: number(row.kappa) })) : number(row.kappa), percent(row.exact), `${row.mean_signed_error > 0 ? "+" : ""}${number(row.mean_signed_error)}`, String(row.n)]),
    ),
    h("p", { class: "muted" }, t("Kappa is 1 for full agreement and 0 for chance. Leaning is in levels; below 0 the judge is too strict. With few labels a kappa is uncertain.")),
  ];
}

/** Sessions of this server, and the import of transcripts from elsewhere. */

import * as api from "./api.js";
import { announce, append, busy, clear, errorBox, field, h, option, working } from "./dom.js";
import { t, tn } from "./i18n.js";
import { nextLink, stateOf } from "./loop.js";
import { everything, progress } from "./progress.js";
import { confirmDelete } from "./report.js";
import { levelSelect } from "./start.js";
import * as store from "./store.js";
import { plain, when } from "./words.js";

const POLL = 1500;
/** Bytes of a transcript as UTF-8, as the service takes them. */
const BIGGEST = 2 * 1024 * 1024;
/** Bytes of an export that a page reads at once; the command takes more. */
const BIGGEST_EXPORT = 100 * BIGGEST;

export function history(root) {
  const state = { live: true };
  const list = h("div");
  const importing = h("section", { "aria-labelledby": "import" }, h("h2", { id: "import" }, t("Import a transcript")));
  const known = h("div");
  const all = h("section", { "aria-labelledby": "everything" }, h("h2", { id: "everything" }, t("Export and delete")));
  const again = () => {
    load(list, state, root);
    progress(known, state);
  };
  append(root, h("h1", { tabindex: "-1" }, t("History")), list, known, importing, all);
  again();
  importForm(importing, state, () => load(list, state, root));
  everything(all, again);
  return () => {
    state.live = false;
    clearTimeout(state.timer);
  };
}

async function load(list, state, root) {
  const wait = busy(t("Loading the sessions"));
  clear(list).append(wait.node);
  try {
    const [rows, personas, titles] = await Promise.all([api.sessions(), api.personaNames(), api.titles()]);
    if (state.live) show(list, rows, { personas, titles, root });
  } catch (error) {
    if (state.live) list.append(errorBox(error, () => load(list, state, root)));
  } finally {
    wait.stop();
  }
}

function show(list, rows, names) {
  if (!rows.length) {
    append(list, h("p", null, t("No sessions yet. "), h("a", { href: "#/" }, t("Start an interview")), t(", or import a transcript below.")));
    return;
  }
  append(list, h("ul", { class: "rows" }, rows.map((row) => item(row, names))));
}

function item(row, { personas, titles, root }) {
  const problem = h("div");
  const node = h(
    "li",
    { "data-id": row.id },
    h(
      "div",
      { class: "grow" },
      h("h2", null, titles.get(row.rubric) ?? plain(row.rubric)),
      h(
        "p",
        { class: "muted" },
        [personas.get(row.persona)?.name ?? plain(row.persona), plain(row.level), plain(row.mode), row.origin === "live" ? null : plain(row.origin)].filter(Boolean).join(" · "),
        " · ",
        h("time", { datetime: row.updated_at }, when(row.updated_at)),
      ),
      problem,
    ),
    h("p", { class: "state" }, stateOf(row)),
    h(
      "p",
      { class: "row" },
      nextLink(row),
      row.parent ? h("a", { href: `#/s/${encodeURIComponent(row.parent)}/replay/${encodeURIComponent(row.id)}` }, t("Compare")) : null,
      row.loop_id ? h("a", { href: `#/l/${encodeURIComponent(row.loop_id)}` }, t("Loop")) : null,
      h(
        "button",
        {
          type: "button",
          class: "small danger",
          "aria-label": t("Delete the session {rubric} of {updated_at}", { rubric: plain(row.rubric), updated_at: when(row.updated_at) }),
          on: {
            click: async () => {
              const gone = await confirmDelete(row.id);
              if (!gone) return;
              try {
                await api.deleteSession(row.id);
                gone.forEach(store.forget);
                for (const each of [...node.parentElement.children]) if (gone.includes(each.dataset.id)) each.remove();
                announce(t("Deleted."));
                root.querySelector("h1").focus();
              } catch (error) {
                clear(problem).append(errorBox(error));
              }
            },
          },
        },
        t("Delete"),
      ),
    ),
  );
  return node;
}

async function importForm(place, state, changed) {
  const wait = busy(t("Loading the rounds"));
  place.append(wait.node);
  let rubrics;
  let personas;
  try {
    [rubrics, personas] = await Promise.all([api.rubrics(), api.personas()]);
  } catch (error) {
    if (state.live) place.append(errorBox(error));
    return;
  } finally {
    wait.stop();
  }
  if (!state.live) return;
  const file = h("input", { type: "file", accept: ".txt,.md,.json,.jsonl,.vtt,.srt,text/plain,application/json" });
  const content = store.kept(
    h("textarea", { rows: 8, placeholder: "Interviewer: How would you serve it?\nCandidate: I would start with the latency budget." }),
    "draft-import",
  );
  const rubric = h("select", null, rubrics.map((r) => option(r.id, r.title)));
  const persona = h("select", null, option("", t("The round's own")), personas.map((p) => option(p.id, `${p.name}, ${p.title}`)));
  const candidate = h("input", { type: "text", maxlength: 80, autocomplete: "off" });
  const level = levelSelect();
  const problem = h("div");
  const people = h("div");
  const result = h("div");
  const button = h("button", { type: "submit" }, t("Import and judge"));
  /** Ask who the candidate is, where the labels do not say it. */
  const ask = (names) => append(
    people,
    h(
      "fieldset",
      null,
      h("legend", null, t("Who is the candidate?")),
      h("div", { class: "row" }, names.map((name) => h("button", { type: "button", on: { click: () => { candidate.value = name; form.requestSubmit(); } } }, name))),
    ),
  );
  const taken = h("p", { role: "status" });
  let sessions = null;
  const tooLarge = () => new Error(t("The file is larger than 2 MB; import one interview at a time."));
  const send = async () => {
    const lines = sessions ?? exported(content.value);
    if (!lines && !content.value.trim()) throw new Error(t("Paste a transcript or choose a file first."));
    if (lines) {
      await restore(clear(result), lines, state);
      store.write("draft-import", null);
      if (state.live) changed();
      return;
    }
    if (new Blob([content.value]).size > BIGGEST) throw tooLarge();
    let made;
    try {
      made = await api.importTranscript({
        content: content.value,
        rubric: rubric.value,
        level: level.value,
        ...(persona.value ? { persona: persona.value } : {}),
        ...(candidate.value.trim() ? { candidate: candidate.value.trim() } : {}),
      });
    } catch (error) {
      if (error.code !== "speakers_unclear") throw error;
      if (state.live) ask(error.choices);
      throw new Error(t("It is not clear who the candidate is: choose, or write the name above."));
    }
    store.write("draft-import", null);
    if (!state.live) return;
    imported(clear(result), made, state);
    changed();
  };
  file.addEventListener("change", async () => {
    clear(problem);
    sessions = null;
    taken.textContent = "";
    const chosen = file.files?.[0];
    if (!chosen) return;
    try {
      const text = chosen.size > BIGGEST_EXPORT ? null : decoded(await chosen.arrayBuffer());
      sessions = text && exported(text);
      if (sessions) taken.textContent = t("{count} of an export.", { count: tn(sessions.length, "{n} session", "{n} sessions") });
      else if (!text || chosen.size > BIGGEST) problem.append(errorBox(tooLarge()));
      else {
        content.value = text;
        content.dispatchEvent(new Event("input"));
      }
    } catch {
      problem.append(errorBox(new Error(t("The file is not UTF-8 text. Save it as UTF-8 text, WebVTT, SRT or JSON; an archive or a Word file has to be unpacked first."))));
    }
  });
  const form = h(
    "form",
    {
      on: {
        submit: (event) => {
          event.preventDefault();
          clear(people);
          working(button, problem, t("Importing"), send);
        },
      },
    },
    field(t("File"), file, t("Text or Markdown with speaker labels, WebVTT, SRT, JSON, or an export of this project, whose sessions come back as they were.")),
    taken,
    field(t("Transcript"), content),
    h("div", { class: "pair" }, field(t("Round"), rubric, t("What the answers are judged on.")), field(t("Interviewer"), persona), field(t("Level"), level), field(t("Who is the candidate"), candidate, t("The label or name in the transcript, if it is not \"Candidate\"."))),
    problem,
    people,
    h("div", { class: "row" }, button),
  );
  append(
    place,
    h(
      "details",
      { open: content.value !== "" },
      h("summary", null, t("Paste or choose a file")),
      form,
      result,
    ),
  );
}

/** The sessions of an export, one a line; null for anything else. */
function exported(text) {
  if (!/^\s*\{"session":/.test(text)) return null;
  try {
    const lines = text.split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line));
    return lines.every((line) => Array.isArray(line.events)) ? lines : null;
  } catch {
    return null;
  }
}

/** Take the sessions of an export back in, one after the other; one that is refused is named and stops none. */
async function restore(place, lines, state) {
  const line = h("p", { role: "status" });
  const bar = h("progress", { max: lines.length, value: 0, "aria-label": t("Sessions taken back") });
  const refused = h("ul");
  append(place, h("div", { class: "notice" }, line, bar, refused));
  let there = 0;
  for (const [at, { session, events }] of lines.entries()) {
    try {
      there += (await api.restore(events)).repeated;
    } catch (error) {
      if (error.status !== 422) throw error;
      append(refused, h("li", null, `${session}: ${error.message}`));
    }
    if (!state.live) return;
    bar.value = at + 1;
    const left = refused.children.length;
    line.textContent = t("Taken back: {taken} of {total}. There already: {there}. Refused: {left}.", { taken: at + 1 - there - left, total: lines.length, there, left });
  }
}

/** Text of a file: UTF-8, or UTF-16 with a byte order mark; throws for anything else. */
function decoded(buffer) {
  const [first, second] = new Uint8Array(buffer);
  const mark = (first << 8) | second;
  const encoding = mark === 0xfffe ? "utf-16le" : mark === 0xfeff ? "utf-16be" : "utf-8";
  return new TextDecoder(encoding, { fatal: true }).decode(buffer);
}

function imported(place, made, state) {
  const unplaced = made.unplaced ?? [];
  const line = h("p", { role: "status" }, t("{count} found. Judging starts.", { count: tn(made.turns, "{n} question", "{n} questions") }));
  const bar = h("progress", { max: made.turns || 1, value: 0, "aria-label": t("Answers judged") });
  append(
    place,
    h(
      "div",
      { class: "notice" },
      line,
      bar,
      unplaced.length
        ? h(
            "details",
            null,
            h("summary", null, t("{count} could not be placed", { count: tn(unplaced.length, "{n} line", "{n} lines") })),
            h("ul", null, unplaced.map((u) => h("li", null, typeof u === "string" ? u : t("Line {line}: {text}", { line: u.line, text: u.text })))),
          )
        : null,
      (made.notices ?? []).map((text) => h("p", null, text)),
      made.repeated ? h("p", null, t("This transcript was imported before; this is that session.")) : null,
      h("p", null, h("a", { href: `#/s/${encodeURIComponent(made.id)}/report` }, t("Report"))),
    ),
  );
  follow(made.id, line, bar, state);
}

function follow(id, line, bar, state) {
  state.timer = setTimeout(async () => {
    if (!state.live) return;
    try {
      const { progress } = await api.session(id);
      if (!state.live) return;
      if (progress) {
        const done = progress.assessed >= progress.total;
        bar.max = progress.total || 1;
        bar.value = done ? bar.max : progress.assessed;
        line.textContent = done ? t("Judged. The report is ready.") : t("Judged {assessed} of {count}.", { assessed: progress.assessed, count: tn(progress.total, "{n} answer", "{n} answers") });
        if (done) return;
      }
    } catch {
      // The next round of polling says more.
    }
    follow(id, line, bar, state);
  }, POLL);
}

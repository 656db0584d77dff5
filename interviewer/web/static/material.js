/** The candidate's own material: a resume and a job description, and what was found in them, by their exact words. */

import * as api from "./api.js";
import { append, clear, errorBox, field, h } from "./dom.js";
import { listedNodes, t } from "./i18n.js";
import { plain } from "./words.js";

const WAIT = 500;
const KINDS = { led: t("a leading role"), scale: t("a size"), number: t("a change without what it is against") };

/** The fields, with files read into them and a list of what was found. */
export function material(resume, job, state) {
  const found = h("div", { id: "found", role: "status" });
  let timer;
  let asking;
  const look = () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      asking?.abort();
      asking = new AbortController();
      const body = { resume: resume.value, job: job.value };
      try {
        const answer = body.resume.trim() || body.job.trim() ? await api.parseProfile(body, asking.signal) : null;
        if (state.live) list(found, answer);
      } catch (error) {
        if (error.name !== "AbortError" && state.live) failed(found, error);
      }
    }, WAIT);
  };
  resume.addEventListener("input", look);
  job.addEventListener("input", look);
  const begun = Boolean(resume.value || job.value); // kept from before a reload
  if (begun) look();
  return h(
    "details",
    { open: begun },
    h("summary", null, t("Paste a resume or a job description")),
    field(t("Resume"), resume),
    upload(t("Resume as a PDF"), resume),
    field(t("Job description"), job),
    upload(t("Job description as a PDF"), job),
    found,
  );
}

function failed(node, error) {
  clear(node);
  node.append(errorBox(error));
}

function upload(label, area) {
  const input = h("input", { type: "file", accept: "application/pdf,.pdf" });
  const problem = h("div", { role: "status" });
  input.addEventListener("change", async () => {
    const [file] = input.files;
    clear(problem);
    if (!file) return;
    try {
      area.value = await api.pdfText(file);
      area.dispatchEvent(new Event("input"));
    } catch (error) {
      problem.append(errorBox(error));
    }
  });
  return h("div", null, field(label, input, t("Its text is put into the field above; look it over.")), problem);
}

function list(node, answer) {
  clear(node);
  if (!answer) return;
  const { resume, job } = answer;
  const groups = [
    [t("Projects"), resume.projects.map((q) => quoted(q.text))],
    [t("Claims that may be asked about"), resume.claims.map((c) => [quoted(c.quote.text), ` (${KINDS[c.kind]})`])],
    [t("Numbers"), resume.numbers.map((q) => quoted(q.text))],
    [t("Technologies"), resume.technologies.map((q) => quoted(q.text))],
    [t("Asked about more, for the job"), job.map((s) => [plain(s.criterion), ": ", listedNodes(s.because.map((q) => quoted(q.text)))])],
  ].filter(([, rows]) => rows.length);
  append(
    node,
    h("h3", null, t("What was found")),
    h("p", { class: "muted" }, groups.length ? t("In your exact words; nothing else is taken from them.") : t("No project, claim or number was recognised. The interview works without.")),
    groups.map(([title, rows]) => [h("h4", null, title), h("ul", null, rows.map((row) => h("li", null, row)))]),
    resume.notices.map((n) => h("p", { class: "notice" }, n.message)),
  );
}

const quoted = (text) => h("q", null, text.replace(/\s+/g, " "));

/** A line of a report: words that a question goes back to, and where they stand. */
export function own(cited) {
  const where = cited.source === "answer" ? t("Your answer {turn}", { turn: cited.quote.turn }) : t("Your {source}, characters {start} to {end}", { source: plain(cited.source).toLowerCase(), start: cited.quote.start, end: cited.quote.end });
  return h("p", { class: "muted" }, `${where}: `, quoted(cited.quote.text));
}

/** The part of a report about statements that differ. */
export function differing(rows) {
  if (!rows?.length) return null;
  return h(
    "section",
    { "aria-labelledby": "differing" },
    h("h2", { id: "differing" }, t("Statements that differ")),
    h("p", { class: "muted" }, t("Asked about, and not held against any level.")),
    h("ul", null, rows.map((row) => h("li", null, own(row.first), own(row.second)))),
  );
}

/** The part of a report about what the job description changed. */
export function steering(rows) {
  if (!rows?.length) return null;
  return h(
    "section",
    { "aria-labelledby": "for-the-job" },
    h("h2", { id: "for-the-job" }, t("For this job")),
    h("p", { class: "muted" }, t("Pursued more because of these words; the verdict weighs as always.")),
    h("ul", null, rows.map((row) => h("li", null, `${plain(row.criterion)} (x${row.factor}): `, listedNodes(row.because.map((q) => quoted(q.text)))))),
  );
}

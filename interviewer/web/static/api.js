/** Calls to the HTTP API. Every failure is an `ApiError` with words for people. */

import { byCode, t } from "./i18n.js";

export class ApiError extends Error {
  constructor(status, code, message, hint, choices = []) {
    super(message);
    Object.assign(this, { status, code, hint, choices });
  }
}

const id = encodeURIComponent;

async function call(method, path, { body, file, accept = [], signal, lines = false } = {}) {
  let response;
  try {
    response = await fetch(path, {
      method,
      signal,
      headers: file ? { "content-type": "application/pdf" } : body === undefined ? {} : { "content-type": "application/json" },
      body: file ?? (body === undefined ? undefined : JSON.stringify(body)),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "network", t("The service cannot be reached."), t("Check that it is running, then try again. What you typed is still here."));
  }
  const text = await response.text();
  let data = null;
  try {
    if (lines && response.ok) data = text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
    else data = text ? JSON.parse(text) : null;
  } catch {
    data = null;
  }
  if (response.ok || accept.includes(response.status)) return data;
  const told = data?.error;
  if (response.status === 401 && path !== "/v1/auth") window.dispatchEvent(new Event("signed-out"));
  const detail = typeof data?.detail === "string" ? data.detail : undefined;
  throw new ApiError(
    response.status,
    told?.code ?? "http",
    (told && byCode(told.code, told.message)) ?? detail ?? t("The service answered with status {status}.", { status: response.status }),
    told?.hint,
    told?.choices,
  );
}

const memo = new Map();
/** Documents do not change while the service runs; a failure is not kept. */
function once(path) {
  if (!memo.has(path)) {
    const promise = call("GET", path);
    promise.catch(() => memo.delete(path));
    memo.set(path, promise);
  }
  return memo.get(path);
}

export const whoAmI = () => call("GET", "/v1/auth");
export const signIn = (key) => call("POST", "/v1/auth", { body: { key } });
export const signOut = () => call("DELETE", "/v1/auth");

export const ready = () => call("GET", "/readyz", { accept: [503] });
export const personas = async () => (await once("/v1/personas")).personas;
export const rubrics = async () => (await once("/v1/rubrics")).rubrics;
export const questions = async (rubric) => (await once(`/v1/questions?rubric=${id(rubric)}`)).questions;

export const allQuestions = async () => (await once("/v1/questions")).questions;
export const question = (qid) => once(`/v1/questions/${id(qid)}`);
/** A question with what its interviewer knows. */
export const spoilers = (qid) => call("GET", `/v1/questions/${id(qid)}?spoilers=true`);
export const about = () => call("GET", "/v1/about");

export const scenarios = async () => (await once("/v1/scenarios")).scenarios;

export const drills = async () => (await once("/v1/drills")).drills;

/** What stands in a resume and a job description; nothing is kept. */
export const parseProfile = (body, signal) => call("POST", "/v1/profiles/parse", { body, signal });
export const pdfText = async (file) => (await call("POST", "/v1/profiles/pdf", { file })).text;

export const createSession = (body) => call("POST", "/v1/sessions", { body });
export const sessions = async () => (await call("GET", "/v1/sessions")).sessions;
export const session = (sid) => call("GET", `/v1/sessions/${id(sid)}`);
export const deleteSession = (sid) => call("DELETE", `/v1/sessions/${id(sid)}`);
export const newToken = (sid) => call("POST", `/v1/sessions/${id(sid)}/token`);
export const report = (sid) => call("GET", `/v1/sessions/${id(sid)}/report`);
export const replay = (sid, body) => call("POST", `/v1/sessions/${id(sid)}/replays`, { body });
export const whatIf = (sid, turn, edits) => replay(sid, { from_turn: turn, edits });
/** The log of a session, as far as it may be seen now. */
export const events = (sid) => call("GET", `/v1/sessions/${id(sid)}/events`, { lines: true });
export const diff = (child) => call("GET", `/v1/sessions/${id(child)}/diff`);

export const createLoop = (body) => call("POST", "/v1/loops", { body });
export const progress = () => call("GET", "/v1/progress");
export const attempts = (qid) => call("GET", `/v1/questions/${id(qid)}/attempts`);
export const deleteEverything = () => call("DELETE", "/v1/sessions?confirm=everything");

export const loop = (lid) => call("GET", `/v1/loops/${id(lid)}`);
export const memoOf = (lid) => call("GET", `/v1/loops/${id(lid)}/memo`);

export const score = (body) => call("POST", "/v1/score", { body });
export const restore = (events) => call("POST", "/v1/restores", { body: { events } });
export const importTranscript = (body) => call("POST", "/v1/transcripts", { body });

/** Downloads, as paths on this origin. */
export const links = {
  memo: (lid) => `/v1/loops/${id(lid)}/memo?format=md`,
  transcript: (sid, format) => `/v1/sessions/${id(sid)}/transcript?format=${format}`,
  report: (sid) => `/v1/sessions/${id(sid)}/report?format=md`,
  events: (sid) => `/v1/sessions/${id(sid)}/events`,
  everything: (format) => `/v1/export?format=${format}`,
};

/** Names of personas by id, or an empty map when the service cannot say. */
export async function personaNames() {
  try {
    return new Map((await personas()).map((p) => [p.id, p]));
  } catch {
    return new Map();
  }
}

/** Titles of rounds by rubric id, or an empty map when the service cannot say. */
export async function titles() {
  try {
    return new Map((await rubrics()).map((r) => [r.id, r.title]));
  } catch {
    return new Map();
  }
}

/** What flags mean by id, where the service says it beside the rubrics. */
export async function flagTexts() {
  try {
    return new Map(Object.entries((await once("/v1/rubrics")).flags ?? {}));
  } catch {
    return new Map();
  }
}

/** What each criterion asks, by id. */
export const criteriaTexts = async () => new Map(Object.entries((await once("/v1/rubrics")).criteria));

/** What is known about criteria by id, from the rubrics: `{id, asks?}`. */
export async function criteriaNames() {
  const known = new Map();
  for (const rubric of await rubrics()) {
    for (const entry of rubric.criteria ?? []) {
      const criterion = typeof entry === "string" ? { id: entry } : { id: entry.id ?? entry.criterion, asks: entry.asks };
      if (criterion.id && !known.get(criterion.id)?.asks) known.set(criterion.id, criterion);
    }
  }
  return known;
}

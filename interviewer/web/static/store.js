/** What this browser keeps: tokens, drafts and answers that the service has not acknowledged. */

const PREFIX = "interviewer:";

export function read(key) {
  try {
    return localStorage.getItem(PREFIX + key);
  } catch {
    return null; // Storage is switched off: the page works, drafts do not survive a reload.
  }
}

export function write(key, value) {
  try {
    if (value === null || value === "") localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, value);
  } catch {
    // Full or switched off, as above.
  }
}

/** Keep how to open a session's socket. */
export function remember(id, { token, ws_url: wsUrl }) {
  write(`token:${id}`, token);
  write(`ws:${id}`, wsUrl ?? null);
}

/** Keep what is written into a field, over a reload too, until `write(key, null)` says that it was used. */
export function kept(area, key) {
  area.value = read(key) ?? area.value;
  area.addEventListener("input", () => write(key, area.value));
  return area;
}

/** The key of an answer that is being edited for a what-if. */
export const editOf = (id, turn) => `edit:${id}:${turn}`;

/** Forget everything, when somebody signs out. */
export function forgetAll() {
  forgetFrom("");
}

function forgetFrom(start) {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX + start)) localStorage.removeItem(key);
  } catch {
    // Switched off, as above: there is nothing.
  }
}

/** Forget everything about a session. */
export function forget(id) {
  for (const kind of ["token", "ws", "draft", "outbox"]) write(`${kind}:${id}`, null);
  forgetFrom(editOf(id, ""));
}

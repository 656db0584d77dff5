/**
 * DOM helpers. Invariant: data reaches the document as text nodes or checked attributes only, never as markup,
 * and no inline style or handler attribute is written, so that `default-src 'self'` holds.
 */

import { t } from "./i18n.js";

const SVG_NS = "http://www.w3.org/2000/svg";
const FORBIDDEN = /^(?:style|srcdoc|on.+|innerhtml|outerhtml)$/i;

/** Links stay on this origin: fragments and absolute paths, nothing that names a scheme or a host. */
function safeHref(value) {
  const text = String(value);
  return text.startsWith("#") || /^\/(?![/\\])/.test(text) ? text : "#/";
}

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") {
      for (const [type, listener] of Object.entries(value)) node.addEventListener(type, listener);
    } else if (name === "value" && "value" in node && node.tagName !== "LI") {
      node.value = value;
    } else if (FORBIDDEN.test(name)) {
      throw new Error(`attribute ${name} is not allowed`);
    } else if (name === "href" || name === "src") {
      node.setAttribute(name, safeHref(value));
    } else {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  append(node, children);
  return node;
}

/** Append nodes and strings; arrays are flattened, empty values left out. */
export function append(node, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false || child === "") continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

/** Make an HTML element: `h("p", {class: "muted"}, "text", otherNode)`. */
export function h(tag, props, ...children) {
  const node = document.createElement(tag);
  // A select's value can only be set once its options are there.
  if (tag === "select" && props && "value" in props) {
    const { value, ...rest } = props;
    fill(node, rest, children);
    node.value = value;
    return node;
  }
  return fill(node, props, children);
}

/** Make an SVG element. */
export function s(tag, props, ...children) {
  return fill(document.createElementNS(SVG_NS, tag), props, children);
}

export function clear(node) {
  node.replaceChildren();
  return node;
}

let ids = 0;
/** A document-unique id, for labels. */
export function uid(prefix) {
  ids += 1;
  return `${prefix}-${ids}`;
}

/** A labelled form control with an optional help line. */
export function field(label, control, help) {
  control.id ||= uid("f");
  const node = h("div", { class: "field" }, h("label", { for: control.id }, label), control);
  if (help) {
    const helpId = `${control.id}-help`;
    control.setAttribute("aria-describedby", helpId);
    append(node, h("p", { class: "help", id: helpId }, help));
  }
  return node;
}

export function option(value, label, selected = false) {
  return h("option", { value, selected }, label);
}

/** A table whose rows become labelled blocks on a narrow screen; roles keep it a table there too. */
export function table(caption, headers, rows, { captionHidden = true, className = "" } = {}) {
  const cell = (content, column) =>
    column === 0
      ? h("th", { scope: "row", role: "rowheader" }, content)
      : h("td", { role: "cell", "data-label": headers[column] }, content);
  return h(
    "table",
    { class: `stack ${className}`, role: "table" },
    h("caption", { class: captionHidden ? "sr" : null }, caption),
    h(
      "thead",
      { role: "rowgroup" },
      h("tr", { role: "row" }, headers.map((t) => h("th", { scope: "col", role: "columnheader" }, t))),
    ),
    h("tbody", { role: "rowgroup" }, rows.map((row) => h("tr", { role: "row" }, row.map(cell)))),
  );
}

/** Say something to screen readers without moving focus. */
export function announce(text) {
  const region = document.getElementById("announcer");
  region.textContent = "";
  // A changed text is announced, an equal one is not; the pause makes it a change.
  setTimeout(() => { region.textContent = text; }, 60);
}

/** Ask before something that cannot be undone; resolves to true or false. Escape means no. */
export function confirmDialog({ title, body, confirm, cancel = "Cancel", danger = false }) {
  return new Promise((resolve) => {
    const heading = uid("dialog");
    const back = document.activeElement;
    const no = h("button", { type: "button", on: { click: () => dialog.close("") } }, cancel);
    const yes = h(
      "button",
      { type: "button", class: danger ? "danger" : "primary", on: { click: () => dialog.close("yes") } },
      confirm,
    );
    const dialog = h(
      "dialog",
      { "aria-labelledby": heading },
      h("h2", { id: heading }, title),
      [body].flat().map((text) => h("p", null, text)),
      h("div", { class: "row end" }, no, yes),
    );
    dialog.addEventListener("keydown", (event) => event.stopPropagation());
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (back instanceof HTMLElement && back.isConnected) back.focus();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
    no.focus();
  });
}

/** An error of the service, with what to do. */
export function errorBox(error, retry) {
  return h(
    "div",
    { class: "notice bad", role: "alert" },
    h("p", null, h("strong", null, error.message || String(error))),
    error.hint ? h("p", null, error.hint) : null,
    retry ? h("p", null, h("button", { type: "button", on: { click: retry } }, t("Try again"))) : null,
  );
}

/** "Doing something, 4 s": a wait that is seen to go on. Returns the node and a function that stops it. */
export function busy(text) {
  const seconds = h("span", { class: "muted", "aria-hidden": "true" });
  const node = h("p", { class: "busy", role: "status" }, h("span", { class: "dot", "aria-hidden": "true" }), text, seconds);
  const start = Date.now();
  const timer = setInterval(() => {
    seconds.textContent = ` ${Math.round((Date.now() - start) / 1000)} s`;
  }, 1000);
  return { node, stop: () => { clearInterval(timer); node.remove(); } };
}

/** Do the work of a button, one at a time: `problem` shows that it goes on, and afterwards what went wrong. */
export async function working(button, problem, text, work) {
  if (button.getAttribute("aria-disabled") === "true") return;
  button.setAttribute("aria-disabled", "true");
  clear(problem);
  const wait = busy(text);
  problem.append(wait.node);
  try {
    await work();
  } catch (error) {
    problem.append(errorBox(error));
  } finally {
    wait.stop();
    button.removeAttribute("aria-disabled");
  }
}

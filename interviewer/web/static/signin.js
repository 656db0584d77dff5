/** Signing in, where the service asks for keys; elsewhere nothing of this is seen. */

import * as api from "./api.js";
import { append, clear, errorBox, field, h } from "./dom.js";
import { t } from "./i18n.js";
import * as store from "./store.js";

/** Say what `who` tells of the service, then `proceed`, at once or after signing in. */
export function enter(who, main, proceed) {
  if (!who.stored) notice();
  if (!who.required) return proceed();
  if (!who.name) return signIn(main, proceed);
  account(who.name);
  return proceed();
}

/** Show the form; it can also take the place of a view whose sign-in has ended. */
export function signIn(main, proceed) {
  document.getElementById("account")?.remove();
  const key = h("input", { type: "password", autocomplete: "current-password", required: true, minlength: 8, maxlength: 200, spellcheck: "false" });
  const problem = h("div");
  const button = h("button", { type: "submit", class: "primary" }, t("Sign in"));
  const send = async (event) => {
    event.preventDefault();
    clear(problem);
    button.disabled = true;
    try {
      const who = await api.signIn(key.value.trim());
      account(who.name);
      proceed();
    } catch (error) {
      problem.append(errorBox(error));
      button.disabled = false;
      key.focus();
    }
  };
  const name = h("input", { type: "text", autocomplete: "username", value: "interviewer", hidden: true });
  clear(main);
  document.body.className = "";
  append(
    main,
    h("h1", null, t("Sign in")),
    h("p", { class: "lead" }, t("This service asks for a key. Whoever runs it can make one for you.")),
    h("form", { on: { submit: send } }, name, field(t("Key"), key, t("It starts with imk_ and is exchanged for a cookie that ends by itself. The page does not keep it.")), problem, button),
  );
  key.focus();
}

function account(name) {
  document.getElementById("account")?.remove();
  const out = async () => {
    try {
      await api.signOut();
    } finally {
      store.forgetAll(); // drafts are the words of whoever leaves
      location.hash = "#/";
      location.reload();
    }
  };
  const bar = h("div", { id: "account", class: "account" }, h("span", { class: "muted" }, name), h("button", { type: "button", class: "small", on: { click: out } }, t("Sign out")));
  document.querySelector("header.site").append(bar);
}

function notice() {
  document.querySelector("header.site").append(
    h("p", { class: "strip", role: "note" }, t("Nothing is stored: interviews are gone when the service stops. Download what you want to keep.")),
  );
}

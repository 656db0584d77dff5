/** The page: a hash router over views. A view mounts into `<main>` and may return a function that ends it. */

import { whoAmI } from "./api.js";
import { clear, errorBox, h } from "./dom.js";
import { t, translatePage } from "./i18n.js";
import { interview } from "./interview.js";
import { report } from "./report.js";
import { start } from "./start.js";

/** A view that is loaded when it is first opened, so that others do not wait for it. */
function later(load, name) {
  return (root, ...args) => {
    let end = null;
    let left = false;
    load().then(
      (module) => { if (!left) end = module[name](root, ...args); },
      () => { if (!left) root.append(errorBox(new Error(t("This part of the page could not be loaded.")), route)); },
    );
    return () => {
      left = true;
      end?.();
    };
  };
}

const player = later(() => import("./player.js"), "player");
const bank = later(() => import("./bank.js"), "bank");
const settings = later(() => import("./settings.js"), "settings");
const history = later(() => import("./history.js"), "history");
const loop = later(() => import("./loop.js"), "loop");
const memo = later(() => import("./loop.js"), "memo");
const replayDiff = later(() => import("./replay.js"), "replayDiff");
const score = later(() => import("./score.js"), "score");

const ROUTES = [
  [/^#?\/?$/, start, "start"],
  [/^#\/start\/([^/]+)(?:\/(senior))?$/, start, "start"],
  [/^#\/questions$/, bank, "questions"],
  [/^#\/settings$/, settings, "settings"],
  [/^#\/score(?:\/([^/]+))?(?:\/(senior))?$/, score, "score"],
  [/^#\/history$/, history, "history"],
  [/^#\/l\/([^/]+)$/, loop, ""],
  [/^#\/l\/([^/]+)\/memo$/, memo, ""],
  [/^#\/s\/([^/]+)$/, interview, ""],
  [/^#\/s\/([^/]+)\/report$/, report, ""],
  [/^#\/s\/([^/]+)\/replay\/([^/]+)$/, replayDiff, ""],
  [/^#\/s\/([^/]+)\/play(?:\/(\d+))?$/, player, ""],
];

const main = document.getElementById("main");
let leave = null;
let first = true;

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function notFound(root) {
  root.append(
    h("h1", null, t("Nothing here")),
    h("p", null, t("The address names no page. "), h("a", { href: "#/" }, t("Start an interview")), t(".")),
  );
}

function title() {
  const heading = main.querySelector("h1");
  document.title = heading ? t("{heading} - Mock interviewer", { heading: heading.textContent }) : t("Mock interviewer");
}

function route() {
  const hash = location.hash;
  if (hash && !hash.startsWith("#/")) return;
  leave?.();
  leave = null;
  clear(main);
  document.body.className = "";
  window.scrollTo(0, 0);
  const found = ROUTES.find(([pattern]) => pattern.test(hash));
  for (const link of document.querySelectorAll("[data-nav]")) {
    if (link.dataset.nav === found?.[2]) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (found) leave = found[1](main, ...hash.match(found[0]).slice(1).filter((part) => part !== undefined).map(decode)) ?? null;
  else notFound(main);
  title();
  // The first page keeps the browser's focus; later ones say where they are.
  if (!first && !main.contains(document.activeElement)) main.focus({ preventScroll: true });
  first = false;
}

// The skip link must not change the hash: that is the router's.
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
new MutationObserver(title).observe(main, { childList: true, subtree: true });
window.addEventListener("hashchange", route);
window.addEventListener("signed-out", () => {
  leave?.();
  leave = null;
  import("./signin.js").then((module) => module.signIn(main, route));
});

/** Where the service asks for keys, or keeps nothing, that comes first. */
async function begin() {
  const who = await whoAmI().catch(() => null); // what is wrong is said by the view, which asks the service next
  if (who?.required || who?.stored === false) (await import("./signin.js")).enter(who, main, route);
  else route();
}
translatePage();
begin();

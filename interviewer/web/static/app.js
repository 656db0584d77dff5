/** The page: a hash router over views. A view mounts into `<main>` and may return a function that ends it. */

import { clear, h } from "./dom.js";
import { history } from "./history.js";
import { interview } from "./interview.js";
import { loop, memo } from "./loop.js";
import { replayDiff, report } from "./report.js";
import { score } from "./score.js";
import { start } from "./start.js";

const ROUTES = [
  [/^#?\/?$/, start, "start"],
  [/^#\/score$/, score, "score"],
  [/^#\/history$/, history, "history"],
  [/^#\/l\/([^/]+)$/, loop, ""],
  [/^#\/l\/([^/]+)\/memo$/, memo, ""],
  [/^#\/s\/([^/]+)$/, interview, ""],
  [/^#\/s\/([^/]+)\/report$/, report, ""],
  [/^#\/s\/([^/]+)\/replay\/([^/]+)$/, replayDiff, ""],
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
    h("h1", null, "Nothing here"),
    h("p", null, "The address names no page. ", h("a", { href: "#/" }, "Start an interview"), "."),
  );
}

function title() {
  const heading = main.querySelector("h1");
  document.title = heading ? `${heading.textContent} - Mock interviewer` : "Mock interviewer";
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
  if (found) leave = found[1](main, ...hash.match(found[0]).slice(1).map(decode)) ?? null;
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
route();

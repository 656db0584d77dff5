/**
 * The language of the page. The English text is the key, so that a text without a translation is shown in English.
 * A dictionary is loaded before any view is made, and only when it is wanted; another language is another load of the
 * page, which loses nothing.
 */

import { read, write } from "./store.js";

export const LANGUAGES = [["en", "English"], ["zh-CN", "中文"]];
const KEY = "language";

function wanted() {
  const kept = read(KEY);
  if (LANGUAGES.some(([id]) => id === kept)) return kept;
  const asked = globalThis.document ? (globalThis.navigator?.language ?? "en") : "en";
  return /^zh\b/i.test(asked) && !/^zh-(tw|hk|mo|hant)/i.test(asked) ? "zh-CN" : "en";
}

export let language = wanted();
let words = { texts: {}, names: {}, codes: {} };
if (language === "zh-CN") words = await import("./zh.js").catch(() => { language = "en"; return words; });
if (globalThis.document) document.documentElement.lang = language;

/** The text in the chosen language, with its `{values}` put in. */
export function t(text, values) {
  const said = words.texts[text] ?? text;
  return values ? said.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole)) : said;
}

const plurals = new Intl.PluralRules(language);

/** `tn(2, "{n} question", "{n} questions")`; a translation is looked up under the last form. */
export function tn(n, one, many) {
  return t(plurals.select(n) === "one" ? one : many, { n });
}

/** Texts as a list in one line; nodes go between its commas as they are. */
export const listed = (items) => items.join(words.comma ?? ", ");
export const listedNodes = (items) => items.flatMap((item, i) => (i ? [words.comma ?? ", ", item] : [item]));

/** The name of a criterion, a flag, a step and the like, where the language has one. */
export const named = (id) => words.names[id];

/** What a code of the service means; the service's own English where the language does not say. */
export const byCode = (code, message) => words.codes[code] ?? message;

/** Put the document's own texts into the language, and a switch into its header. */
export function translatePage() {
  for (const node of document.querySelectorAll("[data-t]")) node.textContent = t(node.textContent);
  for (const node of document.querySelectorAll("[data-t-label]")) node.setAttribute("aria-label", t(node.getAttribute("aria-label")));
  const select = document.getElementById("language");
  for (const [id, name] of LANGUAGES) select.append(new Option(name, id, id === language, id === language));
  for (const each of select.options) each.lang = each.value;
  select.setAttribute("aria-label", language === "en" ? "Language" : `${t("Language")} (Language)`);
  select.addEventListener("change", () => {
    write(KEY, select.value);
    location.reload();
  });
}

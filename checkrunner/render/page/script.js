"use strict";
// The page reads without scripts; this adds filter, keys and colours, and map.js the map. Whatever comes from the
// report is only ever set as text: nothing here makes HTML out of strings.

const data = JSON.parse(document.getElementById("data").textContent);
const BAD = "cuwn";

const $ = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function remembered(key, value) {
  try {
    if (value !== undefined) localStorage.setItem(`checkrunner-${key}`, value);
    return localStorage.getItem(`checkrunner-${key}`);
  } catch {
    return null; // no storage here: what is chosen holds for this page
  }
}

// An entry: [letter of its verdict, its hosts as pairs of first and length, its checks].
function hasHost(entry, host) {
  const hosts = entry[1];
  for (let at = 0; at < hosts.length; at += 2) {
    if (host >= hosts[at] && host < hosts[at] + hosts[at + 1]) return true;
  }
  return false;
}

function hasSomeHost(entry, marked) {
  const hosts = entry[1];
  for (let at = 0; at < hosts.length; at += 2) {
    for (let host = hosts[at]; host < hosts[at] + hosts[at + 1]; host++) if (marked[host]) return true;
  }
  return false;
}

// ---- filter

const filter = { words: [], verdicts: new Set() };
const lowerHosts = data.hosts.map((name) => name.toLowerCase());
const items = all("[data-at]").map((element) => ({ element, entry: data.entries[Number(element.dataset.at)], text: null }));
const cards = items.filter((item) => item.element.matches(".card"));
const sections = all("main > section").filter((section) => section.id !== "map" && $("[data-at]", section));
const nothing = make("p", { className: "empty", hidden: true }, "No finding matches the filter.");
const markedHosts = new Map();
let unfolded = false; // the list of what is wrong, where it is a long one

function textOf(item) {
  return (item.text ??= item.element.textContent.toLowerCase().replace(/\s+/g, " "));
}

// Of a word: which hosts have it in their names, and how many.
function hostsWith(word) {
  let found = markedHosts.get(word);
  if (!found) {
    const marked = Uint8Array.from(lowerHosts, (name) => (name.includes(word) ? 1 : 0));
    found = { marked, count: marked.reduce((sum, one) => sum + one, 0) };
    if (markedHosts.size > 50) markedHosts.clear();
    markedHosts.set(word, found);
  }
  return found;
}

function matches(item) {
  if (filter.verdicts.size && !filter.verdicts.has(item.entry[0])) return false;
  return filter.words.every((word) => {
    if (textOf(item).includes(word)) return true;
    const hosts = hostsWith(word);
    return hosts.count > 0 && hasSomeHost(item.entry, hosts.marked);
  });
}

function applyFilter() {
  filter.words = $("#query").value.toLowerCase().split(/\s+/).filter(Boolean);
  filter.verdicts = new Set(all(".chip[aria-pressed=true]").map((chip) => chip.dataset.verdict));
  const active = filter.words.length > 0 || filter.verdicts.size > 0;
  for (const item of items) item.element.hidden = active && !matches(item);
  for (const section of sections) {
    if (section.id !== "findings") section.hidden = active && !$("[data-at]:not([hidden])", section);
  }
  $(".index")?.classList.toggle("short", !active && !unfolded);
  if ($("#more")) $("#more").hidden = active || unfolded;
  const shown = cards.filter((card) => !card.element.hidden).length;
  nothing.hidden = !active || shown > 0;
  $("#matches").textContent = active ? `${shown} of ${count(cards.length, "finding")}` : "";
  showMap();
}

function clearFilter() {
  $("#query").value = "";
  for (const chip of all(".chip")) chip.setAttribute("aria-pressed", "false");
  applyFilter();
}

// A link to something that the filter hides takes the filter away.
function reveal(hash) {
  const target = hash.length > 1 && document.getElementById(hash.slice(1));
  if (!target) return;
  if (target.closest("[hidden]")) clearFilter();
  for (let box = target.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
}

function goTo(element) {
  reveal(`#${element.id}`);
  if (location.hash === `#${element.id}`) element.scrollIntoView();
  else location.hash = element.id;
  element.focus({ preventScroll: true });
}

let waiting = 0;
$("#query").addEventListener("input", () => {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(applyFilter);
});
for (const chip of all(".chip")) {
  chip.addEventListener("click", () => {
    chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
    applyFilter();
  });
}
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (link) reveal(link.getAttribute("href"));
});

$("#more")?.addEventListener("click", () => {
  unfolded = true;
  applyFilter();
});

// ---- colours

const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
const tellTheme = () => $("#theme").setAttribute("aria-pressed", String(isDark()));

function toggleTheme() {
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  remembered("theme", theme);
  tellTheme();
}

$("#theme").addEventListener("click", toggleTheme);
dark.addEventListener("change", tellTheme);
tellTheme();

// ---- keys

function step(by) {
  const shown = cards.map((card) => card.element).filter((element) => !element.closest("[hidden]"));
  if (!shown.length) return;
  let now = shown.findIndex((element) => element.contains(document.activeElement));
  if (now < 0) {
    const below = shown.findIndex((element) => element.getBoundingClientRect().top > 80);
    now = (below < 0 ? shown.length : below) - (by > 0 ? 1 : 0);
  }
  const next = shown[Math.min(shown.length - 1, Math.max(0, now + by))];
  next.focus({ preventScroll: true });
  next.scrollIntoView();
}

function help() {
  if (!$("#help").open) $("#help").showModal();
}

const KEYS = {
  "/": () => $("#query").focus(),
  j: () => step(1),
  k: () => step(-1),
  m: () => {
    $("#map").scrollIntoView();
    $("#view table").focus({ preventScroll: true });
  },
  t: toggleTheme,
  "?": help,
};

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && document.activeElement === $("#query")) {
    clearFilter();
    $("#query").blur();
    return;
  }
  const typing = event.target.closest?.("input:not([type=checkbox]), select, textarea, dialog");
  if (typing || event.ctrlKey || event.altKey || event.metaKey || !$("#single-keys").checked) return;
  const action = Object.hasOwn(KEYS, event.key) && KEYS[event.key];
  if (action) {
    event.preventDefault();
    action();
  }
});
$("#keys").addEventListener("click", help);
$("#close").addEventListener("click", () => $("#help").close());
$("#single-keys").checked = remembered("keys") !== "off";
$("#single-keys").addEventListener("change", (event) => remembered("keys", event.target.checked ? "on" : "off"));

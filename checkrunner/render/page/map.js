"use strict";
// The map of hosts and checks: a table of which only the rows in sight are there, so that it may have any number.

const ROW = 20; // pixels, as in the style
const AHEAD = 12; // rows beyond those in sight
const MOST_PRINTED = 250;

const rowOf = data.rows.of.map((row) => row.replace(/(\d+)(\D)/g, (_, number, letter) => letter.repeat(Number(number))));
const packedRow = (host) => rowOf[data.rows.at[host]];
const lowerChecks = data.checks.map((key, at) => `${key} ${data.names[at]}`.toLowerCase());
const unseen = items.filter((item) => item.element.closest("#unseen, #silenced .items"));
const skipped = items.filter((item) => item.entry[0] === "s" && item.element.id);

const view = $("#view");
const table = $("table", view);
const map = { rows: [], columns: [], first: -1, last: -1, cursor: null, pinned: -1, width: 20, side: 150, printing: false };

const scores = data.rows.of.map((_, at) => {
  const weigh = { c: 1e12, u: 1e8, w: 1e4, n: 1 };
  return [...rowOf[at]].reduce((sum, letter) => sum + (weigh[letter] ?? 0), 0);
});
const scoreOf = (host) => scores[data.rows.at[host]] + (data.states[host] === "reached" ? 0 : 5e8);
const places = data.hosts.map((_, host) => host);
const worstFirst = [...places].sort((one, other) => scoreOf(other) - scoreOf(one) || one - other);

// What all names end with (``.example.com``) is told once.
const ending = commonEnding(data.hosts);
const shortName = (host) => data.hosts[host].slice(0, data.hosts[host].length - ending.length);

function commonEnding(names) {
  if (names.length < 2) return "";
  let ending = names[0].slice(names[0].indexOf("."));
  while (ending.includes(".") && !names.every((name) => name.endsWith(ending) && name.length > ending.length)) {
    const next = ending.indexOf(".", 1);
    ending = next < 0 ? "" : ending.slice(next);
  }
  return ending.startsWith(".") ? ending : "";
}

// ---- which rows and columns

function chosenBy(word, chosen) {
  const hosts = hostsWith(word);
  if (hosts.count) {
    chosen.rows.push((host) => hosts.marked[host]);
    return;
  }
  const columns = new Set(lowerChecks.flatMap((key, at) => (key.includes(word) ? [at] : [])));
  if (columns.size) {
    chosen.columns.push((column) => columns.has(column));
    return;
  }
  const told = cards.filter((card) => textOf(card).includes(word));
  chosen.rows.push((host) => told.some((card) => hasHost(card.entry, host)));
}

function choose() {
  const chosen = { rows: [], columns: [] };
  for (const word of filter.words) chosenBy(word, chosen);
  if (map.pinned >= 0) chosen.rows.push((host) => hasHost(data.entries[map.pinned], host));
  let columns = data.checks.map((_, at) => at).filter((column) => chosen.columns.every((test) => test(column)));
  const few = map.printing && data.hosts.length > 60;
  const letters = filter.verdicts.size ? [...filter.verdicts].join("") : $("#only-bad").checked || few ? BAD : "";
  if (letters) {
    chosen.rows.push((host) => {
      const row = packedRow(host);
      return columns.some((column) => letters.includes(row[column])) || (data.states[host] !== "reached" && letters.includes("u"));
    });
  }
  const order = $("#order").value === "bad" ? worstFirst : places;
  map.rows = order.filter((host) => chosen.rows.every((test) => test(host)));
  if (map.printing) map.rows = map.rows.slice(0, MOST_PRINTED);
  if ($("#only-bad").checked || few) {
    const shown = new Set(map.rows.map(packedRow));
    columns = columns.filter((column) => [...shown].some((row) => BAD.includes(row[column])));
  }
  map.columns = columns;
}

// ---- drawing

function layOut() {
  const longest = map.rows.reduce((most, host) => Math.max(most, shortName(host).length), 7);
  const room = $("#grid").clientWidth - 2;
  map.side = Math.round(Math.min(longest * 7.8 + 20, Math.max(96, room * 0.36), 300));
  map.width = Math.max(room < 600 ? 20 : 15, Math.min(36, Math.floor((room - map.side) / Math.max(1, map.columns.length))));
  const first = make("col");
  first.style.width = `${map.side}px`;
  const others = map.columns.map(() => {
    const column = make("col");
    column.style.width = `${map.width}px`;
    return column;
  });
  $("colgroup", table).replaceChildren(first, ...others);
  table.style.width = `${map.side + map.width * map.columns.length}px`;
}

function drawHead() {
  const heads = map.columns.map((column) => {
    const text = make("span", {}, data.checks[column]);
    return make("th", { scope: "col", title: data.names[column], column }, text);
  });
  const corner = make("td", { title: ending && `all in ${ending.slice(1)}` }, ending ? `*${ending}` : count(map.rows.length, "host"));
  $("thead", table).replaceChildren(make("tr", {}, corner, ...heads));
  table.setAttribute("aria-rowcount", map.rows.length + 1);
  table.setAttribute("aria-colcount", map.columns.length + 1);
}

function drawRow(at) {
  const host = map.rows[at];
  const letters = packedRow(host);
  const away = data.states[host] !== "reached";
  const title = away ? `${data.hosts[host]}: ${data.states[host]}` : data.hosts[host];
  const head = make("th", { scope: "row", title, className: away ? "away" : "", host }, shortName(host));
  const row = make("tr", { at }, head);
  row.setAttribute("aria-rowindex", at + 2);
  for (const column of map.columns) {
    const letter = letters[column];
    const cell = document.createElement("td");
    const blank = letter === "." || letter === "_";
    cell.className = blank ? "blank" : BAD.includes(letter) ? `v-${letter} links` : `v-${letter}`;
    cell.setAttribute("aria-label", data.words[letter] ?? "");
    row.append(cell);
  }
  return row;
}

function space(rows) {
  const row = make("tr", { className: "space" }, make("td", { colSpan: map.columns.length + 1 }));
  row.setAttribute("aria-hidden", "true");
  row.style.height = `${rows * ROW}px`;
  return row;
}

function draw(force = false) {
  const top = Math.floor(view.scrollTop / ROW);
  const seen = Math.ceil(view.clientHeight / ROW);
  let first = Math.max(0, top - AHEAD);
  let last = Math.min(map.rows.length, top + seen + AHEAD);
  if (map.printing) [first, last] = [0, map.rows.length];
  const stays = !force && map.first <= Math.max(0, top - 2) && map.last >= Math.min(map.rows.length, top + seen + 2);
  if (!stays) {
    const rows = [];
    if (first) rows.push(space(first));
    for (let at = first; at < last; at++) rows.push(drawRow(at));
    if (last < map.rows.length) rows.push(space(map.rows.length - last));
    $("tbody", table).replaceChildren(...rows);
    [map.first, map.last] = [first, last];
  }
  markCursor();
}

function showMap() {
  if (!data.checks.length || !data.hosts.length) return;
  choose();
  map.cursor = null;
  hideTip();
  layOut();
  drawHead();
  draw(true);
  const everything = map.rows.length === data.hosts.length && map.columns.length === data.checks.length;
  const shown = `${count(map.rows.length, "host")}, ${count(map.columns.length, "check")}`;
  $("#size").textContent = everything ? shown : `${shown} of ${data.hosts.length.toLocaleString("en")} and ${data.checks.length.toLocaleString("en")}`;
}

// ---- from a cell to what is said of it

function saidOf(host, column) {
  const letter = packedRow(host)[column];
  const isIt = (item) => item.entry[0] === letter && item.entry[2]?.includes(column) && hasHost(item.entry, host);
  const found = cards.find(isIt) ?? skipped.find(isIt);
  return found ?? (letter === "u" ? unseen.find((item) => hasHost(item.entry, host)) : undefined);
}

function cellAt(row, column) {
  const drawn = [...$("tbody", table).rows].find((one) => one.at === row);
  return drawn?.cells[column + 1];
}

function markCursor() {
  for (const marked of all(".on", table)) {
    marked.classList.remove("on");
    marked.removeAttribute("id");
  }
  const cell = map.cursor && cellAt(map.cursor.row, map.cursor.column);
  if (cell) {
    cell.classList.add("on");
    cell.id = "cell";
    $("thead", table).rows[0].cells[map.cursor.column + 1].classList.add("on");
    table.setAttribute("aria-activedescendant", "cell");
  } else table.removeAttribute("aria-activedescendant");
}

function hideTip() {
  $("#tip").hidden = true;
  $("#tip").classList.remove("pinned");
}

function showTip(row, column, pinned) {
  const [host, check] = [map.rows[row], map.columns[column]];
  const letter = packedRow(host)[check];
  const item = saidOf(host, check);
  const word = make("span", { className: `badge v-${letter}` }, data.words[letter] ?? "");
  const state = data.states[host] === "reached" ? "" : ` (${data.states[host]})`;
  const lines = [make("div", {}, make("b", {}, make("bdi", {}, data.hosts[host])), state)];
  lines.push(make("div", {}, make("b", {}, make("bdi", {}, data.checks[check])), " ", word));
  if (data.names[check] !== data.checks[check]) lines.push(make("div", { className: "dim" }, data.names[check]));
  const reason = item && $(".reasons li, .what", item.element);
  if (reason) lines.push(make("div", {}, reason.textContent.trim().replace(/\s+/g, " ").slice(0, 220)));
  if (item && pinned) {
    const link = make("button", { type: "button", className: "link" }, "go to the finding");
    link.addEventListener("click", () => goTo(item.element));
    lines.push(link);
  }
  const tip = $("#tip");
  tip.replaceChildren(...lines);
  tip.classList.toggle("pinned", pinned);
  tip.hidden = false;
  const cell = cellAt(row, column)?.getBoundingClientRect();
  if (!cell) return hideTip();
  const below = cell.bottom + 8 + tip.offsetHeight < innerHeight;
  tip.style.left = `${Math.max(8, Math.min(cell.left, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${below ? cell.bottom + 8 : Math.max(8, cell.top - tip.offsetHeight - 8)}px`;
}

function placeOf(target) {
  const cell = target.closest?.("tbody td");
  const row = cell?.parentElement.at;
  return cell && row !== undefined ? { row, column: cell.cellIndex - 1 } : null;
}

view.addEventListener("pointermove", (event) => {
  if (event.pointerType !== "mouse") return;
  const place = placeOf(event.target);
  if (!place) return hideTip();
  if (place.row === map.cursor?.row && place.column === map.cursor.column && !$("#tip").hidden) return;
  map.cursor = place;
  markCursor();
  showTip(place.row, place.column, false);
});
view.addEventListener("pointerleave", () => $("#tip").classList.contains("pinned") || hideTip());
view.addEventListener("click", (event) => {
  const head = event.target.closest("th");
  if (head) {
    $("#query").value = (head.host !== undefined ? data.hosts[head.host] : data.checks[head.column]).toLowerCase();
    applyFilter();
    return;
  }
  const place = placeOf(event.target);
  if (!place) return;
  const item = saidOf(map.rows[place.row], map.columns[place.column]);
  map.cursor = place;
  markCursor();
  if (item && event.pointerType === "mouse") goTo(item.element);
  else showTip(place.row, place.column, true);
});
document.addEventListener("pointerdown", (event) => {
  if (!event.target.closest("#tip, #view")) hideTip();
});

// ---- keys

function bringIntoSight({ row, column }) {
  const head = $("thead", table).offsetHeight;
  const [top, left] = [row * ROW, column * map.width];
  if (top < view.scrollTop) view.scrollTop = top;
  else if (top + ROW + head > view.scrollTop + view.clientHeight) view.scrollTop = top + ROW + head - view.clientHeight;
  if (left < view.scrollLeft) view.scrollLeft = left;
  else if (left + map.width + map.side > view.scrollLeft + view.clientWidth) view.scrollLeft = left + map.width + map.side - view.clientWidth;
}

const MOVES = {
  ArrowUp: (place) => ({ ...place, row: place.row - 1 }),
  ArrowDown: (place) => ({ ...place, row: place.row + 1 }),
  ArrowLeft: (place) => ({ ...place, column: place.column - 1 }),
  ArrowRight: (place) => ({ ...place, column: place.column + 1 }),
  PageUp: (place) => ({ ...place, row: place.row - Math.floor(view.clientHeight / ROW / 2) }),
  PageDown: (place) => ({ ...place, row: place.row + Math.floor(view.clientHeight / ROW / 2) }),
  Home: (place, far) => ({ row: far ? 0 : place.row, column: 0 }),
  End: (place, far) => ({ row: far ? map.rows.length - 1 : place.row, column: map.columns.length - 1 }),
};

table.addEventListener("keydown", (event) => {
  if (!map.rows.length || !map.columns.length) return;
  if (event.key === "Escape") return hideTip();
  if (event.key === "Enter" && map.cursor) {
    const item = saidOf(map.rows[map.cursor.row], map.columns[map.cursor.column]);
    if (item) goTo(item.element);
    return;
  }
  const move = Object.hasOwn(MOVES, event.key) && MOVES[event.key];
  if (!move) return;
  event.preventDefault();
  const place = map.cursor ? move(map.cursor, event.ctrlKey) : { row: 0, column: 0 };
  place.row = Math.max(0, Math.min(map.rows.length - 1, place.row));
  place.column = Math.max(0, Math.min(map.columns.length - 1, place.column));
  map.cursor = place;
  bringIntoSight(place);
  draw();
  showTip(place.row, place.column, false);
  const [host, check] = [map.rows[place.row], map.columns[place.column]];
  $("#said").textContent = `${data.hosts[host]}, ${data.checks[check]}: ${data.words[packedRow(host)[check]]}`;
});
table.addEventListener("blur", () => $("#tip").classList.contains("pinned") || hideTip());

// ---- start

let drawing = 0;
view.addEventListener("scroll", () => {
  hideTip();
  cancelAnimationFrame(drawing);
  drawing = requestAnimationFrame(() => draw());
});
$("#only-bad").addEventListener("change", showMap);
$("#order").addEventListener("change", showMap);
for (const button of all("[data-on-map]")) {
  button.hidden = !data.checks.length;
  button.addEventListener("click", () => {
    map.pinned = Number(button.dataset.onMap);
    const name = $("h3 bdi", button.closest(".card")).textContent;
    $("#unpin").textContent = `only hosts of ${name}: show all again`;
    $("#unpin").hidden = false;
    showMap();
    $("#map").scrollIntoView();
  });
}
$("#unpin").addEventListener("click", () => {
  map.pinned = -1;
  $("#unpin").hidden = true;
  showMap();
});

const opened = [];
addEventListener("beforeprint", () => {
  for (const box of all("details:not([open])")) {
    box.open = true;
    opened.push(box);
  }
  map.printing = true;
  showMap();
});
addEventListener("afterprint", () => {
  for (const box of opened.splice(0)) box.open = false;
  map.printing = false;
  showMap();
});

$(".bar").hidden = false;
$("#findings").append(nothing);
if (data.checks.length && data.hosts.length) {
  $("#grid").hidden = false;
  if ($("#words")) $("#words").open = false;
}
applyFilter();
new ResizeObserver(() => {
  if (map.laidOut !== $("#grid").clientWidth) {
    map.laidOut = $("#grid").clientWidth;
    if (!map.printing) showMap();
  }
}).observe($("#grid"));
reveal(location.hash);

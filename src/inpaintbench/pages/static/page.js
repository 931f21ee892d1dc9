// What all pages share: their data, what is chosen (kept in the address, so that a view can be sent), numbers as words, tables that
// sort and search, and what a plot's marks say. A page reads well without it.
import { breakable as parted, el, give } from "./player/dom.js";
import { follow, get as asked, set as keep } from "./items/state.js";

const holder = document.getElementById("page-data");
export const data = holder ? JSON.parse(holder.textContent) : {};
const listeners = new Map();
export const on = (name, listener) => listeners.set(name, [...(listeners.get(name) ?? []), listener]);
export const tell = (name, value) => { for (const listener of listeners.get(name) ?? []) listener(value); };

export const element = el;
export const breakable = parted;
export const get = (name) => asked(name, null);
export const set = (changes, more = { step: false }) => keep(changes, more);
follow(() => { tell("state"); goTo(get("at")); });

// Opens what is folded around an element, or in a section of which the title alone is seen.
export function unfold(target) {
  for (let one = target.querySelector(":scope > .part") ?? target; one; one = one.parentElement) if (one.matches("details")) one.open = true;
}

export function goTo(id) {
  const target = id && document.getElementById(id);
  if (!target) return;
  unfold(target);
  target.scrollIntoView();
}

// JSON has no infinity: it is the text "inf".
export const numeric = (value) => (value === "inf" ? Infinity : value === "-inf" ? -Infinity : value);

export const short = (value) => (typeof value === "number" ? String(Number(value.toPrecision(4))).replace("-", "−") : value ?? "–");

export function count(n, noun) {
  const plural = /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${n.toLocaleString("en")} ${n === 1 ? noun : plural}`;
}

export function methodName(method) {
  const look = data.styles?.[method] ?? {};
  const made = element("span", { class: "method", title: method });
  made.style.setProperty("--method", look.colour ?? "var(--soft)");
  made.append(element("i", { class: `dot ${look.marker ?? ""}` }), element("span", { class: "name" }, breakable(method)));
  if ((data.references ?? []).includes(method)) made.classList.add("of-reference");
  return made;
}

export const announce = (words, where = "page") => document.querySelector(`[data-live="${where}"]`)?.replaceChildren(words);

export const download = (name, text, type) => give(name, new Blob([text], { type }));

export async function copy(text) {
  if (await navigator.clipboard?.writeText(text).then(() => true, () => false)) return true; // else the old way
  const area = element("textarea", { class: "visually-hidden", "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

async function copyFact(button) {
  const done = await copy(button.dataset.text ?? document.getElementById(button.dataset.copy).innerText);
  const words = button.textContent;
  button.textContent = done ? "Copied" : "Not allowed";
  announce(done ? "Copied" : "The browser allows no copying here");
  setTimeout(() => { button.textContent = words; }, 1600);
}

// Rows that sum up or do not compete stay below the others, whatever the order.
const isLast = (row) => row.classList.contains("total") || row.classList.contains("floor");

function sort(button) {
  const head = button.closest("th");
  const now = head.getAttribute("aria-sort");
  const falling = now === "none" ? !("rising" in button.dataset) : now === "ascending";
  order(head, falling);
  const table = head.closest("table");
  const others = sortings().filter(([of]) => of !== tableKey(table));
  set({ sort: [...others, [tableKey(table), columnKey(head), falling ? "down" : "up"]].map((parts) => parts.join(":")).join(",") });
  announce(`Sorted by ${button.textContent.trim()}, ${falling ? "largest" : "smallest"} first`);
}

// In the address: `sort=TABLE:COLUMN:down`, several with commas between, in words of their labels.
const asKey = (text) => (text ?? "").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
const tableKey = (table) => asKey(table.closest(".scroll")?.getAttribute("aria-label") ?? table.caption?.textContent) || "table";
const columnKey = (head) => asKey(head.querySelector("button.sort").textContent);
const sortings = () => (get("sort") ?? "").split(",").map((words) => words.split(":")).filter((parts) => parts.length === 3);

function sortAsAsked() {
  for (const [of, by, direction] of sortings()) {
    const tables = [...document.querySelectorAll("table:not([data-own])")].filter((table) => tableKey(table) === of);
    for (const table of tables) for (const button of table.querySelectorAll("button.sort")) if (columnKey(button.closest("th")) === by) order(button.closest("th"), direction === "down");
  }
}

function order(head, falling) {
  const table = head.closest("table");
  const heads = [...head.parentElement.children];
  const place = heads.indexOf(head);
  for (const other of heads) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", falling ? "descending" : "ascending");
  const value = (row) => {
    const text = row.children[place].dataset.value;
    return text === undefined || text === "" || Number.isNaN(Number(text.replace("inf", "Infinity"))) ? text : Number(text.replace("inf", "Infinity"));
  };
  for (const body of table.tBodies) {
    const rows = [...body.rows];
    const known = rows.filter((row) => !isLast(row) && value(row) !== undefined);
    known.sort((one, other) => (falling ? -1 : 1) * (value(one) < value(other) ? -1 : value(one) > value(other) ? 1 : 0));
    body.append(...known, ...rows.filter((row) => !known.includes(row) && !isLast(row)), ...rows.filter(isLast));
  }
}

// A list of boxes to tick that opens from a button; `changed` gets the names that are ticked.
export function picker(title, names, chosen, changed, draw = (name) => name) {
  const boxes = names.map((name) => element("input", { type: "checkbox", value: name, checked: chosen.includes(name), autocomplete: "off" }));
  const labels = boxes.map((box, at) => element("label", {}, box, draw(names[at])));
  const summary = element("summary", {}, title);
  const made = element("details", { class: "picker" }, summary, element("div", {}, ...labels));
  const words = () => { const ticked = boxes.filter((box) => box.checked).length; summary.textContent = ticked === names.length ? title : `${title}: ${ticked} of ${names.length}`; };
  made.addEventListener("change", () => { words(); changed(boxes.filter((box) => box.checked).map((box) => box.value)); });
  document.addEventListener("click", (event) => { if (!made.contains(event.target)) made.open = false; });
  made.addEventListener("keydown", (event) => { if (event.key === "Escape") { made.open = false; summary.focus(); } });
  made.tick = (wanted) => { for (const box of boxes) box.checked = wanted.includes(box.value); words(); };
  words();
  return made;
}

// Hidden columns; the first one stays.
function showColumns(table, shown) {
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  for (const row of [...table.tBodies].flatMap((body) => [...body.rows])) [...row.cells].forEach((cell, at) => { cell.hidden = at > 0 && !shown.includes(at); });
  heads.forEach((cell, at) => { cell.hidden = at > 0 && !shown.includes(at); });
  if (table.tHead.rows.length < 2) return;
  let at = 0;
  for (const cell of table.tHead.rows[0].cells) {
    const own = Number(cell.dataset.span ?? (cell.dataset.span = cell.colSpan));
    const left = Array.from({ length: own }, (_, step) => at + step).filter((one) => one === 0 || shown.includes(one)).length;
    cell.hidden = left === 0;
    if (left) cell.colSpan = left;
    at += own;
  }
}

function addTools(box) {
  const table = box.querySelector("table");
  const tools = element("div", { class: "table-tools" });
  if ("finds" in box.dataset) {
    const field = element("input", { type: "search", placeholder: "Find rows", "aria-label": "Find rows" });
    field.addEventListener("input", () => {
      const text = field.value.trim().toLowerCase();
      for (const row of [...table.tBodies].flatMap((body) => [...body.rows])) row.hidden = Boolean(text) && !row.textContent.toLowerCase().includes(text);
    });
    tools.append(field);
  }
  if ("picks" in box.dataset) {
    const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells].slice(1);
    const groups = [...(table.tHead.rows.length > 1 ? table.tHead.rows[0].cells : [])].flatMap((cell) => Array(cell.colSpan).fill(cell.textContent.trim())).slice(1);
    const names = heads.map((cell, at) => [groups[at], cell.querySelector("button")?.textContent ?? cell.textContent].filter(Boolean).join(": ").trim());
    const places = names.map((_, at) => String(at + 1));
    const picked = box.dataset.picks ? box.dataset.picks.split(",") : places;
    tools.append(picker("Columns", places, picked, (chosen) => showColumns(table, chosen.map(Number)), (place) => names[Number(place) - 1]));
    if (box.dataset.picks) showColumns(table, picked.map(Number));
  }
  box.before(tools);
}

function setUp(part) {
  for (const box of part.querySelectorAll(".scroll[data-finds], .scroll[data-picks]")) addTools(box);
  sortAsAsked();
}

// Opens what `packed` of pages/page.py made, when it is first seen.
export async function unpack(part, packed) {
  packed.remove();
  const bytes = Uint8Array.from(atob(packed.text), (letter) => letter.charCodeAt(0));
  part.innerHTML = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  setUp(part);
}

// Which methods are seen, in `methods=a,b` of the address: puts a list into `room`, and calls `show` with the names whenever they are
// others. Returns what reads them off the address.
export function pickMethods(room, names, show) {
  const pick = (wanted) => {
    set({ methods: wanted.length === names.length ? null : wanted.join(",") });
    show(wanted);
  };
  const made = picker("Methods", names, names, pick, methodName);
  if (names.length > 1) room.append(made);
  const take = () => {
    const asked = (get("methods") ?? "").split(",");
    const wanted = names.filter((name) => asked.includes(name));
    made.tick(wanted.length ? wanted : names);
    show(wanted.length ? wanted : names);
  };
  on("state", take);
  return take;
}

// Inputs whose states stand in the address under their names, but for those that the page opens with; `show` is called whenever they
// change, with the one that somebody changed.
export function keepInputs(inputs, show) {
  const take = () => {
    for (const one of inputs) {
      const asked = get(one.name);
      const known = one.type === "radio" ? inputs.some(({ name, value }) => name === one.name && value === asked) : [one.value, "no"].includes(asked);
      one.checked = known ? asked === one.value : one.defaultChecked;
    }
    show();
  };
  document.addEventListener("change", ({ target }) => {
    if (!inputs.includes(target)) return;
    set({ [target.name]: target.checked === target.defaultChecked ? null : target.checked ? target.value : "no" });
    show(target);
  });
  on("state", take);
  take();
}

// Where the links scroll sideways; browsers leave a focused one where it is as soon as some of it shows.
function bringIntoSight(link) {
  const row = link.parentElement;
  row.scrollTo({ left: link.offsetLeft - row.offsetLeft - (row.clientWidth - link.offsetWidth) / 2 });
}

function followSections() {
  const nav = document.querySelector(".bar nav");
  const links = new Map([...nav.querySelectorAll('a[href^="#"]')].map((link) => [link.hash.slice(1), link]));
  const watcher = new IntersectionObserver((entries) => {
    const seen = links.get(entries.findLast((entry) => entry.isIntersecting)?.target.id);
    if (!seen) return;
    for (const link of links.values()) link.ariaCurrent = link === seen ? "true" : null;
    bringIntoSight(seen);
  }, { rootMargin: "-30% 0px -65% 0px" });
  nav.addEventListener("focusin", (event) => bringIntoSight(event.target));
  for (const id of links.keys()) if (document.getElementById(id)) watcher.observe(document.getElementById(id));
}

// A link to a part of the page keeps what is chosen.
function followLink(event) {
  const link = event.target.closest?.('a[href^="#"]');
  const id = link?.getAttribute("href").slice(1);  // links in plots have no `hash`
  if (!id || event.defaultPrevented || !document.getElementById(id)) return;
  event.preventDefault();
  set({ at: id === "top" ? null : id });
  goTo(id);
  if (link.classList.contains("skip")) document.getElementById("top").focus();
}

function showTip(event) {
  const mark = event.target.closest?.(".plot svg [aria-label]");
  let tip = document.querySelector(".tip");
  if (!mark || !["graphics-symbol", "button"].includes(mark.getAttribute("role"))) {
    tip?.remove();
    return;
  }
  if (!tip) document.body.append(tip = element("div", { class: "tip", "aria-hidden": "true" }));
  tip.textContent = mark.getAttribute("aria-label");
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - width - 8)}px`;
  tip.style.top = `${event.clientY - height - 12 < 4 ? event.clientY + 18 : event.clientY - height - 12}px`;
}

// Visible columns of the last row of heads, but for the first.
const shownColumns = (table) => [...table.tHead.rows[table.tHead.rows.length - 1].cells].map((_, at) => at).filter((at) => at > 0 && !table.tHead.rows[table.tHead.rows.length - 1].cells[at].hidden);

// A table with more columns than paper is wide: as few parts as it takes below one another, each with the first column.
const MOST_COLUMNS = 12;
function cutIntoParts(table) {
  const shown = shownColumns(table);
  const size = Math.ceil(shown.length / Math.ceil(shown.length / MOST_COLUMNS));
  const parts = [];
  for (let from = size; from < shown.length; from += size) {
    const part = table.cloneNode(true);
    part.tHead.before(part.createCaption());
    part.caption.textContent = `${table.caption?.textContent ?? table.parentElement.getAttribute("aria-label") ?? ""}, continued`;
    showColumns(part, shown.slice(from, from + size));
    parts.push(part);
  }
  showColumns(table, shown.slice(0, size));
  table.after(...parts);
  return () => { for (const part of parts) part.remove(); showColumns(table, shown); };
}

// On paper what is folded is opened and wide tables are cut; afterwards all is as it was.
const undo = [];
window.addEventListener("beforeprint", () => {
  const folded = [...document.querySelectorAll("main details:not([open], .picker, .beside, .frame-values)")];
  for (const one of folded) one.open = true;
  undo.push(() => { for (const one of folded) one.open = false; });
  const tables = [...document.querySelectorAll("main .scroll > table")].filter((table) => table.tHead && table.checkVisibility());
  for (const table of tables) if (shownColumns(table).length > MOST_COLUMNS) undo.push(cutIntoParts(table));
});
window.addEventListener("afterprint", () => { for (const step of undo.splice(0)) step(); });

// One part of the page on a sheet of its own size, as browsers save it as PDF.
export function printAlone(part, after = () => {}) {
  const sheet = new CSSStyleSheet();
  part.classList.add("alone-here");
  document.documentElement.classList.add("prints-alone");
  const { scrollWidth, scrollHeight } = part;
  sheet.replaceSync(`@page { size: ${scrollWidth + 40}px ${scrollHeight + 60}px; margin: 20px; }`);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  window.addEventListener("afterprint", () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    document.documentElement.classList.remove("prints-alone");
    part.classList.remove("alone-here");
    after();
  }, { once: true });
  window.print();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("button");
  const table = button?.closest("table"); // none where a table that sorts by itself has drawn its head anew
  if (button?.classList.contains("sort")) { if (table && !("own" in table.dataset)) sort(button); }
  else if (button?.classList.contains("copy")) copyFact(button);
  else if (button?.classList.contains("alone")) printAlone(button.parentElement.previousElementSibling);
  else followLink(event);
});
document.addEventListener("pointermove", showTip);
setUp(document);
for (const room of document.querySelectorAll("[data-picks-methods]")) { // of those that rows and sections stand for
  const parts = [...document.querySelectorAll("main [data-method]")];
  const names = [...new Set(parts.map((part) => part.dataset.method))];
  pickMethods(room, names, (wanted) => { for (const part of parts) part.classList.toggle("unpicked", !wanted.includes(part.dataset.method)); })();
}
on("state", sortAsAsked);
followSections();
document.addEventListener("DOMContentLoaded", () => { tell("ready"); if (get("at")) goTo(get("at")); });
export const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;

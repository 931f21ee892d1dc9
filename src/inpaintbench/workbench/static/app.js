/* The page: what is chosen stands in the address, and everything is drawn from there. */

import { button, el, give } from "../player/dom.js";
import { listen } from "../player/keys.js";
import { repaint, Scatter, Strip, through } from "../items/charts.js";
import { HASH, Items, NO_WORD } from "../items/data.js";
import { number } from "../items/numbers.js";
import { library } from "./library.js";
import { Look } from "../items/look.js";
import { all, follow, get, joined, parted, set } from "../items/state.js";
import { Table } from "../items/table.js";

const at = (name) => document.querySelector(`[data-${name}]`);
const POST = { method: "POST", headers: { "X-Inpaintbench": "1", "Content-Type": "application/json" } };
const MOST_STRIPS = 12;
const LETTERS = { slice: "s", text: "t", failed: "e", flagged: "l" };
const form = at("bar");
let items = null;
let left = new Int32Array(0);
let order = left;
let [strips, asked] = [[], null];

const table = new Table(at("table"), { open, sort: sortBy, picture: (item, method) => `/api/thumb?${query({ item: items.ids[item], methods: method ?? [] })}` });
const scatter = new Scatter(at("scatter"), { choose: (x, y) => narrow([[get("x") || usualAxis(), x], [scatter.series.length > 1 ? "any" : scatter.series[0].y.key, y]]), open });
const look = new Look(document.querySelector(".comparison"), document.querySelector(".curves"), { told: (text, { logs = {}, verdicts = [], judged = [] } = {}) => {
  at("judged").replaceChildren(...judged.map((words) => el("li", {}, words)));
  at("verdicts").replaceChildren(...verdicts.flatMap(([rule, why]) => [el("dt", {}, rule), el("dd", {}, why)]));
  at("looknote").replaceChildren(text, ...Object.entries(logs).map(([name, key]) => el("a", { href: `/files/${key}`, target: "_blank", rel: "noopener" }, ` Log of ${name}.`)));
} });
const list = library(at("list"), at("find"), () => load(), () => load({ again: true }));

/** The address of what is looked at together, and more. */
function query(more = {}) {
  const made = new URLSearchParams();
  for (const [name, letter] of [["runs", "r"], ["dataset", "d"], ["workspace", "w"], ["study", "study"], ["board", "board"], ["protocol", "p"]]) for (const one of all(letter)) made.append(name, one);
  for (const [name, value] of Object.entries(more)) for (const one of Array.isArray(value) ? value : [value]) made.append(name, one);
  return made;
}

async function load({ again = false } = {}) {
  const wanted = String(query());
  list.mark();
  if (wanted === asked && !again) return draw();
  asked = wanted;
  if (![...query().keys()].some((name) => name !== "protocol")) return show(null, "");
  const answer = await fetch(`/api/set?${wanted}`);
  if (wanted !== asked) return undefined;
  if (!answer.ok) return show(null, (await answer.json()).sentence);
  const found = Object.assign(Items.unpacked(await answer.arrayBuffer()), { query: wanted });
  look.stale = again;
  return wanted === asked ? show(found, "") : undefined;
}

function show(found, refusal) {
  items = found;
  at("refusal").hidden = !refusal;
  at("refusal").textContent = refusal;
  document.body.classList.toggle("empty", !found);
  document.body.dataset.kind = found?.kind ?? "";
  at("title").textContent = at("heading").textContent = found?.title ?? (refusal ? "" : "Tick runs to see them side by side, or open a dataset");
  at("told").textContent = found?.sentences.join(" ") ?? "";
  strips = [];
  at("strips").replaceChildren();
  for (const [name, rows] of Object.entries(found?.choices ?? {})) {
    document.querySelector(`[data-choices=${name}]`).replaceChildren(...rows.map(([value, label]) => el("option", { value }, label)));
  }
  const named = (found?.facts ?? []).filter((one) => !one.numeric).map((one) => [`a|${one.key}`, one.label]);
  form.of.append(...[...named, ["source", "Source"]].map(([value, label]) => el("option", { value }, label)));
  at("columns").replaceChildren(...(found?.facts ?? []).map((one) => el("label", {}, el("input", { type: "checkbox", value: `a|${one.key}` }), one.label)));
  draw();
}

const usualAxis = () => {
  const fact = items.facts.find((one) => one.key === "hole.hole_fraction") ?? items.facts.find((one) => one.numeric) ?? items.facts[0];
  return fact ? `a|${fact.key}` : items.shown.filter((one) => !one.reference).length > 1 ? "spread" : "mean";
};
const filters = () => all("f").map((text) => { const [key, ...rest] = parted(text); const found = items?.column(key); return { key: found?.key, found, ...(found?.numeric ? { low: Number(rest[0]), high: Number(rest[1]) } : { words: rest }) }; })
  .filter(({ found, words, low, high }) => found && (words ? words.length : low <= high)); // an address may say anything
const told = ({ key, words, low, high }) => joined([key, ...(words ?? [low, high])]);

/** The words of what is filtered by, or the ends of its range. */
function drawFilter() {
  const { key, words, column } = items?.column(form.of.value) ?? {};
  const had = filters().find((one) => one.key === key)?.words ?? [];
  const option = (value) => el("option", { value, selected: had.includes(value) }, value || "without");
  form.words.replaceChildren(...[...(words ?? []), ...(words && column.includes(NO_WORD) ? [""] : [])].map(option));
  form.words.hidden = !words;
  for (const end of [form.low, form.high]) end.parentNode.hidden = Boolean(words);
}

/** Filters by these ranges or words; null takes one away. */
function narrow(changes) {
  let kept = filters();
  for (const [key, change] of changes) {
    if (!key || key === "|chosen") continue;
    kept = kept.filter((one) => one.key !== key);
    if (change) kept.push({ key, ...change });
  }
  set({ f: kept.map(told) });
  draw();
}

function draw() {
  if (!items) { close(); return; }
  const names = items.methods.map((one) => one.name);
  const picked = all("m").map((name) => items.named(name)?.name).filter(Boolean);
  const started = performance.now();
  items.choose(get("q"), picked.length ? picked : names, get("b"));
  if (items.query === asked) set({ b: items.base, f: filters().map(told), ...(items.column(sorting()[0]) || ["item", "random"].includes(sorting()[0]) ? {} : { o: "" }) }, { step: false }); // what is gone is not told
  const flagged = new Set(list.flags.map((one) => one.subject));
  const asking = { filters: filters(), text: get("t"), slice: get("s"), failed: get("e") === "1", flagged: get("l") === "1" ? flagged : null };
  left = items.passing(asking);
  const [by, falling] = sorting();
  order = items.sorted(left, by, falling);
  const item = items.placeOf.get(get("i")) ?? null;
  if (item === null && get("i") && items.query === asked) { say(`There is no item ${get("i")} here`); set({ i: "" }, { step: false }); }
  drawBar();
  const columns = [...all("c"), ...items.shown.map((one) => `v|${one.name}`), ...items.shown.filter((one) => items.baseOf(one.name)).map((one) => `d|${one.name}`), ...(items.shown.length > 1 ? ["spread"] : [])];
  if (items.shown.length > 1 && items.column(by)?.numeric && !columns.includes(by)) columns.unshift(by); // seen where it sorts
  const facts = items.shown.length ? columns : all("c").length ? columns : items.facts.slice(...(items.kind === "board" ? [1, 14] : [0, 6])).map((one) => `a|${one.key}`);
  for (const box of at("columns").querySelectorAll("input")) box.checked = facts.includes(box.value);
  table.show({ items, order, columns: facts, by, falling, item, looks: items.styles, grid: get("v") === "grid", flagged });
  at("count").textContent = `${left.length === items.n ? "" : `${left.length.toLocaleString("en")} of `}${items.n.toLocaleString("en")} ${{ workspace: "clips", board: "rows" }[items.kind] ?? "items"}`;
  drawStrips(asking);
  drawScatter(item);
  drawLeads();
  drawEffects(asking);
  drawItem(item);
  document.body.dataset.drawn = String(Math.round(performance.now() - started));
}

function sorting() {
  const [key, how] = parted(get("o", items.quantity ? "worst" : "item"));
  const by = items.column(key)?.key ?? key;
  return by === "worst" ? ["mean", items.quantity ? !items.quantity.higher : false] : [by, how ? how === "down" : by === "spread" || by === "odd"];
}

function sortBy(key) {
  const [by, falling] = sorting();
  const higher = key === "item" ? true : items.column(key)?.higher; // the worst first, else the largest
  set({ o: joined([key, (key === by ? falling : higher) ? "up" : "down"]) });
  draw();
}

function drawBar() {
  const { quantity } = items;
  for (const name of ["metric", "region", "protocol"]) form[name].closest("label").hidden = !quantity || (name === "protocol" && items.protocols.length < 2);
  Object.assign(form.metric, { value: quantity?.metric ?? "" });
  Object.assign(form.region, { value: quantity?.region ?? "" });
  for (const option of form.region.options) option.disabled = !items.quantities.some((one) => one.metric === quantity?.metric && one.region === option.value);
  for (const option of form.of.options) option.disabled = !items.column(option.value); // such as differences before there is a base
  form.protocol.value = items.protocol;
  form.slice.value = get("s");
  if (form.text !== document.activeElement) form.text.value = get("t");
  form.failed.checked = get("e") === "1";
  form.failed.closest("label").hidden = !items.failed.size;
  form.flagged.checked = get("l") === "1";
  form.flagged.closest("label").hidden = !form.flagged.checked && !list.flags.some((one) => items.placeOf.has(one.subject));
  at("order").value = get("o", quantity ? "worst" : "item").split("~")[0];
  const [byColumn, sorted] = [at("order").lastElementChild, at("order").value ? null : items.column(sorting()[0])];
  Object.assign(byColumn, { hidden: !sorted, textContent: `by ${sorted?.label ?? "column"}` }); // as it is said of one that is sorted by
  if (sorted) byColumn.selected = true;
  document.querySelector("[data-action=grid]").setAttribute("aria-pressed", String(get("v") === "grid"));
  const chip = (text, gone) => button({ class: "chip", title: "Take this filter away" }, gone, text, el("b", { "aria-hidden": "true" }, " ×"));
  const made = filters().map((one) => {
    const { found } = one;
    return chip(`${found?.full ?? found?.label ?? one.key}: ${through(one, found?.decimals ?? null)}`, () => narrow([[one.key, null]]));
  });
  if (get("s")) made.push(chip(`Slice: ${get("s")}`, () => { set({ s: "" }); draw(); }));
  if (get("t")) made.push(chip(`“${get("t")}”`, () => { set({ t: "" }); form.text.value = ""; draw(); }));
  for (const [letter, name] of [["e", "Failures"], ["l", "Flagged"]]) if (get(letter)) made.push(chip(name, () => { set({ [letter]: "" }); draw(); }));
  if (made.length > 1) made.push(button({ class: "chip" }, () => { set({ f: [], s: "", t: "", e: "", l: "" }); form.text.value = ""; draw(); }, "Clear all"));
  at("chips").replaceChildren(...made);
}

function drawStrips(asking) {
  const scores = items.shown.slice(0, 4).flatMap((one) => [`v|${one.name}`, ...(items.baseOf(one.name) ? [`d|${one.name}`] : [])]);
  const numbers = items.facts.filter((one) => one.numeric).map((one) => `a|${one.key}`);
  const named = items.facts.filter((one) => !one.numeric && one.words.length < 9).map((one) => `a|${one.key}`);
  const asked_for = asking.filters.map((one) => one.key).filter((key) => key !== "any");
  const keys = [...new Set([...asked_for, ...scores, ...numbers.slice(0, 5), ...named.slice(0, 4), ...numbers.slice(5)])].slice(0, Math.max(MOST_STRIPS, asked_for.length));
  const stamp = `${keys.sort().join()} ${items.quantity?.key} ${items.base}`;
  if (strips.stamp !== stamp) {
    const place = (key) => scores.indexOf(key) + 1 || (key[0] === "a" ? 10 + items.facts.findIndex((one) => `a|${one.key}` === key) : 5);
    strips = keys.sort((one, other) => place(one) - place(other)).map((key) => [key, items.column(key)]).filter(([, found]) => found)
      .map(([key, found]) => new Strip(items, found, (change) => narrow([[key, change]])));
    strips.stamp = stamp;
    at("strips").replaceChildren(...strips.map((strip) => strip.node));
  }
  for (const strip of strips) {
    strip.colour = items.styles[strip.found.method]?.colour;
    strip.draw(left, asking.filters.find((one) => one.key === strip.found.key));
  }
}

function drawScatter(item) {
  const x = items.column(get("x")) ?? items.column(usualAxis());
  const chosen = !get("y") || get("y") === "|chosen" ? null : items.column(get("y"));
  document.querySelector("[data-axis=x]").value = x?.key ?? "";
  const second = items.facts.filter((one) => one.numeric).map((one) => items.column(`a|${one.key}`)).find((one) => one.key !== x?.key) ?? x;
  document.querySelector("[data-axis=y]").value = chosen?.key ?? (items.quantity ? "|chosen" : second?.key ?? "");
  const series = chosen || !items.quantity ? [chosen ?? second] : items.shown.map((one) => items.column(`v|${one.name}`));
  const drawn = x ? series.filter(Boolean).map((one) => ({ x, y: one, name: one.method ?? one.label, look: items.styles[one.method] ?? { colour: "--fill" } })) : [];
  document.querySelector(".plot").hidden = !drawn.length;
  scatter.show(items, drawn, left, item, { x: x?.label, y: chosen?.label ?? items.quantity?.label ?? second?.label });
}

const inquiries = {};
/** Show in `place` what the server tells of the items that were `found`, a moment later, and `mark` it; what was asked before is not asked again. */
function inquire(path, found, place, mark) {
  const asking = { stamp: items.stamp, key: items.quantity.key, base: items.base, methods: items.shown.map((one) => one.name), items: [...found], filters: filters().map((one) => one.key) };
  const [mine, text, last] = [items, JSON.stringify(asking), inquiries[path]];
  if (last?.mine === mine && last.text === text) { if (last.told) mark(); return; }
  clearTimeout(last?.waiting);
  const now = { mine, text, told: false };
  inquiries[path] = now;
  now.waiting = setTimeout(async () => {
    const answer = await fetch(`${path}?${mine.query}`, { ...POST, body: text });
    const found = answer.ok ? await answer.text() : (await answer.json()).sentence;
    if (inquiries[path] !== now || items !== mine) return;
    now.told = true;
    place[answer.ok ? "innerHTML" : "textContent"] = found;
    mark();
  }, 120);
}

/** Means and differences, of what is left, over sources. */
function drawLeads() {
  at("leads").closest("section").hidden = !items.quantity;
  at("against").replaceChildren(...(items.against.length ? ["Run against run: "] : []), ...items.against.map((one) => button({ class: "chip", "aria-pressed": String(one === items.pair), title: "Each method less that of the same name in the other run" }, () => { set({ b: one === items.pair ? "" : `|${one.base}` }); draw(); }, one.title)), el("span", {}, items.pair?.sentence));
  if (items.quantity) inquire("/api/leads", left, at("leads"), markLeads);
}

function markLeads() {
  for (const box of at("leads").querySelectorAll("input")) {
    box.checked = items.shown.some((one) => one.name === box.value);
    box.closest("tr").classList.toggle("off", !box.checked);
  }
}

/** Two levels of an axis are what a click on an effect filters to: what is said of it stays that of all levels. */
function drawEffects(asking) {
  const place = at("effects");
  place.hidden = !items.quantity || items.kind !== "run";
  place.open = get("u") === "1";
  if (place.hidden || !place.open) return;
  inquire("/api/diagnosis", items.passing({ ...asking, filters: asking.filters.filter(({ key, words }) => !(words?.length > 1 && items.pairs?.[key.slice(2)])) }), at("effectrows"), markEffects);
}

const isShown = ({ kind, fact, levels }) => (kind === "labelled" ? get("s") === `${fact}-${levels[1]}` : kind === "measured" ? get("x") === `a|${fact}` : filters().some((one) => one.key === `a|${fact}` && levels.every((level) => one.words.includes(level))));
function markEffects() {
  for (const one of at("effectrows").querySelectorAll("[data-effect]")) one.setAttribute("aria-pressed", String(isShown(JSON.parse(one.dataset.effect))));
}

/** Filter to an axis and its levels, the pair that shows it beside each other; to a slice; or put an attribute across the plot. */
function showEffect({ kind, fact, levels, pair = [] }, on) {
  if (kind === "labelled") set({ s: on ? `${fact}-${levels[1]}` : "" });
  else set({ x: on ? `a|${fact}` : "", ...(kind === "paired" ? { i: on ? pair[0] : "", j: on && pair.length ? fact : "", n: "" } : {}) }, { step: true });
  if (kind === "paired") narrow([[`a|${fact}`, on ? { words: levels } : null]]);
  else draw();
  if (on && kind === "measured") document.querySelector(".plot").scrollIntoView({ block: "nearest" });
}

function open(item) {
  set({ i: items.ids[item], n: "", z: "", j: items.pairs?.[get("j")] ? get("j") : "" }, { step: true });
  draw();
  table.reveal(item);
  document.querySelector(".look").scrollIntoView(); // narrow windows have it below
}

function close() {
  document.querySelector(".look").hidden = true;
  look.clear();
}

const differenceBase = () => (items.shown.find((one) => one.name === get("g")) ?? items.shown.find((one) => one.name === items.base) ?? items.shown[0])?.name;
function drawItem(item) {
  if (item === null) return close();
  document.querySelector(".look").hidden = false;
  at("opened").textContent = items.names[item];
  at("from").textContent = items.ids[item];
  const manner = get("k");
  for (const one of document.querySelectorAll("[data-manner]")) { one.setAttribute("aria-pressed", String(one.dataset.manner === manner)); one.hidden = items.shown.length < (one.dataset.manner === "difference" ? 2 : 1) || (one.dataset.manner !== "" && !items.root); }
  at("basis").replaceChildren(...items.shown.map(({ name }) => el("option", { value: name, selected: name === differenceBase() ? "" : null }, name))); at("basis").parentNode.hidden = manner !== "difference";
  const level = (fact, other) => items.word(items.column(`a|${fact}`), other);
  const mates = items.mates(item);
  const shown = mates.filter(([fact]) => fact === get("j")).map(([, other]) => other);
  const beside = shown.find((other) => left.includes(other)) ?? shown[0] ?? items.placeOf.get(get("j"));
  const pairs = mates.map(([fact, other]) => button({ class: "chip", "aria-pressed": String(other === beside), title: "Show both beside each other, of every item that has such a pair" }, () => { set({ j: other === beside ? "" : mates.filter(([one]) => one === fact).length > 1 ? items.ids[other] : fact }); draw(); }, `${items.facts.find((one) => one.key === fact)?.label ?? fact}: ${level(fact, item)} compared with ${level(fact, other)}`));
  const [copied, first] = [items.column("a|duplicate_of"), (at) => items.word(copied, at) ?? items.ids[at]];
  if (copied) pairs.push(...[...items.ids.keys()].filter((other) => other !== item && first(other) === first(item)).map((other) => button({ class: "chip" }, () => open(other), `Near-duplicate: ${items.names[other]} (${items.ids[other].slice(0, 6)})`)));
  at("pairs").replaceChildren(...pairs.slice(0, 8));
  const known = items.facts.map((one) => [one.label, items.word(one, item)]).filter(([, value]) => value !== null && !Number.isNaN(value));
  const rows = (found) => found.flatMap(([label, value]) => [el("dt", {}, label), el("dd", {}, typeof value === "number" ? number(value) : value)]);
  at("identifiers").replaceChildren(...rows([["Item", items.ids[item]], ["Source", items.sources[item]], ...known.filter(([, value]) => HASH.test(value))]));
  at("facts").replaceChildren(...rows(known.filter(([, value]) => !HASH.test(value))), ...items.slices.filter(([, , places]) => places.includes(item)).flatMap(([name, rule]) => [el("dt", {}, `Slice ${name}`), el("dd", {}, rule || "")]), ...(items.failed.get(item) ?? []).flatMap(([name, why]) => [el("dt", {}, `${name} failed`), el("dd", {}, why)]));
  at("flags").textContent = list.flags.filter((one) => one.subject === items.ids[item]).map((one) => `${one.name} = ${one.value}`).join(", ");
  at("flag").querySelector("button").textContent = standing() ? "Take back" : "Flag";
  if (items.kind === "board") { at("facts").closest("details").open = true; return look.clear(); }
  return look.show(query({ item: items.ids[item], methods: items.shown.map((one) => one.name), ...(manner ? { manner, base: manner === "difference" ? differenceBase() : "" } : {}), ...(beside === undefined ? {} : { beside: items.ids[beside] }) }), items.styles);
}

/** Whether the open item has the flag that the form names. */
const standing = () => list.flags.some((one) => one.subject === get("i") && one.name === at("flag").elements.name.value && one.value === at("flag").elements.value.value);

function step(by) {
  const next = order[Math.min(Math.max(order.indexOf(items?.placeOf.get(get("i")) ?? -1) + by, 0), order.length - 1)];
  if (next !== undefined) open(next);
}

/** Show a short message: the stylesheet takes it away. */
const say = (text) => at("live").replaceChildren(el("span", {}, text));

/** Draw in the colours of now: other ones were chosen, or it is printed. */
function recolour() {
  repaint();
  look.curves.at(look.curves.frame);
  draw();
}

async function made(name, address, body) {
  const answer = await fetch(address, body && { ...POST, body }).catch(({ message }) => ({ json: () => ({ sentence: `Nothing came back: ${message}` }) }));
  if (answer.ok) return give(name, await answer.blob());
  return at("told").replaceChildren(el("b", { role: "alert" }, (await answer.json()).sentence));
}

const plain = (column, places) => [...places].map((item) => items.word(column, item)).map((value) => (Number.isFinite(value) || typeof value === "string" ? value : null)); // as JSON holds values
const plotted = () => { const of = (axis) => ({ title: scatter.titles[axis], values: Object.fromEntries(scatter.series.map((one) => [one.name, plain(one[axis], left)])) }); return { x: of("x"), y: of("y") }; };

/** The films that are seen, or a frame of them, as a file that is called by item and methods. */
function filmed(path, kind, more = {}) {
  const item = items.placeOf.get(get("i"));
  if (!look.address) return say(item === undefined ? "Open an item first" : "Here are no films");
  const called = [items.names[item].replace(/\.\w+$/, ""), items.ids[item].slice(0, 8), ...items.shown.map(({ name }) => name)].join("-").replace(/[^\w.]+/g, "-").slice(0, 120);
  return made(`${called}${kind}`, `${look.address.replace("sheet", path)}&${new URLSearchParams(more)}`);
}

const actions = {
  async copy() { say(await navigator.clipboard?.writeText(location.href).then(() => `The link is copied${["localhost", "127.0.0.1"].includes(location.hostname) ? "; it opens on this machine alone" : "; others need the token that view printed"}`, () => "") || "The browser allows no copying here: the link is the page's address"); },
  csv: () => made("items.csv", `/api/items.csv?${query()}`, JSON.stringify({ stamp: items.stamp, items: [...order], methods: items.shown.map((one) => one.name), key: items.quantity?.key, base: items.base })),
  figure: () => made("plot.svg", `/api/figure?${query()}`, JSON.stringify(plotted())),
  page() {
    const columns = table.columns.map((one) => ({ label: one.full ?? one.label, decimals: one.decimals, signed: one.key.startsWith("d|"), values: plain(one, order.subarray(0, 500)) }));
    return made("what-i-see.html", `/api/page?${query()}`, JSON.stringify({ stamp: items.stamp, items: [...order], methods: items.shown.map((one) => one.name), base: items.base, key: items.quantity?.key, label: items.quantity?.label, filters: filters().map((one) => one.key), words: [...document.querySelectorAll("[data-chips] .chip[title]")].map((one) => one.textContent.replace(" ×", "")).join("; "), columns, plot: plotted(), strips: strips.map(({ found, all, own, value }) => ({ label: found.label, full: found.full, told: value.textContent, method: found.method, all: [...all], left: [...own] })), effects: at("effects").matches("[open]:not([hidden]):has(.effect-rows)") ? JSON.parse(inquiries["/api/diagnosis"].text) : null, film: look.address.split("?")[1], state: Object.fromEntries([..."nazh", "tab"].map((letter) => [letter, get(letter)])) }));
  },
  film: () => filmed("film", ".mp4"),
  frame: () => filmed("frame", `-frame-${look.player.clock.frame + 1}.png`, [...Object.entries({ frame: look.player.clock.frame, ...look.player.view.window, wipe: look.player.view.wipeAt }), ...look.player.view.wiped]),
  flags: () => made("labels.csv", `/api/flags.csv?${query()}`),
  scheme() { const root = document.documentElement; root.style.colorScheme = (root.style.colorScheme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark" ? "light" : "dark"; recolour(); },
  grid() { set({ v: get("v") === "grid" ? "" : "grid" }); draw(); },
  skip: () => at("table").querySelector(".rows:not([hidden]) td button, .pictures:not([hidden]) > button")?.focus(),
  ask({ value }) { form.of.closest("details").open = true; Object.assign(form.of, { value }).focus(); }, // the menu draws itself when it opens
  range() {
    const words = [...form.words.selectedOptions].map(({ value }) => value);
    if (!form.words.hidden) narrow([[form.of.value, words.length ? { words } : null]]);
    else if (form.low.reportValidity() && form.high.reportValidity()) narrow([[form.of.value, { low: form.low.value === "" ? -Infinity : form.low.valueAsNumber, high: form.high.value === "" ? Infinity : form.high.valueAsNumber }]]);
  },
  previous: () => step(-1),
  next: () => step(1),
  close() { set({ i: "", n: "", k: "", a: "", z: "", j: "", tab: "" }); draw(); },
};
const back = () => { const menu = document.querySelector("details.menu[open]"); if (menu) menu.open = false; else if (at("help").matches(":popover-open")) at("help").hidePopover(); else if (items) actions.close(); };
const manner = (name) => { set({ k: get("k") === name ? "" : name }); draw(); };

document.addEventListener("click", (event) => {
  const pressed = event.target.closest("[data-action], [data-manner]");
  const [base, effect] = [event.target.closest(".base"), event.target.closest("[data-effect]")];
  if (base) { set({ b: base.ariaPressed === "true" ? "" : base.value }); draw(); }
  if (effect) showEffect(JSON.parse(effect.dataset.effect), effect.ariaPressed !== "true");
  if (event.detail) event.target.closest("main button, [type=checkbox]")?.blur(); // so that keys go on working
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target) || pressed) menu.open = false;
  if (pressed && (items || ["scheme", "flags"].includes(pressed.dataset.action))) pressed.dataset.action ? actions[pressed.dataset.action](pressed) : manner(pressed.dataset.manner);
});
form.addEventListener("toggle", drawFilter, true);
form.addEventListener("keydown", ({ key, target }) => { if (key === "Escape") target.blur(); });
form.addEventListener("input", ({ target }) => {
  const { name } = target;
  if (name === "of") return drawFilter();
  if (["metric", "region"].includes(name)) {
    const fit = items.quantities.find((one) => one.metric === form.metric.value && one.region === form.region.value) ?? items.quantities.find((one) => one.metric === form.metric.value);
    set({ q: fit.key });
  } else if (name === "protocol") { set({ p: target.value, q: "" }); return load(); } else if (LETTERS[name]) set({ [LETTERS[name]]: target.type === "checkbox" ? (target.checked ? "1" : "") : target.value });
  else if (target.type === "checkbox") set({ c: [...at("columns").querySelectorAll("input:checked")].map((box) => box.value) });
  else return undefined;
  return draw();
});
at("leads").addEventListener("change", ({ target }) => {
  const names = items.methods.map((one) => one.name);
  const wanted = names.filter((one) => (one === target.value ? target.checked : items.shown.some((other) => other.name === one)));
  set({ m: wanted.length === names.length || !wanted.length ? [] : wanted });
  draw();
});
at("effects").addEventListener("toggle", () => { if (at("effects").open !== (get("u") === "1")) { set({ u: at("effects").open ? "1" : "" }); if (items) draw(); } });
for (const [place, letter, usual] of [["order", "o", ""], ["basis", "g", ""], ["axis=x", "x", ""], ["axis=y", "y", "|chosen"]]) at(place).addEventListener("change", ({ target }) => { set({ [letter]: target.value === usual ? "" : target.value }); draw(); });
at("flag").addEventListener("submit", async (event) => {
  const { name, value } = event.target.elements;
  const told_now = await (await fetch("/api/flag", { ...POST, body: JSON.stringify({ subject: get("i"), name: name.value, value: standing() ? "" : value.value }) })).json();
  list.flags = told_now.flags ?? list.flags;
  if (told_now.sentence) at("looknote").textContent = told_now.sentence;
  draw();
});
at("flag").addEventListener("input", () => drawItem(items.placeOf.get(get("i"))));
const ofItem = (act) => () => (get("i") ? act() : say("Open an item first"));
const KEYS = { j: actions.next, k: actions.previous, e: ofItem(() => manner("error")), d: ofItem(() => manner("difference")), g: actions.grid, c: actions.copy, Escape: back, "/": () => form.text.focus(), x: ofItem(() => at("flag").requestSubmit()), "?": () => at("help").togglePopover() };
listen((key) => { if (KEYS[key] && (items || ["?", "Escape"].includes(key))) KEYS[key](); else return Boolean(get("i")) && look.player.press(key); return true; }, (key) => look.player.release(key));
for (const media of ["print", "(prefers-color-scheme: dark)"]) matchMedia(media).addEventListener("change", recolour);
follow(() => load());
Promise.all([list.start(), load()]).then(() => { if (get("i")) document.querySelector(".look").scrollIntoView(); }); // narrow windows have it below

/* The page: what is chosen stands in the address, and everything is drawn from there. */

import { button, el } from "../player/dom.js";
import { listen } from "../player/keys.js";
import { HELP } from "../player/controls.js";
import { repaint, Response, Scatter, Strip } from "../items/charts.js";
import { csv, Items, number } from "../items/data.js";
import { filed, library } from "./library.js";
import { Look } from "./look.js";
import { all, follow, get, set } from "./state.js";
import { Table } from "../items/table.js";

const at = (name) => document.querySelector(`[data-${name}]`);
const POST = { method: "POST", headers: { "X-Inpaintbench": "1", "Content-Type": "application/json" } };
const MOST_STRIPS = 12;
const HASH = /^[0-9a-f]{12,}$/;
const ORDERS = [["worst", "worst first"], ["spread", "most disagreed"], ["odd", "largest residual"], ["random", "by chance"], ["item", "by name"], ["column", "by column"]];
const MORE_KEYS = [["J / K", "next, previous item"], ["E", "error ×4 from the truth, and films"], ["D", "difference ×4 from the base, and films"], ["G", "pictures and table"], ["/", "find items"], ["X", "flag the item, or take the flag back"], ["[ / ]", "the wipe's line to the left, right"], ["C", "copy the link"], ["Esc", "close what was opened last"]];
const LETTERS = { slice: "s", text: "t", failed: "e", flagged: "l" };
const form = at("bar");
const opened = new Set(); // `help` and `close`, the actions that close what is open, the last at the end
let items = null;
let left = new Int32Array(0);
let order = left;
let strips = [];
let asked = null;

const table = new Table(at("table"), { open, sort: sortBy, picture: (item) => `/api/thumb?${query({ item: items.ids[item], methods: items.shown.slice(0, 1).map((one) => one.name) })}` });
const scatter = new Scatter(at("scatter"), { choose: (x, y) => narrow([[get("x") || usualAxis(), x], [scatter.series.length > 1 ? "" : scatter.series[0].y.key, y]]), open });
const look = new Look(document.querySelector(".comparison"), document.querySelector(".curves"), { told: (text, { logs = {}, verdicts = [], judged = [] } = {}) => {
  at("judged").replaceChildren(...judged.map((words) => el("li", {}, words)));
  at("verdicts").replaceChildren(...verdicts.flatMap(([rule, why]) => [el("dt", {}, rule), el("dd", {}, why)]));
  at("looknote").replaceChildren(text, ...Object.entries(logs).map(([name, key]) => el("a", { href: filed(key), target: "_blank", rel: "noopener" }, ` Log of ${name}.`)));
} });
const list = library(at("list"), at("find"), () => load());

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
  const found = new Items(await answer.arrayBuffer());
  found.query = wanted;
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
  if (found) fill();
  draw();
}

/** Choices of the bar, from what was loaded. */
function fill() {
  const options = (select, rows, usual) => select.replaceChildren(...(usual === undefined ? [] : [el("option", { value: "" }, usual)]), ...rows.map(([value, label]) => el("option", { value }, label)));
  const metrics = new Map(items.quantities.map((one) => [one.metric, one.label.replace(one.where, "").trim() + (one.ranked ? (one.higher ? " ↑" : " ↓") : "")]));
  options(form.metric, [...metrics]);
  options(form.region, [...new Map(items.quantities.map((one) => [one.region, one.where]))]);
  options(form.protocol, items.protocols.map((name) => [name, name]));
  options(form.slice, items.slices.map(([name, , places]) => [name, `${name} (${places.length})`]), "all items");
  const names = items.methods.map((one) => one.name);
  const facts = items.facts.map((one) => [`a|${one.key}`, one.label]);
  const derived = [["mean", "mean of methods"], ["spread", "spread of methods"]].slice(0, items.quantities.length ? names.length : 0);
  const axes = [["|chosen", "the metric"], ...facts, ...derived, ...names.map((name) => [`d|${name}`, `${name} less the base`]), ...items.quantities.flatMap((one) => names.map((name) => [`s|${one.key}|${name}`, `${one.label}, ${name}`]))];
  options(form.of, [...facts.filter(([key]) => items.column(key).numeric), ...names.map((name) => [`v|${name}`, name]), ...names.map((name) => [`d|${name}`, `${name} less the base`]), ...derived.slice(1)]);
  for (const axis of ["x", "y"]) options(document.querySelector(`[data-axis=${axis}]`), axis === "x" ? axes.slice(1) : axes.slice(items.quantities.length ? 0 : 1));
  options(at("order"), ORDERS.filter(([key]) => derived.length > 1 || !["spread", "odd"].includes(key)).filter(([key]) => derived.length || key !== "worst"));
  const boxes = items.facts.map((one) => el("label", {}, el("input", { type: "checkbox", value: `a|${one.key}` }), one.label));
  at("columns").replaceChildren(...boxes);
}

const usualAxis = () => {
  const fact = items.facts.find((one) => one.key === "hole.hole_fraction") ?? items.facts.find((one) => one.numeric) ?? items.facts[0];
  return fact ? `a|${fact.key}` : items.shown.filter((one) => !one.reference).length > 1 ? "spread" : "mean";
};
const filters = () => all("f").map((text) => { const [key, ...rest] = text.split("~"); const found = items?.column(key); return { key, found, ...(found?.numeric ? { low: Number(rest[0]), high: Number(rest[1]) } : { words: rest }) }; })
  .filter(({ found, words, low, high }) => found && (words ? words.length : low <= high)); // an address may say anything
const told = ({ key, words, low, high }) => [key, ...(words ?? [low, high])].join("~");

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
  if (!items) return close();
  const names = items.methods.map((one) => one.name);
  const picked = all("m").filter((name) => names.includes(name));
  const started = performance.now();
  items.choose(get("q"), picked.length ? picked : names, get("b"));
  const flagged = new Set(list.flags.map((one) => one.subject));
  const asking = { filters: filters(), text: get("t"), slice: get("s"), failed: get("e") === "1", flagged: get("l") === "1" ? flagged : null };
  left = items.passing(asking);
  const [by, falling] = sorting();
  order = items.sorted(left, by, falling);
  const item = items.placeOf.get(get("i")) ?? null;
  drawBar();
  const columns = [...all("c"), ...items.shown.map((one) => `v|${one.name}`), ...items.shown.filter((one) => items.baseOf(one.name)).map((one) => `d|${one.name}`), ...(items.shown.length > 1 ? ["spread"] : [])];
  const facts = items.shown.length ? columns : all("c").length ? columns : items.facts.slice(...(items.kind === "board" ? [1, 14] : [0, 6])).map((one) => `a|${one.key}`);
  for (const box of at("columns").querySelectorAll("input")) box.checked = facts.includes(box.value);
  table.show({ items, order, columns: facts, by, falling, item, looks: items.styles, grid: get("v") === "grid", flagged });
  at("count").textContent = left.length === items.n ? `${items.n.toLocaleString("en")} items` : `${left.length.toLocaleString("en")} of ${items.n.toLocaleString("en")} items`;
  drawStrips(asking);
  drawScatter(item);
  drawLeads();
  drawEffects();
  drawItem(item);
  document.body.dataset.drawn = String(Math.round(performance.now() - started));
  return undefined;
}

function sorting() {
  const [by, how] = get("o", items.quantity ? "worst" : "item").split("~");
  return by === "worst" ? ["mean", items.quantity ? !items.quantity.higher : false] : [by, how ? how === "down" : by === "spread" || by === "odd"];
}

function sortBy(key) {
  const [by, falling] = sorting();
  const higher = key === "item" ? true : items.column(key)?.higher; // the worst first, else the largest
  set({ o: `${key}~${(key === by ? falling : higher) ? "up" : "down"}` });
  draw();
}

function drawBar() {
  const { quantity } = items;
  for (const name of ["metric", "region", "protocol"]) form[name].closest("label").hidden = !quantity || (name === "protocol" && items.protocols.length < 2);
  Object.assign(form.metric, { value: quantity?.metric ?? "" });
  Object.assign(form.region, { value: quantity?.region ?? "" });
  for (const option of form.region.options) option.disabled = !items.quantities.some((one) => one.metric === quantity?.metric && one.region === option.value);
  form.protocol.value = items.protocol;
  form.slice.value = get("s");
  if (form.text !== document.activeElement) form.text.value = get("t");
  form.failed.checked = get("e") === "1";
  form.failed.closest("label").hidden = !items.failed.size;
  form.flagged.checked = get("l") === "1";
  form.flagged.closest("label").hidden = !form.flagged.checked && !list.flags.some((one) => items.placeOf.has(one.subject));
  const [by] = get("o", quantity ? "worst" : "item").split("~");
  at("order").value = ORDERS.some(([key]) => key === by) ? by : "column";
  document.querySelector("[data-action=grid]").setAttribute("aria-pressed", String(get("v") === "grid"));
  const chip = (text, gone) => button({ class: "chip", title: "Take this filter away" }, gone, text, el("b", { "aria-hidden": "true" }, " ×"));
  const made = filters().map((one) => {
    const { found } = one;
    const text = one.words?.join(", ") ?? `${number(one.low, found?.decimals ?? null)} to ${number(one.high, found?.decimals ?? null)}`;
    return chip(`${found?.full ?? found?.label ?? one.key}: ${text}`, () => narrow([[one.key, null]]));
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
  const asked_for = asking.filters.map((one) => one.key);
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
/** What the server tells of what is left, a moment later; what was asked before is not asked again. */
function inquire(path, body, then) {
  const [mine, text, last] = [items, JSON.stringify(body), inquiries[path]];
  if (last?.mine === mine && last.text === text) { if (last.told) then(last.told); return; }
  clearTimeout(last?.waiting);
  const now = { mine, text };
  inquiries[path] = now;
  now.waiting = setTimeout(async () => {
    now.told = await (await fetch(`${path}?${mine.query}`, { ...POST, body: text })).json();
    if (inquiries[path] === now && items === mine) then(now.told);
  }, 120);
}

/** Means and differences, of what is left, over sources. */
function drawLeads() {
  at("leads").closest("section").hidden = !items.quantity;
  at("against").replaceChildren(...(items.against.length ? ["Run against run: "] : []), ...items.against.map((one) => button({ class: "chip", "aria-pressed": String(one === items.pair), title: "Each method less that of the same name in the other run" }, () => { set({ b: one === items.pair ? "" : `|${one.base}` }); draw(); }, one.title)), el("span", {}, items.pair?.sentence));
  if (items.quantity) inquire("/api/leads", { key: items.quantity.key, base: items.base, items: [...left] }, leadRows);
}

/** A point with its interval on a scale of `most` to either side; what is longer ends at its end. */
function forest(most, value, low, high, colour = "var(--fill)") {
  const share = (one) => `${50 + Math.min(Math.max(one / most, -1), 1) * 48}%`;
  return el("span", { class: "forest", style: `--method: ${colour}` }, el("i", { class: "reach", style: `left: ${share(low)}; right: calc(100% - ${share(high)})` }), el("i", { class: "middle", style: `left: ${share(value)}` }));
}

const signed = (value, decimals) => `${value > 0 ? "+" : ""}${number(value, decimals)}`;

function drawEffects() {
  const place = at("effects");
  place.hidden = !items.quantity || items.kind !== "run";
  place.open = get("u") === "1";
  if (place.hidden || !place.open) return;
  at("effectnote").textContent ||= "Working it out …";
  inquire("/api/diagnosis", { key: items.quantity.key, base: items.pair ? "" : items.base, methods: items.shown.map((one) => one.name), items: [...left] }, effectRows);
}

function effectRows({ title = "", rows = [], curves = [], sentences = [], without = [], sentence }) {
  const { decimals, higher } = items.quantity;
  const most = 1.6 * Math.max(...rows.flatMap((row) => Object.values(row.effects).map((one) => Math.abs(one.value))), 1e-9);
  const mark = (name, { value, low, high, told, p, n }) => el("div", { class: told ? ((value > 0) === higher ? "better" : "worse") : "note", title: `p ${p}, n ${n}` },
    el("span", { class: "name" }, table.dot(name), name), forest(most, value, low, high, items.styles[name]?.colour), `${signed(value, decimals)} (${number(low, decimals)} to ${number(high, decimals)})`);
  const pressed = (row) => (row.kind === "labelled" ? get("s") === `${row.fact}-${row.levels[1]}` : row.kind === "measured" ? get("x") === `a|${row.fact}` : filters().some((one) => one.key === `a|${row.fact}` && row.levels.every((level) => one.words.includes(level))));
  at("effectrows").replaceChildren(...rows.map((row) => el("div", { class: "effect" }, button({ class: "chip", "aria-pressed": String(pressed(row)), title: "Filter to it" }, () => showEffect(row, !pressed(row)), row.label, el("span", { class: "from" }, ` ${row.step}`)), el("div", {}, ...Object.entries(row.effects).map(([name, one]) => mark(name, one))))));
  const range = curves.flatMap((one) => one.mean).reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
  const room = (range[1] - range[0]) * 0.3 || 1;
  const drawn = [...new Set(curves.map((one) => one.fact))].map((fact) => [curves.filter((one) => one.fact === fact), new Response(curves.find((one) => one.fact === fact).label, () => showEffect({ kind: "measured", fact }, true))]);
  at("responses").replaceChildren(...drawn.map(([, plot]) => plot.node));
  for (const [lines, plot] of drawn) plot.draw(lines, items.styles, [range[0] - room, range[1] + room], decimals);
  at("effectnote").replaceChildren(sentence ?? (rows.length ? `${title}${items.base && !items.pair ? `, less that of ${items.base}` : ""}: what each step does, with intervals that hold for all of them together. ${sentences.length ? `${sentences.join(". ")}.` : "None is more than chance."}` : "These items tell no effect."),
    without.length ? el("details", {}, el("summary", {}, "What is left out"), without.join("; ")) : "");
}

/** Filter to an axis and its levels, the pair that shows it beside each other; to a slice; or put an attribute across the plot. */
function showEffect({ kind, fact, levels, pair = [] }, on) {
  if (kind === "labelled") set({ s: on ? `${fact}-${levels[1]}` : "" });
  else set({ x: on ? `a|${fact}` : "", ...(kind === "paired" ? { i: on ? pair[0] : "", j: on && pair.length ? fact : "", n: "" } : {}) }, { step: true });
  if (kind === "paired") narrow([[`a|${fact}`, on ? { words: levels } : null]]);
  else draw();
  if (on && kind === "measured") document.querySelector(".plot").scrollIntoView({ block: "nearest" });
}

function leadRows({ rows, sentence }) {
  if (sentence) return at("leadnote").replaceChildren(sentence);
  const place = at("leads");
  const { decimals, unit, label, higher } = items.quantity;
  const range = (one) => (one.interval_low === null ? "" : `${number(one.interval_low, decimals)} to ${number(one.interval_high, decimals)}`);
  const leads = rows.map((row) => row.lead).filter((lead) => lead?.mean !== null && lead);
  const most = Math.max(...leads.flatMap((one) => [one.interval_low ?? one.mean, one.interval_high ?? one.mean, one.mean].map(Math.abs)), 1e-9);
  const shown = new Set(items.shown.map((one) => one.name));
  const row = ({ name, mean, lead, note }) => {
    const tick = el("input", { type: "checkbox", "aria-label": `Show ${name}`, onchange: (event) => pick(name, event.target.checked) });
    tick.checked = shown.has(name);
    const base = button({ class: "base", "aria-pressed": String(items.base === name), title: `Differences from ${name}` }, () => { set({ b: items.base === name ? "" : name }); draw(); }, items.base === name ? "base" : "compare");
    const sure = lead && lead.interval_low !== null && lead.interval_low * lead.interval_high > 0;
    const better = sure && (lead.mean > 0) === higher;
    return el("tr", { class: shown.has(name) ? null : "off" }, el("th", { scope: "row" }, el("label", {}, tick, table.dot(name), name), base, items.methods.find((one) => one.name === name)?.reference ? el("span", { class: "tag" }, "reference") : null),
      el("td", {}, el("b", {}, number(mean.mean, decimals)), el("span", { class: "note" }, range(mean) ? ` (${range(mean)})` : ` ${mean.reason ?? ""}`), note ? el("div", { class: "note" }, note) : null),
      el("td", { class: sure ? (better ? "better" : "worse") : null }, lead ? (lead.interval_low === null ? lead.reason ?? "" : `${signed(lead.mean, decimals)} (${range(lead)})`) : ""),
      el("td", {}, lead && lead.mean !== null && lead.interval_low !== null ? forest(most, lead.mean, lead.interval_low, lead.interval_high) : ""), el("td", { class: "n note" }, `${(lead ?? mean).n}`));
  };
  const head = ["Method", `${label}${unit ? ` (${unit})` : ""}, 95 % interval`, items.pair?.title ?? (items.base ? `less ${items.base}` : "Difference"), "", "Items"];
  place.replaceChildren(el("thead", {}, el("tr", {}, ...head.map((text, column) => el(text ? "th" : "td", { scope: text ? "col" : null, class: column === 4 ? "n" : null }, text)))), el("tbody", {}, ...rows.map(row)));
  at("leadnote").textContent = items.base ? "Paired over the items that both have; intervals are over sources and not corrected for multiple comparisons." : rows.length > 1 ? "“compare” takes a method as the base of differences." : "";
  return undefined;
}

function pick(name, on) {
  const names = items.methods.map((one) => one.name);
  const wanted = names.filter((one) => (one === name ? on : items.shown.some((other) => other.name === one)));
  set({ m: wanted.length === names.length || !wanted.length ? [] : wanted });
  draw();
}

function open(item) {
  set({ i: items.ids[item], n: "", z: "", j: items.pairs?.[get("j")] ? get("j") : "" }, { step: true });
  draw();
  table.reveal(item);
}

function close() {
  opened.delete("close");
  document.querySelector(".look").hidden = true;
  document.body.classList.remove("looking");
  look.clear();
}

const differenceBase = () => (items.base && !items.pair ? items.base : items.shown[0]?.name);
function drawItem(item) {
  if (item === null) return close();
  opened.add("close");
  document.querySelector(".look").hidden = false;
  document.body.classList.add("looking");
  at("opened").textContent = items.names[item];
  at("from").textContent = items.ids[item];
  const manner = get("k").startsWith("wipe") ? "" : get("k");
  for (const one of document.querySelectorAll("[data-manner]")) { one.setAttribute("aria-pressed", String(one.dataset.manner === manner)); one.hidden = items.shown.length < (one.dataset.manner === "difference" ? 2 : 1); }
  document.querySelector("[data-manner=difference]").textContent = `Difference ×4 from ${differenceBase()}`;
  const level = (fact, other) => items.word(items.column(`a|${fact}`), other);
  const mates = items.mates(item);
  const shown = mates.filter(([fact]) => fact === get("j")).map(([, other]) => other);
  const beside = shown.find((other) => left.includes(other)) ?? shown[0] ?? items.placeOf.get(get("j"));
  const pairs = mates.map(([fact, other]) => button({ class: "chip", "aria-pressed": String(other === beside), title: "Show both beside each other, of every item that has such a pair" }, () => { set({ j: other === beside ? "" : mates.filter(([one]) => one === fact).length > 1 ? items.ids[other] : fact }); draw(); }, `${items.facts.find((one) => one.key === fact)?.label ?? fact}: ${level(fact, item)} compared with ${level(fact, other)}`));
  const [copied, first] = [items.column("a|duplicate_of"), (at) => items.word(copied, at) ?? items.ids[at]];
  if (copied) pairs.push(...[...items.ids.keys()].filter((other) => other !== item && first(other) === first(item)).map((other) => button({ class: "chip" }, () => open(other), `Near-duplicate: ${items.names[other]} (${items.ids[other].slice(0, 6)})`)));
  const slices = items.slices.filter(([, , places]) => places.includes(item));
  at("pairs").replaceChildren(...pairs.slice(0, 8));
  const known = items.facts.map((one) => [one.label, items.word(one, item)]).filter(([, value]) => value !== null && !Number.isNaN(value));
  const rows = (found) => found.flatMap(([label, value]) => [el("dt", {}, label), el("dd", {}, typeof value === "number" ? number(value) : value)]);
  at("identifiers").replaceChildren(...rows([["Item", items.ids[item]], ["Source", items.sources[item]], ...known.filter(([, value]) => HASH.test(value))]));
  at("facts").replaceChildren(...rows(known.filter(([, value]) => !HASH.test(value))), ...slices.flatMap(([name, rule]) => [el("dt", {}, `Slice ${name}`), el("dd", {}, rule || "")]), ...(items.failed.get(item) ?? []).flatMap(([name, why]) => [el("dt", {}, `${name} failed`), el("dd", {}, why)]));
  at("flags").textContent = list.flags.filter((one) => one.subject === items.ids[item]).map((one) => `${one.name} = ${one.value}`).join(", ");
  at("flag").querySelector("button").textContent = standing() ? "Take back" : "Flag";
  if (items.kind === "board") { at("facts").closest("details").open = true; return look.clear(); }
  return look.show(query({ item: items.ids[item], methods: items.shown.map((one) => one.name), ...(manner ? { manner, base: manner === "difference" ? differenceBase() : "" } : {}), ...(beside === undefined ? {} : { beside: items.ids[beside] }) }), items.styles);
}

/** Whether the open item has the flag that the form names. */
const standing = () => list.flags.some((one) => one.subject === get("i") && one.name === at("flag").elements.name.value && one.value === at("flag").elements.value.value);

function step(by) {
  const place = order.indexOf(items?.placeOf.get(get("i")) ?? -1);
  const next = order[Math.min(Math.max(place + by, 0), order.length - 1)];
  if (next !== undefined) open(next);
}

/** Show a short message, and take it away. */
function say(text) {
  at("live").textContent = text;
  clearTimeout(say.waiting);
  if (text) say.waiting = setTimeout(say, 2500, "");
}

function give(name, data) {
  const link = el("a", { href: data instanceof Blob ? URL.createObjectURL(data) : data, download: name });
  link.click();
}

async function made(name, address, body) {
  const answer = await fetch(address, { ...POST, body });
  if (answer.ok) return give(name, await answer.blob());
  return at("told").replaceChildren(el("b", { role: "alert" }, (await answer.json()).sentence));
}

const actions = {
  async copy() { say(await navigator.clipboard?.writeText(location.href).then(() => "The link is copied", () => "") || "The browser allows no copying here: the link is the page's address"); },
  csv() {
    const heads = ["item", "source", ...items.facts.map((one) => one.key), ...items.quantities.flatMap((one) => items.shown.map((method) => `${one.key} ${method.name}`))];
    const columns = [...items.facts.map((one) => items.column(`a|${one.key}`)), ...items.quantities.flatMap((one) => items.shown.map((method) => items.column(`s|${one.key}|${method.name}`)))];
    const rows = [...order].map((item) => [items.ids[item], items.sources[item], ...columns.map((column) => items.word(column, item))]);
    give("items.csv", new Blob([csv([heads, ...rows])], { type: "text/csv" }));
  },
  async figure() {
    const values = (axis) => Object.fromEntries(scatter.series.map((one) => [one.name, [...left].map((item) => items.word(one[axis], item)).map((value) => (Number.isFinite(value) || typeof value === "string" ? value : null))]));
    const body = JSON.stringify({ x: { title: scatter.titles.x, values: values("x") }, y: { title: scatter.titles.y, values: values("y") } });
    return made("plot.svg", `/api/figure?${query()}`, body);
  },
  async page() {
    const film = get("i") ? { ...Object.fromEntries([...query().keys()].map((name) => [name, query().getAll(name)])), item: [get("i")], methods: items.shown.map((one) => one.name) } : null;
    const body = JSON.stringify({ items: [...order], methods: items.shown.map((one) => one.name), base: items.base, key: items.quantity?.key, label: items.quantity?.label, words: [...document.querySelectorAll("[data-chips] .chip")].map((one) => one.textContent.replace(" ×", "")).join("; "), film });
    return made("what-i-see.html", `/api/page?${query()}`, body);
  },
  film() { if (get("i")) give(`${get("i")}.mp4`, `/api/film?${query({ item: get("i"), methods: items.shown.map((one) => one.name) })}`); else say("Open an item first"); },
  scheme() { const root = document.documentElement; root.style.colorScheme = root.style.colorScheme === "dark" ? "light" : "dark"; document.querySelector("[data-action=scheme]").textContent = root.style.colorScheme === "dark" ? "Light" : "Dark"; repaint(); draw(); },
  help() { const on = opened.delete("help") ? false : Boolean(opened.add("help")); at("help").hidden = !on; document.querySelector("[data-action=help]").setAttribute("aria-expanded", String(on)); },
  grid() { set({ v: get("v") === "grid" ? "" : "grid" }); draw(); },
  range() { narrow([[form.of.value, { low: form.low.value === "" ? -Infinity : Number(form.low.value), high: form.high.value === "" ? Infinity : Number(form.high.value) }]]); },
  previous: () => step(-1),
  next: () => step(1),
  close() { set({ i: "", n: "", k: "", z: "", j: "" }); draw(); },
};
const back = () => { const menu = document.querySelector("details.menu[open]"); if (menu) menu.open = false; else actions[[...opened].at(-1)]?.(); };
const slide = (by) => { const { view } = look.player; view.lead({ wipe: view.wipeAt + by }); view.onchange(); };
const manner = (name) => { set({ k: get("k") === name ? "" : name }); draw(); };

document.addEventListener("click", (event) => {
  const pressed = event.target.closest("[data-action], [data-manner]");
  if (event.detail && event.target.type === "checkbox") event.target.blur(); // as buttons do, so that keys go on working
  if (pressed && (items || ["scheme", "help"].includes(pressed.dataset.action))) pressed.dataset.action ? actions[pressed.dataset.action]() : manner(pressed.dataset.manner);
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target) || pressed) menu.open = false;
});
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", ({ target }) => {
  const { name } = target;
  if (["metric", "region"].includes(name)) {
    const fit = items.quantities.find((one) => one.metric === form.metric.value && one.region === form.region.value) ?? items.quantities.find((one) => one.metric === form.metric.value);
    set({ q: fit.key });
  } else if (name === "protocol") { set({ p: target.value, q: "" }); return load(); } else if (LETTERS[name]) set({ [LETTERS[name]]: target.type === "checkbox" ? (target.checked ? "1" : "") : target.value });
  else if (target.type === "checkbox") set({ c: [...at("columns").querySelectorAll("input:checked")].map((box) => box.value) });
  else return undefined;
  return draw();
});
at("effects").addEventListener("toggle", () => { if (at("effects").open !== (get("u") === "1")) { set({ u: at("effects").open ? "1" : "" }); if (items) drawEffects(); } });
at("order").addEventListener("change", ({ target }) => { set({ o: target.value === "column" ? "" : target.value }); draw(); });
for (const axis of ["x", "y"]) document.querySelector(`[data-axis=${axis}]`).addEventListener("change", ({ target }) => { set({ [axis]: target.value === "|chosen" ? "" : target.value }); draw(); });
at("flag").addEventListener("submit", async (event) => {
  event.preventDefault();
  const { name, value } = event.target.elements;
  const told_now = await (await fetch("/api/flag", { ...POST, body: JSON.stringify({ subject: get("i"), name: name.value, value: standing() ? "" : value.value }) })).json();
  list.flags = told_now.flags ?? list.flags;
  if (told_now.sentence) at("looknote").textContent = told_now.sentence;
  draw();
});
at("flag").addEventListener("input", () => drawItem(items.placeOf.get(get("i"))));
at("help").append(el("h2", {}, "Keys"), el("dl", {}, ...[...MORE_KEYS, ...HELP.map(([key, , , text]) => [key === " " ? "space" : key.replace("Arrow", ""), text])].flatMap(([key, text]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)])));
const KEYS = { j: actions.next, k: actions.previous, e: () => manner("error"), d: () => manner("difference"), g: actions.grid, c: actions.copy, Escape: back, "[": () => slide(-0.05), "]": () => slide(0.05), "/": () => form.text.focus(), x: () => at("flag").requestSubmit(), "?": actions.help };
listen((key) => { if (KEYS[key] && (items || ["?", "Escape"].includes(key))) KEYS[key](); else return Boolean(get("i")) && look.player.press(key); return true; }, (key) => look.player.release(key));
follow(() => load());
list.start(() => load({ again: true }));
load();

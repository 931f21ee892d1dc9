/* Histogram strips and the scatter plot: drawn on canvases, each a brush for the filter. */

import { el } from "../player/dom.js";
import { number } from "./numbers.js";

const BINS = 28;
const CURVE_BINS = 8;
const FLAT = 12; // what is dragged over fewer pixels leaves that axis alone
const TICKS = [0, 0.25, 0.5, 0.75, 1];
/* As the stylesheet has it: asking each would lay out the page as often. */
const STRIP_ROOM = [134, 42];
const colours = new Map();
const probe = el("i", { hidden: true });

/** The colour that a variable of the stylesheet has now. */
function paint(name) {
  const found = /^var\((.*)\)$/.exec(name)?.[1] ?? name;
  const key = `${found} ${document.documentElement.style.colorScheme}`;
  if (!colours.has(key)) {
    if (!probe.parentNode) document.body.append(probe);
    probe.style.color = found.startsWith("--") ? `var(${found})` : found;
    colours.set(key, getComputedStyle(probe).color);
  }
  return colours.get(key);
}
export const repaint = () => colours.clear();

function sized(canvas) {
  const dense = Math.min(window.devicePixelRatio || 1, 2);
  canvas.room ??= [canvas.clientWidth || 1, canvas.clientHeight || 1]; // asked for once: it makes the browser lay out the page
  const [width, height] = canvas.room;
  Object.assign(canvas, { width: width * dense, height: height * dense });
  const pen = canvas.getContext("2d");
  pen.scale(dense, dense);
  return [pen, width, height];
}

/* Outlines of the marks of methods, as the dots of the page have them. */
const MARKS = { circle: "M-1 0A1 1 0 0 1 1 0 1 1 0 0 1-1 0", square: "M-1-1H1V1H-1", diamond: "M0-1.3 1.3 0 0 1.3-1.3 0", "triangle-up": "M0-1.2 1.2 1H-1.2", "triangle-down": "M0 1.2 1.2-1H-1.2", cross: "M-.4-1.2H.4V-.4H1.2V.4H.4V1.2H-.4V.4H-1.2V-.4H-.4" };
function mark(pen, name, x, y, size) {
  pen.save();
  pen.translate(x, y);
  pen.scale(size, size);
  pen.fill(new Path2D(MARKS[name ?? "circle"]));
  pen.restore();
}

function ends(column, items) {
  let [low, high] = [Infinity, -Infinity];
  const take = (value) => { if (Number.isFinite(value)) [low, high] = [value < low ? value : low, value > high ? value : high]; };
  if (items) for (const item of items) take(column[item]);
  else for (const value of column) take(value);
  return low > high ? [0, 1] : low === high ? [low - 0.5, high + 0.5] : [low, high];
}

/** Call `drag(from, to)` with shares of the canvas while it is dragged over, and `tap(place)` for a click. */
function brush(canvas, drag, tap) {
  let from = null;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height].map((share) => Math.min(Math.max(share, 0), 1));
  };
  const far = (to) => Math.hypot((to[0] - from[0]) * canvas.clientWidth, (to[1] - from[1]) * canvas.clientHeight) > 4;
  canvas.addEventListener("pointerdown", (event) => { from = place(event); canvas.setPointerCapture(event.pointerId); event.preventDefault(); });
  canvas.addEventListener("pointermove", (event) => { if (from && far(place(event))) drag(from, place(event), false); });
  canvas.addEventListener("pointerup", (event) => {
    const to = place(event);
    if (from && far(to)) drag(from, to, true);
    else if (from) tap(to);
    from = null;
  });
}

/** What a filter lets through; an empty word is of items without one. */
export const through = ({ words, low, high }, decimals) => words?.map((word) => word || "without").join(", ") ?? `${number(low, decimals)} to ${number(high, decimals)}`;

/** One column: where all items are, where those are that are left, and the range that is chosen. `choose(range or words or null)`. */
export class Strip {
  constructor(items, found, choose) {
    Object.assign(this, { items, found, choose });
    this.canvas = el("canvas", { class: "strip-plot", role: "img" });
    this.canvas.room = STRIP_ROOM;
    this.value = el("span", { class: "strip-value" });
    this.node = el("div", { class: "strip", title: found.full ?? found.label }, el("button", { type: "button", class: "strip-name", "data-action": "ask", value: found.key }, found.label), this.canvas, this.value);
    this.range = found.numeric ? ends(found.column) : [-0.5, found.words.length - 0.5];
    this.bins = found.numeric ? BINS : found.words.length;
    this.all = this.#counts(null);
    const at = (share) => this.range[0] + share * (this.range[1] - this.range[0]);
    const bin = (share) => Math.min(Math.floor(share * this.bins), this.bins - 1);
    const turned = (word, had = this.filter?.words ?? []) => (had.includes(word) ? had.filter((one) => one !== word) : [...had, word]);
    brush(this.canvas, (from, to, done) => {
      const [low, high] = [Math.min(from[0], to[0]), Math.max(from[0], to[0])];
      if (found.numeric) choose({ low: at(low), high: at(high) });
      else if (done) choose({ words: found.words.slice(bin(low), bin(high) + 1) });
    }, (to) => { const words = found.numeric ? [] : turned(found.words[bin(to[0])]); choose(words.length ? { words } : null); });
  }

  #counts(items) {
    const counts = new Uint32Array(this.bins);
    const scale = this.bins / (this.range[1] - this.range[0]);
    const { column } = this.found;
    const take = (item) => {
      const bin = Math.floor((column[item] - this.range[0]) * scale);
      if (bin >= 0 && bin <= this.bins) counts[Math.min(bin, this.bins - 1)] += 1;
    };
    if (items) for (const item of items) take(item);
    else for (let item = 0; item < column.length; item += 1) take(item);
    return counts;
  }

  draw(left, filter) {
    this.filter = filter;
    const [pen, width, height] = sized(this.canvas);
    this.own = this.#counts(left);
    const most = Math.max(...this.all, 1);
    const wide = width / this.bins;
    const bars = (counts, colour) => {
      pen.fillStyle = colour;
      counts.forEach((count, bin) => { if (count) pen.fillRect(bin * wide, height - Math.max(1.5, (count / most) * (height - 2)), Math.max(wide - 1, 1), height); });
    };
    const across = (value) => ((value - this.range[0]) / (this.range[1] - this.range[0])) * width;
    const chosen = !filter ? [] : filter.words ? filter.words.map((word) => [-0.5, 0.5].map((side) => this.found.words.indexOf(word) + side)) : [[filter.low, filter.high]];
    pen.fillStyle = paint("--chosen");
    for (const [low, high] of chosen) pen.fillRect(across(low), 0, Math.max(across(high) - across(low), 1), height);
    bars(this.all, paint("--strong-line"));
    bars(this.own, paint(this.colour ?? "--fill"));
    const shown = filter ? through(filter) : this.found.numeric ? `${number(this.range[0])} to ${number(this.range[1])}` : `${this.bins} kinds`;
    this.value.textContent = shown;
    this.node.classList.toggle("chosen", Boolean(filter));
    this.canvas.setAttribute("aria-label", `${this.found.full ?? this.found.label}: ${left.length} items, ${shown}`);
  }
}

/** Where an axis is marked, as shares of it, and the words there; of an attribute that has kinds a dozen of these. */
const marks = ({ words }, [low, high]) => (words ? words.map((word, place) => [(place - low) / (high - low), word]).filter((_, place) => place % Math.ceil(words.length / 12) === 0) : TICKS.map((share) => [share, number(low + share * (high - low), fine(low, high))]));
/* Decimals that tell marks apart which three digits would not. */
const fine = (low, high) => ((high - low) * 25 < Math.max(Math.abs(low), Math.abs(high)) ? Math.max(Math.ceil(Math.log10(4 / (high - low))), 0) : null);

/** Points of every method that is looked at; the curve of each is its mean over eight bins with as many items each. */
export class Scatter {
  constructor(node, { choose, open }) {
    Object.assign(this, { choose, open, series: [] });
    this.canvas = el("canvas", { class: "scatter-plot", role: "img", tabindex: "0" });
    this.box = el("div", { class: "brush", hidden: true });
    this.tip = el("div", { class: "tip", hidden: true });
    node.append(this.canvas, this.box, this.tip);
    brush(this.canvas, (from, to, done) => this.#drag(from, to, done), (to) => { const near = this.#near(to); if (near) open(near.item); });
    this.canvas.addEventListener("pointermove", (event) => this.#hover(event));
    this.canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    new ResizeObserver(() => { this.canvas.room = null; this.draw(); }).observe(this.canvas);
  }

  /** `series`: {x, y: columns, name, look: {colour, marker, dash}}; `left`: the items that pass; `item`: the one that is open. */
  show(items, series, left, item, titles) {
    const placed = ({ numeric, column, words }) => (numeric ? column : Float32Array.from(column, (code) => (code < words.length ? code : NaN)));
    Object.assign(this, { items, series: series.map((one) => ({ ...one, xs: placed(one.x), ys: placed(one.y) })), left, item, titles });
    this.draw();
  }

  draw() {
    const [pen, width, height] = sized(this.canvas);
    const { series, left = [], item } = this;
    if (!series.length) return;
    const both = (name) => series.map((one) => (one[name].numeric ? ends(one[`${name}s`], left) : [-0.5, one[name].words.length - 0.5])).reduce((one, other) => [Math.min(one[0], other[0]), Math.max(one[1], other[1])]);
    [this.across, this.up] = [both("x"), both("y")];
    pen.font = "11px system-ui, sans-serif";
    const left_of = Math.max(...marks(series[0].y, this.up).map(([, text]) => pen.measureText(text).width)) + 12;
    this.place = { left: left_of, top: 22, width: width - left_of - 10, height: height - 60 };
    const { place } = this;
    const x = (value) => place.left + ((value - this.across[0]) / (this.across[1] - this.across[0])) * place.width;
    const y = (value) => place.top + (1 - (value - this.up[0]) / (this.up[1] - this.up[0])) * place.height;
    this.#axes(pen, place, height);
    const size = left.length * series.length > 20000 ? 1.5 : left.length * series.length > 2000 ? 2.5 : 4;
    // One order for all: they have the same values across.
    const across = series[0].x.column;
    const known = series[0].x.numeric ? left.filter((at) => Number.isFinite(across[at])).sort((one, other) => across[one] - across[other]) : [];
    for (const one of series) {
      pen.fillStyle = paint(one.look.colour);
      pen.globalAlpha = size < 3 ? 0.45 : 0.7;
      const { xs, ys } = one;
      for (const at of left) if (Number.isNaN(xs[at] + ys[at])) continue; else if (size < 4) pen.fillRect(x(xs[at]) - size / 2, y(ys[at]) - size / 2, size, size); else mark(pen, one.look.marker, x(xs[at]), y(ys[at]), 2.7);
      pen.globalAlpha = 1;
      if (known.length > CURVE_BINS * 2) this.#curve(pen, known, one, x, y);
      if (item !== null) { pen.lineWidth = 2; pen.strokeStyle = paint("--ink"); pen.strokeRect(x(xs[item]) - 5, y(ys[item]) - 5, 10, 10); }
    }
    [this.x, this.y] = [x, y];
    this.canvas.setAttribute("aria-label", `${this.titles.y} against ${this.titles.x}: ${left.length} items, ${series.map((one) => one.name).join(", ")}. The numbers are in the table.`);
  }

  #curve(pen, known, { x: { column: xs }, y: { column: ys }, look }, x, y) {
    const part = (bin) => known.subarray(Math.floor((bin * known.length) / CURVE_BINS), Math.floor(((bin + 1) * known.length) / CURVE_BINS));
    const bins = Array.from({ length: CURVE_BINS }, (_, bin) => part(bin).filter((at) => Number.isFinite(ys[at]))).filter((there) => there.length);
    const mean = (there, column) => there.reduce((sum, at) => sum + column[at], 0) / there.length;
    const points = bins.map((there) => [x(mean(there, xs)), y(mean(there, ys))]);
    pen.strokeStyle = paint(look.colour);
    Object.assign(pen, { lineWidth: 2 }).setLineDash(look.dash ?? []);
    pen.beginPath();
    for (const point of points) pen.lineTo(...point);
    pen.stroke();
    pen.setLineDash([]);
    for (const point of points) mark(pen, look.marker, ...point, 4.5);
  }

  #axes(pen, place, height) {
    pen.fillStyle = paint("--soft");
    pen.strokeStyle = paint("--line");
    for (const [side, text, across, down] of [["left", this.titles.y, 4, 12], ["right", this.titles.x, place.left + place.width, height - 6]]) {
      pen.textAlign = side;
      pen.fillText(text ?? "", across, down);
    }
    for (const [share, text] of marks(this.series[0].y, this.up)) {
      const down = place.top + (1 - share) * place.height;
      pen.strokeRect(place.left, down, place.width, 0);
      pen.textAlign = "right";
      pen.fillText(text, place.left - 5, down + 4);
    }
    for (const [share, text] of marks(this.series[0].x, this.across)) {
      pen.textAlign = share === 0 ? "left" : share === 1 ? "right" : "center";
      pen.fillText(text, place.left + share * place.width, height - 22);
    }
  }

  #value([right, down]) {
    const { place, canvas } = this;
    const share = [(right * canvas.clientWidth - place.left) / place.width, 1 - (down * canvas.clientHeight - place.top) / place.height];
    return [this.across, this.up].map((range, axis) => range[0] + Math.min(Math.max(share[axis], 0), 1) * (range[1] - range[0]));
  }

  #drag(from, to, done) {
    if (!this.series.length) return;
    const size = [this.canvas.clientWidth, this.canvas.clientHeight];
    const edges = [0, 1].map((axis) => (Math.abs(to[axis] - from[axis]) * size[axis] < FLAT ? [0, 1] : [Math.min(from[axis], to[axis]), Math.max(from[axis], to[axis])]));
    Object.assign(this.box.style, { left: `${edges[0][0] * 100}%`, width: `${(edges[0][1] - edges[0][0]) * 100}%`, top: `${edges[1][0] * 100}%`, height: `${(edges[1][1] - edges[1][0]) * 100}%` });
    this.box.hidden = done;
    if (!done) return;
    const [one, other] = [this.#value([edges[0][0], edges[1][1]]), this.#value([edges[0][1], edges[1][0]])];
    const chosen = (axis, { words }) => (edges[axis][1] - edges[axis][0] === 1 ? null : words ? { words: words.slice(Math.ceil(one[axis]), Math.floor(other[axis]) + 1) } : { low: one[axis], high: other[axis] });
    this.choose(chosen(0, this.series[0].x), chosen(1, this.series[0].y));
  }

  #near([right, down]) {
    if (!this.x) return null;
    const [across, up] = [right * this.canvas.clientWidth, down * this.canvas.clientHeight];
    let best = { far: 144 };
    for (const one of this.series) {
      for (const item of this.left) {
        const far = (this.x(one.xs[item]) - across) ** 2 + (this.y(one.ys[item]) - up) ** 2;
        if (far < best.far) best = { far, item, one };
      }
    }
    return best.one ? best : null;
  }

  #hover(event) {
    const box = this.canvas.getBoundingClientRect();
    const near = event.buttons ? null : this.#near([(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height]);
    this.tip.hidden = !near;
    this.canvas.style.cursor = near ? "pointer" : "crosshair";
    if (!near) return;
    const { item, one } = near;
    const [across, up] = [one.x, one.y].map((column) => [this.items.word(column, item), column === one.y ? column.decimals : null]).map(([value, decimals]) => (typeof value === "string" ? value : number(value, decimals)));
    this.tip.textContent = `${this.items.names[item]} · ${one.name}: ${across}, ${up}`;
    Object.assign(this.tip.style, { left: `${Math.min(event.clientX - box.left + 12, box.width - 180)}px`, top: `${event.clientY - box.top + 14}px` });
  }
}

const RMS = { key: "error", label: "Error in the hole", unit: "root mean square, 0 to 255", decimals: 1 };

/** The mark and colour of a method before its name. */
export const dot = ({ marker = "", colour = "var(--soft)" } = {}) => el("i", { class: `dot ${marker}`, style: `--method: ${colour}` });

/** A value with its interval on a scale from worse to better, whose zero is marked; arrows where `beyond_worse` or `beyond_better` is told. */
export function forest({ value, low, high, ...beyond }, [from, to], colour = "var(--fill)") {
  const place = (one) => 2 + 96 * Math.min(Math.max((one - from) / (to - from), 0), 1);
  const ends = [place(low ?? value), place(high ?? value)];
  const reach = el("i", { class: "reach", style: `left: ${Math.min(...ends)}%; right: ${100 - Math.max(...ends)}%` });
  const arrows = [["beyond_worse", "◂"], ["beyond_better", "▸"]].filter(([side]) => side in beyond).map(([side, sign]) => el("b", { class: side }, sign));
  return el("span", { class: "forest", style: `--method: ${colour}; --zero: ${place(0)}%` }, reach, el("i", { class: "middle", style: `left: ${place(value)}%` }), ...arrows);
}

/** Values of every frame of an item, with a line at the frame that is shown, and as a table; a click goes to a frame. */
export class Curves {
  constructor(node, seek) {
    this.canvas = el("canvas", { class: "curves-plot", role: "img", "aria-label": "Values of every frame" });
    this.told = el("p", { class: "curves-told" });
    this.table = el("details", { class: "frame-values", ontoggle: () => this.#drawTable() }, el("summary", {}, "Table of the values of every frame"));
    node.append(this.canvas, this.told, this.table);
    const go = (from, to) => seek(Math.round(to[0] * (this.frames - 1)));
    brush(this.canvas, go, (to) => go(null, to));
    new ResizeObserver(() => { this.canvas.room = null; if (this.lines) this.at(this.frame); }).observe(this.canvas);
  }

  /** `lines`: {name, values: one a frame, null where there is none}; `kind`: what the values are. References do not make the scale. */
  show(lines, frames, looks, kind = RMS) {
    Object.assign(this, { lines: lines.filter(({ values }) => values.length > 1), frames, looks, kind });
    this.canvas.parentElement.hidden = !this.lines.length;
    const scaling = this.lines.filter(({ name }) => !this.#look(name).reference);
    const known = (scaling.length ? scaling : this.lines).flatMap(({ values }) => values.filter(Number.isFinite));
    const [low, high] = kind.key === RMS.key ? [0, Math.max(1, ...known)] : [Math.min(...known), Math.max(...known)];
    this.range = [low, high > low ? high : low + 1];
    this.#drawTable();
    this.at(0);
  }

  /** How a method is drawn, also of the other item of a pair. */
  #look(name) {
    return this.looks[name] ?? this.looks[name.slice(0, name.lastIndexOf(" ("))] ?? { colour: "--soft" };
  }

  at(frame) {
    this.frame = frame;
    if (!this.lines?.length) return;
    const [pen, width, height] = sized(this.canvas);
    const { range: [low, high], kind: { label, unit, decimals } } = this;
    for (const { name, values } of this.lines) {
      const look = this.#look(name);
      pen.strokeStyle = paint(look.colour);
      pen.setLineDash(look.dash ?? []);
      pen.lineWidth = this.looks[name] ? 2 : 1;
      pen.beginPath();
      values.forEach((value, at) => {
        if (!Number.isFinite(value)) return;
        const share = Math.min(Math.max((value - low) / (high - low), 0), 1);
        pen[Number.isFinite(values[at - 1]) ? "lineTo" : "moveTo"]((at / (values.length - 1)) * width, height - 2 - share * (height - 4));
      });
      pen.stroke();
    }
    pen.fillStyle = paint("--ink");
    pen.font = "11px system-ui, sans-serif";
    for (const [value, down] of [[high, 12], [low, height - 4]]) pen.fillText(number(value), 4, down);
    pen.fillRect((frame / Math.max(this.frames - 1, 1)) * width - 0.5, 0, 1, height);
    const beyond = (value) => (value > high || value < low ? " (beyond the scale)" : "");
    const words = this.lines.map(({ name, values }) => el("span", {}, dot(this.#look(name)), `${name} `, el("b", {}, number(values[frame], decimals)), beyond(values[frame])));
    this.told.replaceChildren(`Frame ${frame + 1} · ${label}${unit ? ` (${unit})` : ""}: `, ...words);
    this.canvas.setAttribute("aria-label", `${label} of each frame. ${this.told.textContent}`);
  }

  #drawTable() {
    this.table.querySelector("table")?.parentElement.remove();
    if (!this.table.open || !this.lines?.length) return;
    const head = ["Frame", ...this.lines.map(({ name }) => name)].map((name, column) => el("th", { scope: "col", class: column ? "n" : null }, name));
    const row = (frame) => el("tr", {}, el("th", { scope: "row" }, String(frame + 1)), ...this.lines.map(({ values }) => el("td", { class: "n" }, number(values[frame], this.kind.decimals))));
    const table = el("table", { class: "list" }, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...Array.from({ length: this.frames }, (_, frame) => row(frame))));
    this.table.append(el("div", { class: "scroll tall", tabindex: "0", role: "group", "aria-label": "Values of every frame" }, table));
  }
}

/* Items in columns: filters, order, and what follows from the values of all methods. */

import { average } from "./numbers.js";

export const NO_WORD = 65535;
/* An id that says nothing to people. */
export const HASH = /^[0-9a-f]{12,}$/;

export class Items {
  /** `packed`: a head in JSON with its length before it, and the columns behind it. */
  static unpacked(packed) {
    const length = new DataView(packed).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(packed, 4, length)));
    const column = (kind, place) => new kind(packed, 4 + length + place, head.ids.length);
    return new Items(head, (fact) => column(fact.numeric ? Float32Array : Uint16Array, fact.at), (place) => column(Float32Array, place));
  }

  /** From JSON alone: null is a missing value, and infinity a text. */
  static listed(head) {
    const told = { inf: Infinity, "-inf": -Infinity };
    const numbers = (values) => Float64Array.from(values, (value) => (value === null ? NaN : (told[value] ?? value)));
    return new Items(head, ({ numeric, values }) => (numeric ? numbers(values) : Uint16Array.from(values, (value) => value ?? NO_WORD)), numbers);
  }

  /** `facts` and `values`: the column of a fact, and of an entry of `head.values`. */
  constructor(head, facts, values) {
    Object.assign(this, { failures: [], against: [] }, head);
    this.n = this.ids.length;
    for (const fact of this.facts) fact.column = facts(fact);
    this.held = new Map(Object.entries(this.values).map(([key, told]) => [key, values(told)]));
    this.inside = new Map(this.slices.map(([name, , places]) => [name, places]));
    this.failed = new Map();
    for (const [method, item, reason] of this.failures) this.failed.set(item, [...(this.failed.get(item) ?? []), [this.methods[method].name, reason]]);
    for (const one of this.methods) this.styles[one.name].reference = one.reference;
    this.placeOf = new Map(this.ids.map((id, item) => [id, item]));
  }

  /** Take up a quantity, the methods that are looked at, and the one that others are compared with, or `|RUN` for their namesakes in a run. */
  choose(key, names, base) {
    this.quantity = this.quantities.find((one) => one.key === key) ?? this.quantities.find((one) => one.key === this.default) ?? null;
    this.shown = this.methods.filter((one) => names.includes(one.name));
    this.pair = this.against.find((one) => base === `|${one.base}`);
    this.base = this.pair ? base : this.named(base)?.name ?? "";
    this.made = new Map();
    if (this.quantity) this.#derive(this.shown.filter((one) => !one.reference));
  }

  /** A method by its name, or by one that it has beside fewer or more runs. */
  named(name) {
    return this.methods.find((one) => one.name === name) ?? this.methods.find((one) => one.also?.includes(name));
  }

  /** The best value of an item among the methods that compete; NaN where nobody may be called best. */
  best(key, item) {
    const { ranked, higher } = this.quantities.find((one) => one.key === key) ?? {};
    if (!this.bold || !ranked) return NaN;
    const known = this.methods.filter((one) => !one.reference).map((one) => this.held.get(`${key}|${one.name}`)[item]).filter((value) => !Number.isNaN(value));
    return known.length > 1 ? (higher ? Math.max : Math.min)(...known) : NaN;
  }

  /** Of each item the mean, in which a method of several runs counts once, the worst, the spread (n - 1), and the largest part that neither the item nor the method explains. */
  #derive(methods) {
    const columns = methods.map(({ name }) => this.held.get(`${this.quantity.key}|${name}`));
    const [mean, worst, spread, odd] = [0, 1, 2, 3].map(() => new Float32Array(this.n).fill(NaN));
    const [own, worse] = [columns.map((column) => average(column)), this.quantity.higher ? Math.min : Math.max];
    const all = average(Float32Array.from(own));
    const parts = methods.map(({ name, label = name }) => 1 / methods.filter((one, place) => (one.label ?? one.name) === label && !Number.isNaN(own[place])).length);
    for (let item = 0; item < this.n; item += 1) {
      let [sum, count, whole, share, squares, most] = [0, 0, 0, 0, 0, NaN];
      for (let place = 0; place < columns.length; place += 1) if (!Number.isNaN(columns[place][item])) [sum, count, whole, share] = [sum + columns[place][item], count + 1, whole + columns[place][item] * parts[place], share + parts[place]];
      if (!count) continue;
      const middle = Math.fround(sum / count);
      mean[item] = whole / share;
      columns.forEach((column, place) => {
        if (Number.isNaN(column[item])) return;
        worst[item] = Number.isNaN(worst[item]) ? column[item] : worse(worst[item], column[item]);
        if (column[item] !== middle) squares += (column[item] - middle) ** 2; // two infinite ones are no way apart
        const rest = Math.abs(column[item] - middle - own[place] + all);
        if (Number.isNaN(most) || rest > most) most = rest;
      });
      if (this.kind === "run" && columns.some((column, place) => Number.isNaN(column[item]) && !Number.isNaN(own[place]))) mean[item] = NaN; // those of fewer methods do not stand beside the others'
      else if (count > 1) [spread[item], odd[item]] = [Math.sqrt(squares / (count - 1)), most];
    }
    this.made = new Map([["mean", mean], ...(this.quantity.ranked ? [["worst", worst]] : []), ["spread", spread], ["odd", odd]]);
  }

  /** The method that another is compared with. */
  baseOf(name) {
    const own = this.methods.find((one) => one.name === name);
    const base = this.methods.find((one) => (this.pair ? one.run === this.pair.base && one.label === own?.label : one.name === this.base));
    return base === own ? undefined : base?.name;
  }

  /** The source of each item, in words. */
  #bySource() {
    const called = new Map(this.sources.map((id, item) => [id, HASH.test(id) ? `${this.names[item]} (${id.slice(0, 6)})` : id]));
    const words = [...new Set(called.values())].sort();
    const codes = new Map(words.map((word, code) => [word, code]));
    return { key: "source", column: Uint32Array.from(this.sources, (id) => codes.get(called.get(id))), label: "Source", numeric: false, words, decimals: null, unit: "" };
  }

  /** The method whose picture tells most of an item: that of a column, else the one that is the worst there. */
  telling(item, by) {
    const worst = this.made.get("worst")?.[item];
    const isWorst = ({ name, reference }) => !reference && this.held.get(`${this.quantity?.key}|${name}`)?.[item] === worst;
    return this.column(by)?.method ?? (this.shown.find(isWorst) ?? this.shown[0])?.name;
  }

  /** A column by its key: `source`, `a|FACT`, `v|METHOD` of the chosen quantity, `s|QUANTITY|METHOD`, `d|METHOD` less the base, `any` to filter by, or one that is derived. */
  column(key) {
    const [kind, ...rest] = key.split("|");
    const last = rest.slice(kind === "s" ? 1 : 0).join("|"); // names may hold bars
    const [one, two] = [kind === "s" ? rest[0] : last, this.named(last)?.name];
    const { decimals = 2, label = "", unit = "" } = this.quantity ?? {};
    const told = (column, name, more = {}) => column && { key: two ? key.slice(0, -last.length) + two : key, column, label: name, numeric: true, decimals, unit, higher: this.quantity?.higher, ...more };
    if (kind === "a") {
      const fact = this.facts.find((found) => found.key === one);
      return fact && { key, column: fact.column, label: fact.label, numeric: fact.numeric, words: fact.words, decimals: null, unit: "" };
    }
    if (kind === "s") {
      const quantity = this.quantities.find((found) => found.key === one);
      return quantity && told(this.held.get(`${one}|${two}`), `${quantity.label}, ${two}`, { decimals: quantity.decimals, unit: quantity.unit, higher: quantity.higher, method: two });
    }
    if (key === "source") return (this.bySource ??= this.#bySource());
    if (!this.quantity) return undefined;
    if (kind === "any") return told(this.made.get("mean"), "Any method", { columns: this.shown.map(({ name }) => this.held.get(`${this.quantity.key}|${name}`)), full: `${label}, of any method` });
    if (kind === "v") return told(this.held.get(`${this.quantity.key}|${two}`), two, { method: two, full: `${label}, ${two}` });
    if (kind === "d") return this.baseOf(two) && told(this.#apart(`d|${two}`, two), `Δ ${two}`, { method: two, full: `${label}, ${two} less ${this.baseOf(two)}` });
    return told(this.made.get(kind), { mean: "Mean", worst: "Worst", spread: "Spread", odd: "Largest residual" }[kind], { full: `${label}, ${kind === "odd" ? "largest residual" : kind}`, ...(["mean", "worst"].includes(kind) ? {} : { higher: undefined }) });
  }

  #apart(key, method) {
    if (!this.made.has(key)) {
      const [own, base] = [method, this.baseOf(method)].map((name) => this.held.get(`${this.quantity.key}|${name}`));
      if (!own) return undefined;
      this.made.set(key, own.map((value, item) => value - base[item]));
    }
    return this.made.get(key);
  }

  /** Items that differ from one in an axis alone: the fact that holds their levels, and the item. */
  mates(item) {
    return Object.entries(this.pairs ?? {}).flatMap(([fact, groups]) => (groups.find((group) => group.includes(item)) ?? [item]).filter((other) => other !== item).map((other) => [fact, other]));
  }

  word(column, item) {
    return column.numeric ? column.column[item] : column.column[item] === NO_WORD ? null : column.words[column.column[item]];
  }

  /** Items that pass all of `filters` ({key, low, high} or {key, words}, an empty word for items without one), `text`, `slice`, `failed` and `flagged` (ids). */
  passing({ filters, text, slice, failed, flagged }) {
    const left = new Uint8Array(this.n).fill(1);
    if (slice) {
      left.fill(0);
      for (const item of this.inside.get(slice) ?? []) left[item] = 1;
    }
    const wanted = text.trim().toLowerCase();
    if (wanted) (this.texts ??= this.ids.map((id, item) => `${id}\n${this.sources[item]}\n${this.names[item]}\n${this.under?.[item]}`.toLowerCase())).forEach((own, item) => { if (!wanted.split(/\s+/).every((word) => own.includes(word))) left[item] = 0; });
    if (failed) for (let item = 0; item < this.n; item += 1) if (!this.failed.has(item)) left[item] = 0;
    if (flagged) this.ids.forEach((id, item) => { if (!flagged.has(id)) left[item] = 0; });
    for (const { key, low, high, words } of filters) {
      const found = this.column(key);
      if (!found) continue;
      const { column, columns = [column] } = found;
      const codes = words && new Set(words.map((word) => (word === "" ? NO_WORD : found.words.indexOf(word))));
      for (let item = 0; item < this.n; item += 1) left[item] &= (words ? codes.has(column[item]) : columns.some((one) => one[item] >= low && one[item] <= high)) ? 1 : 0;
    }
    let count = 0;
    const found = new Int32Array(this.n);
    for (let item = 0; item < this.n; item += 1) if (left[item]) found[count++] = item;
    return found.subarray(0, count);
  }

  /** The same items in the order of a column; what has no value comes last. `item`: their own order, `random`: by chance, the same each time. */
  sorted(items, by, falling) {
    if (by === "random") return items.map((item) => item).sort((one, other) => chance(one) - chance(other));
    const found = this.column(by);
    if (!found) return by === "item" ? items.map((item) => item).sort((one, other) => (falling ? -1 : 1) * (`${this.names[one]} ${this.ids[one]}` < `${this.names[other]} ${this.ids[other]}` ? -1 : 1)) : items;
    const { column } = found;
    const known = (item) => (found.numeric ? !Number.isNaN(column[item]) : column[item] !== NO_WORD);
    const there = items.filter(known).sort((one, other) => (falling ? column[other] - column[one] : column[one] - column[other]) || one - other);
    const made = new Int32Array(items.length);
    made.set(there);
    made.set(items.filter((item) => !known(item)), there.length);
    return made;
  }
}

const chance = (item) => Math.imul(item + 1, 2654435761) >>> 0;

/* The table of items, of which only the rows in sight are there; and the same items as a grid of pictures. */

import { button, el } from "../player/dom.js";
import { dot } from "./charts.js";
import { number } from "./numbers.js";

const ROW = 30;
const PICTURES = 60;

export class Table {
  /** `open(item)`, `sort(column)`; `picture(item, method)`: the address of a small picture; `mark(item)`: what stands behind its name. */
  constructor(node, { open, sort, picture, mark = () => null }) {
    Object.assign(this, { node, open, sort, picture, mark, order: new Int32Array(0) });
    this.head = el("tr");
    this.body = el("tbody");
    this.table = el("table", { "data-own": "" }, el("thead", {}, this.head), this.body);
    this.scroll = el("div", { class: "rows", tabindex: "0", role: "region", "aria-label": "Items" }, this.table);
    this.grid = el("div", { class: "pictures", hidden: true });
    node.append(this.scroll, this.grid);
    this.scroll.addEventListener("scroll", () => requestAnimationFrame(() => this.#rows()));
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr[data-item]");
      if (row) open(Number(row.dataset.item));
    });
    for (const name of ["beforeprint", "afterprint"]) addEventListener(name, () => { this.paper = name === "beforeprint"; this.#rows(); }); // before sheets are counted
    new ResizeObserver(() => { this.#rows(); this.#showSorted(); }).observe(this.scroll);
  }

  /** Bring the column that rows are sorted by into sight, beside their names. */
  #showSorted() {
    const sorted = this.head.querySelector("th:not(:first-child, [aria-sort=none])");
    if (!sorted || !this.scroll.clientWidth) return;
    const [box, head, names] = [this.scroll, sorted, this.head.firstChild].map((one) => one.getBoundingClientRect());
    if (head.left < names.right || head.right > box.right) this.scroll.scrollLeft += head.left - names.right;
  }

  /** `columns`: keys, the first is the item's name; `order`: items; `flagged`: ids that get a mark; `by` and `falling`: how they are sorted. */
  show({ items, order, columns, by, falling, item, looks, grid = false, flagged = new Set() }) {
    Object.assign(this, { items, order, item, looks, flagged, columns: columns.map((key) => items.column(key)).filter(Boolean) });
    const head = ({ key, label, numeric, method, full }) => el("th", { scope: "col", class: numeric ? "n" : null, title: full ?? label, "aria-sort": key === by ? (falling ? "descending" : "ascending") : "none" },
      button({ class: "sort" }, () => this.sort(key), method ? dot(looks[method]) : null, label));
    this.head.replaceChildren(head({ key: "item", label: "Item" }), ...this.columns.map(head));
    this.table.setAttribute("aria-rowcount", String(order.length + 1));
    this.scroll.hidden = grid;
    this.grid.hidden = !grid;
    const resorted = this.by !== by;
    this.by = by;
    if (grid) this.#grid();
    else this.#rows();
    if (resorted) this.#showSorted();
  }

  #rows() {
    if (!this.items || this.scroll.hidden) return;
    const paper = this.paper || matchMedia("print").matches; // which has all of them
    const first = paper ? 0 : Math.max(0, Math.floor(this.scroll.scrollTop / ROW) - 8);
    const last = paper ? this.order.length : Math.min(this.order.length, first + Math.ceil((this.scroll.clientHeight || 600) / ROW) + 16);
    const space = (rows) => el("tr", { "aria-hidden": "true", style: `height: ${rows * ROW}px` });
    const rows = [];
    for (let place = first; place < last; place += 1) rows.push(this.#row(this.order[place], place));
    if (!rows.length) rows.push(el("tr", {}, el("td", { colspan: this.columns.length + 1, class: "note" }, "No item passes these filters.")));
    this.body.replaceChildren(space(first), ...rows, space(this.order.length - last));
  }

  #row(item, place) {
    const failed = this.items.failed.get(item);
    const name = el("td", { title: failed ? failed.map((one) => one.join(": ")).join("\n") : this.items.names[item] }, el("span", { class: "item" }, button({}, () => undefined, this.items.names[item]), this.mark(item), el("span", { class: "from" }, this.items.under ? this.items.under[item] ?? "" : this.items.ids[item]), failed ? el("span", { class: "tag warn" }, "failed") : null, this.#flag(item)));
    const best = this.items.best(this.items.quantity?.key, item);
    const cells = this.columns.map((column) => {
      const word = this.items.word(column, item);
      if (!column.numeric) return el("td", { title: word }, word ?? "–");
      const text = number(word, column.decimals);
      return el("td", { class: "n" }, column.key === `v|${column.method}` && word === best ? el("b", {}, text) : text);
    });
    return el("tr", { "data-item": item, "aria-rowindex": place + 2, "aria-selected": item === this.item, class: item === this.item ? "here" : null }, name, ...cells);
  }

  #flag(item) {
    return this.flagged.has(this.items.ids[item]) ? el("span", { class: "tag flagged" }, "flagged") : null;
  }

  #grid() {
    const { items, columns, by } = this;
    const scores = [...columns.filter(({ key }) => key.startsWith("v|")).slice(0, 4), ...columns.filter(({ key }) => key === "spread")];
    const shown = scores.length ? scores : columns.filter(({ numeric }) => numeric).slice(0, 4);
    const cards = [...this.order.subarray(0, PICTURES)].map((item) => {
      const method = items.telling(item, by);
      const seen = method && el("span", { class: "from pictured", title: "Whose picture it is" }, dot(this.looks[method]), method);
      const values = shown.map(({ full, label, column, decimals }) => el("span", { class: "from", title: full ?? label }, `${label} `, el("b", {}, number(column[item], decimals))));
      return button({ class: item === this.item ? "here" : null, title: items.ids[item] }, () => this.open(item),
        el("img", { src: this.picture(item, method), alt: "", loading: "lazy", width: 200, height: 112 }), seen,
        el("b", {}, items.names[item], " ", this.#flag(item) ?? ""), el("span", { class: "from" }, items.ids[item]), ...values);
    });
    const more = this.order.length - PICTURES;
    this.grid.replaceChildren(...cards, ...(more > 0 ? [el("p", { class: "note" }, `and ${more} more: filter, or sort otherwise`)] : []));
  }

  /** Bring an item's row into sight. */
  reveal(item) {
    const place = this.order.indexOf(item);
    const { scrollTop, clientHeight } = this.scroll;
    if (place >= 0 && (place * ROW < scrollTop || (place + 2) * ROW > scrollTop + clientHeight)) this.scroll.scrollTop = (place - 3) * ROW;
  }
}

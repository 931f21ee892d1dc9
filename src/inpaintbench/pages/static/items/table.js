/* The table of items, of which only the rows in sight are there; and the same items as a grid of pictures. */

import { button, el } from "../player/dom.js";
import { number } from "./data.js";

const ROW = 30;
const PICTURES = 60;

export class Table {
  /** `open(item)`, `sort(column)`; `picture(item)`: the address of a small picture. */
  constructor(node, { open, sort, picture }) {
    Object.assign(this, { node, open, sort, picture, order: new Int32Array(0) });
    this.head = el("tr");
    this.body = el("tbody");
    this.table = el("table", {}, el("thead", {}, this.head), this.body);
    this.scroll = el("div", { class: "rows", tabindex: "0", role: "region", "aria-label": "Items" }, this.table);
    this.grid = el("div", { class: "pictures", hidden: true });
    node.append(this.scroll, this.grid);
    this.scroll.addEventListener("scroll", () => requestAnimationFrame(() => this.#rows()));
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr[data-item]");
      if (row) open(Number(row.dataset.item));
    });
    new ResizeObserver(() => this.#rows()).observe(this.scroll);
  }

  /** `columns`: keys, the first is the item's name; `order`: items; `flagged`: ids that get a mark; `by` and `falling`: how they are sorted. */
  show({ items, order, columns, by, falling, item, looks, grid, flagged }) {
    Object.assign(this, { items, order, item, looks, flagged, columns: columns.map((key) => items.column(key)).filter(Boolean) });
    const head = ({ key, label, numeric, method, full }) => el("th", { scope: "col", class: numeric ? "n" : null, title: full ?? label, "aria-sort": key === by ? (falling ? "descending" : "ascending") : "none" },
      button({ class: "sort" }, () => this.sort(key), method ? this.dot(method) : null, label));
    this.head.replaceChildren(head({ key: "item", label: "Item" }), ...this.columns.map(head));
    if (this.by !== by && this.by) this.head.querySelector("th:not([aria-sort=none])")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.by = by;
    this.table.setAttribute("aria-rowcount", String(order.length + 1));
    this.scroll.hidden = grid;
    this.grid.hidden = !grid;
    if (grid) this.#grid();
    else this.#rows();
  }

  dot(method) {
    const look = this.looks[method] ?? {};
    return el("i", { class: `dot ${look.marker ?? ""}`, style: `--method: ${look.colour ?? "var(--soft)"}` });
  }

  #rows() {
    if (!this.items || this.scroll.hidden) return;
    const first = Math.max(0, Math.floor(this.scroll.scrollTop / ROW) - 8);
    const last = Math.min(this.order.length, first + Math.ceil((this.scroll.clientHeight || 600) / ROW) + 16);
    const space = (rows) => el("tr", { "aria-hidden": "true", style: `height: ${rows * ROW}px` });
    const rows = [];
    for (let place = first; place < last; place += 1) rows.push(this.#row(this.order[place], place));
    this.body.replaceChildren(space(first), ...rows, space(this.order.length - last));
  }

  #row(item, place) {
    const failed = this.items.failed.get(item);
    const name = el("td", { title: failed ? failed.map((one) => one.join(": ")).join("\n") : this.items.names[item] }, el("span", { class: "item" }, button({}, () => undefined, this.items.names[item]), el("span", { class: "from" }, this.items.ids[item]), failed ? el("span", { class: "tag warn" }, "failed") : null, this.#flag(item)));
    const cells = this.columns.map((column) => el("td", { class: column.numeric ? "n" : null }, column.numeric ? number(column.column[item], column.decimals) : this.items.word(column, item) ?? "–"));
    return el("tr", { "data-item": item, "aria-rowindex": place + 2, "aria-selected": item === this.item, class: item === this.item ? "here" : null }, name, ...cells);
  }

  #flag(item) {
    return this.flagged.has(this.items.ids[item]) ? el("span", { class: "tag flagged" }, "flagged") : null;
  }

  #grid() {
    const cards = [...this.order.subarray(0, PICTURES)].map((item) => button({ class: item === this.item ? "here" : null, title: this.items.ids[item] }, () => this.open(item),
      el("img", { src: this.picture(item), alt: "", loading: "lazy", width: 200, height: 112 }), el("b", {}, this.items.names[item], " ", this.#flag(item) ?? ""),
      ...this.columns.filter((column) => column.numeric).slice(0, 4).map((column) => el("span", { class: "from", title: column.full ?? column.label }, `${column.label} `, el("b", {}, number(column.column[item], column.decimals))))));
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

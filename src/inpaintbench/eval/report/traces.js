"use strict";
// Values of every frame of the item that is shown, with a cursor at the player's frame; a click seeks.
(() => {
  const { element, number, numeric } = page;
  const SVG = "http://www.w3.org/2000/svg";
  const HEIGHT = 100;
  const MARGIN = 6;
  let chosen = null;
  let methods = Object.keys(page.data.styles);

  function svg(tag, attributes) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  class Traces {
    constructor(player) {
      this.player = player;
      this.place = player.figure.querySelector(".traces");
      this.kinds = (page.data.frames[player.figure.id] ?? []).map((kind) => ({
        ...kind, lines: Object.entries(kind.lines).map(([method, values]) => [method, values.map(numeric)]),
      }));
      this.last = player.layout.frames - 1;
      this.key = null;
      if (this.place) this.build();
    }

    build() {
      const options = this.kinds.map(({ key, label }) => element("option", { value: key }, label));
      this.select = element("select", {}, ...options);
      this.select.addEventListener("change", () => { chosen = this.select.value; this.show(chosen); });
      this.note = element("span", { class: "trace-note" });
      this.svg = svg("svg", { viewBox: `0 0 ${this.last} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" });
      this.playhead = element("i", { class: "playhead" });
      this.chart = element("div", { class: "chart" }, this.svg, this.playhead);
      this.ticks = element("div", { class: "ticks", "aria-hidden": "true" });
      this.readout = element("ul", { class: "readout", "aria-label": "Values at the frame shown" });
      this.numbers = element("details", { class: "frame-values" }, element("summary", {}, "Table of the values of every frame"));
      this.numbers.addEventListener("toggle", () => { if (this.numbers.open) this.drawTable(); });
      const top = element("p", { class: "axis" }, element("label", {}, "Over time ", this.select), " ", this.note);
      const from = element("p", { class: "trace-source" }, "Measured on the originals, frame by frame. A click in the plot goes to the frame.");
      this.place.replaceChildren(top, element("div", { class: "chart-row" }, this.ticks, this.chart), this.readout, from, this.numbers);
      this.chart.addEventListener("pointerdown", (event) => { this.chart.setPointerCapture(event.pointerId); this.point(event); });
      this.chart.addEventListener("pointermove", (event) => { if (event.buttons) this.point(event); });
      this.show(this.kinds[0].key);
    }

    point(event) {
      const box = this.chart.getBoundingClientRect();
      this.player.touched();
      this.player.seek(Math.round(((event.clientX - box.left) / box.width) * this.last));
    }

    // The values of the metric chosen for the page; the error where that has none of frames.
    follow(metric, region) {
      if (!this.place) return;
      const key = `${metric}/${region}`;
      const known = this.kinds.some((kind) => kind.key === key);
      this.show(known ? key : this.kinds.at(-1).key);
      const label = page.items?.quantities.get(key)?.label ?? metric.toUpperCase();
      this.note.textContent = known ? "" : `${label} in this region has no values by frame here.`;
    }

    show(key) {
      this.kind = this.kinds.find((one) => one.key === key) ?? this.kinds.at(-1);
      this.select.value = this.kind.key;
      this.note.textContent = "";
      this.lines = this.kind.lines.filter(([method]) => methods.includes(method));
      const scaling = this.lines.filter(([method]) => !page.data.references.includes(method));
      const known = (scaling.length ? scaling : this.lines).flatMap(([, values]) => values).filter((value) => value !== null && Number.isFinite(value));
      const low = this.kind.key === "error" ? 0 : Math.min(...known);
      const high = Math.max(...known);
      this.range = known.length ? { low, high: high > low ? high : low + 1 } : { low: 0, high: 1 };
      this.svg.replaceChildren(...this.lines.map(([method, values]) => this.line(method, values)));
      const words = this.lines.map(([method, values]) => this.summary(method, values)).join("; ");
      this.svg.setAttribute("aria-label", `${this.kind.label} of each frame. ${words}`);
      const middle = (this.range.low + this.range.high) / 2;
      this.ticks.replaceChildren(...[this.range.high, middle, this.range.low].map((value) => element("span", {}, number(value, this.kind.decimals > 2 ? 3 : 1))));
      if (this.numbers.open) this.drawTable();
      this.draw();
    }

    summary(method, values) {
      const known = values.filter((value) => value !== null && Number.isFinite(value));
      if (!known.length) return `${method}: none`;
      return `${method}: ${number(Math.min(...known), this.kind.decimals)} to ${number(Math.max(...known), this.kind.decimals)}`;
    }

    height(value) {
      // References do not make the scale: beyond it they lie at its edge, and the readout has their values.
      const inside = Math.min(Math.max(value, this.range.low), this.range.high);
      return MARGIN + (HEIGHT - 2 * MARGIN) * (1 - (inside - this.range.low) / (this.range.high - this.range.low));
    }

    // Gaps where a frame has no finite value.
    line(method, values) {
      let [path, down] = ["", false];
      values.forEach((value, frame) => {
        const drawn = value !== null && Number.isFinite(value);
        if (drawn) path += `${down ? "L" : "M"}${frame} ${this.height(value).toFixed(1)}`;
        down = drawn;
      });
      const { colour, dash } = page.data.styles[method];
      return svg("path", { d: path, stroke: colour, "stroke-dasharray": dash.join(" ") });
    }

    draw() {
      if (!this.place) return;
      const { frame } = this.player;
      this.playhead.style.left = `${(100 * frame) / this.last}%`;
      const unit = this.kind.unit ? ` ${this.kind.unit}` : "";
      const entries = this.lines.map(([method, values]) => {
        const value = values[frame];
        return element("li", {}, page.methodName(method), element("b", {}, number(value, this.kind.decimals) + (Number.isFinite(value) && value !== null ? unit : "")));
      });
      this.readout.replaceChildren(element("li", { class: "at" }, `Frame ${frame + 1}`), ...entries);
    }

    drawTable() {
      const heads = [element("th", { scope: "col" }, "Frame"), ...this.lines.map(([method]) => element("th", { scope: "col", class: "n" }, page.methodName(method)))];
      const rows = Array.from({ length: this.last + 1 }, (_, frame) => element("tr", {}, element("th", { scope: "row" }, String(frame + 1)),
        ...this.lines.map(([, values]) => element("td", { class: "n" }, number(values[frame], this.kind.decimals)))));
      const table = element("table", { class: "list" }, element("caption", {}, `${this.kind.label}${this.kind.unit ? ` (${this.kind.unit})` : ""}`),
        element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows));
      const scroll = element("div", { class: "scroll tall", tabindex: "0", role: "group", "aria-label": "Values of every frame" }, table);
      this.numbers.querySelector(".scroll")?.remove();
      this.numbers.append(scroll);
    }
  }

  let quantity = { ...page.data.default };
  const made = new Map();

  // Made when an item is first shown: a page may have many.
  function of(player) {
    if (!made.has(player)) {
      made.set(player, new Traces(player));
      page.tell("traces", player);
    }
    return made.get(player);
  }

  page.on("opened", (player) => {
    const traces = of(player);
    if (!traces.place) return;
    if (chosen && traces.kinds.some((kind) => kind.key === chosen)) traces.show(chosen);
    else traces.follow(quantity.metric, quantity.region);
  });
  page.on("drawn", (player) => of(player).draw());
  page.on("methods", (wanted) => { methods = wanted; for (const traces of made.values()) if (traces.place) traces.show(traces.kind.key); });
  page.on("chosen", (change) => { quantity = change; chosen = null; for (const traces of made.values()) traces.follow(quantity.metric, quantity.region); });
})();

/* The players of a card: their places, captions, and what each shows. */

import { drawTile, Outline } from "./drawing.js";
import { el, keycap } from "./dom.js";
import { fit } from "./layout.js";
import { pointers } from "./pointers.js";
import { Tabs } from "./tabs.js";

const CAPTION = 24;
const MOST_ZOOM = 16;
/* Screens narrower than this may have tabs, whose row is TABS high; CSS pixels. */
const NARROW = 600;
const TABS = 44;
const WORTH_TABS = 0.85;
const LEAST_REFERENCE = 120;
const MAIN_ROLES = new Set(["candidate", "clip"]);

export class View {
  /** `onpick(place)`: a candidate's name was clicked. */
  constructor(area, clock, { onpick, onchange, drag = false }) {
    Object.assign(this, { area, clock, onpick, onchange, drag });
    this.panes = [];
    this.card = null;
    this.keyOf = new Map();
    this.zoom = { factor: 1, x: 0.5, y: 0.5 };
    this.lastFactor = 3;
    this.wipeAt = 0.5;
    this.outlineOn = false;
    this.held = new Set();
    this.wiping = false;
    /* Called when the players were placed; the smallest candidate that is shown: {width, scale}, CSS pixels, and of a proxy's. */
    this.onplaced = () => {};
    this.mainSize = null;
    clock.addEventListener("frame", () => this.draw());
    new ResizeObserver(() => this.place()).observe(area);
    this.tabs = new Tabs(() => this.place());
    pointers(area, this, { onswipe: (steps) => this.zoom.factor === 1 && !this.wiping && this.tabs.go(steps) });
  }

  /** Lay out the players of a card; what stands in `keyOf` (place -> key) is written beside the names. */
  show(card, keyOf) {
    Object.assign(this, { card, keyOf });
    this.held.clear();
    this.wiping = false;
    this.zoom = { factor: 1, x: 0.5, y: 0.5 };
    const main = card.players.filter((one) => MAIN_ROLES.has(one.role));
    const others = card.players.filter((one) => !MAIN_ROLES.has(one.role));
    const ordered = main.length ? [...main].sort((one, two) => (one.place ?? 0) - (two.place ?? 0)).concat(others) : others;
    this.mainCount = main.length || others.length;
    this.panes = ordered.map((player, index) => this.#pane(player, index < this.mainCount, keyOf));
    // A player alone needs no name.
    this.captionHeight = this.panes.length > 1 ? CAPTION : 0;
    for (const pane of this.panes) pane.caption.hidden = !this.captionHeight;
    this.original = ordered.find((one) => one.role === "original") ?? null;
    this.outline = card.outline ? new Outline(card.outline) : null;
    const labels = ordered.map((player) => player.label);
    this.tabs.of(labels.slice(this.mainCount), labels.slice(0, this.mainCount));
    this.area.replaceChildren(this.tabs.node, ...this.panes.map((pane) => pane.node));
    this.place();
  }

  clear() {
    this.card = null;
    this.panes = [];
    this.mainSize = null;
    this.area.replaceChildren();
  }

  /** The next of the tabs that narrow screens have; false where there are none. */
  nextTab() {
    return this.tabs.shown && this.tabs.go(1, { round: true });
  }

  get can() {
    const mains = this.panes.slice(0, this.mainCount);
    const comparable = mains.length > 1 || (Boolean(this.original) && mains[0]?.player !== this.original);
    return {
      flip: mains.length > 1,
      wipe: comparable,
      original: Boolean(this.original) && mains[0]?.player !== this.original,
      outline: Boolean(this.outline),
    };
  }

  /** `flip` or `original` while a key or a button is held. */
  hold(what, on) {
    if (on === this.held.has(what) || (on && !this.can[what])) return;
    if (on) this.held.add(what);
    else this.held.delete(what);
    this.draw();
    this.onchange();
  }

  toggleWipe() {
    if (!this.can.wipe) return;
    this.wiping = !this.wiping;
    this.place();
    this.onchange();
  }

  toggleOutline() {
    if (!this.can.outline) return;
    this.outlineOn = !this.outlineOn;
    this.draw();
    this.onchange();
  }

  toggleZoom() {
    this.zoomTo(this.zoom.factor > 1 ? 1 : this.lastFactor);
  }

  zoomTo(factor) {
    this.zoom.factor = Math.min(Math.max(factor, 1), MOST_ZOOM);
    if (this.zoom.factor < 1.02) this.zoom.factor = 1;
    else this.lastFactor = this.zoom.factor;
    this.draw();
    this.onchange();
  }

  /** Light up the candidate that a button stands for; null for none. */
  point(place) {
    for (const pane of this.panes) pane.node.classList.toggle("pointed", place !== null && pane.player.place === place);
  }

  place() {
    if (!this.card) return;
    const box = this.area.getBoundingClientRect();
    const alone = this.wiping && this.mainCount === 2;
    const main = this.panes.slice(0, this.mainCount).filter((pane, index) => !(alone && index === 1));
    const others = this.panes.slice(this.mainCount);
    const together = this.#fit(box, main.length, others.length, 0);
    const apart = box.width < NARROW && others.length ? this.#fit(box, main.length, 0, TABS) : [];
    // References beside the candidates, unless these would have to shrink much for them or nothing could be seen on them.
    const cramped = () => !together.length || together[0].width < WORTH_TABS * apart[0].width || together.at(-1).width < LEAST_REFERENCE;
    const tabbed = apart.length > 0 && cramped();
    this.tabs.show(tabbed);
    const shown = !tabbed ? [...main, ...others] : this.tabs.chosen ? [others[this.tabs.chosen - 1]] : main;
    const rectangles = !tabbed ? together : this.tabs.chosen ? this.#fit(box, 1, 0, TABS) : apart;
    for (const pane of this.panes) pane.node.hidden = !shown.includes(pane) || !rectangles.length;
    shown.forEach((pane, index) => rectangles[index] && size(pane, rectangles[index], this.captionHeight));
    // Beside a reference's tab the candidates are not shown; what they were before still counts.
    if (!tabbed || !this.tabs.chosen) this.mainSize = smallest(main, rectangles, this.captionHeight);
    this.onplaced();
    this.draw();
  }

  /** Rectangles below `top` pixels that are left free. */
  #fit(box, candidates, references, top) {
    const { width, height } = this.panes[0].player;
    const gap = box.width < NARROW ? 6 : 12;
    const room = { width: box.width, height: box.height - top, aspect: width / height, natural: width, gap, caption: this.captionHeight };
    return fit({ ...room, candidates, references }).map((one) => ({ ...one, y: one.y + top }));
  }

  draw() {
    const stage = this.clock.media?.stage;
    if (!stage || !this.card) return;
    const outline = this.outlineOn && this.outline;
    if (outline) outline.update(stage);
    this.panes.forEach((pane, index) => {
      if (pane.node.hidden) return;
      const [player, over] = this.#contents(pane, index);
      const options = { zoom: this.zoom, outline: outline || null };
      if (over) options.over = { tile: over, at: this.wipeAt };
      drawTile(pane.canvas, stage, player, options);
      const label = over ? `${player.label} | ${over.label}` : player.label;
      if (pane.name.textContent !== label) pane.name.textContent = label;
      pane.node.classList.toggle("swapped", player !== pane.player);
    });
  }

  /** What a pane shows now, and what lies right of the wipe's line. */
  #contents(pane, index) {
    if (index >= this.mainCount) return [pane.player, null];
    if (this.held.has("original")) return [this.original, null];
    const next = (number) => this.panes[(number + 1) % this.mainCount].player;
    const shown = this.held.has("flip") ? next(index) : pane.player;
    if (!this.wiping) return [shown, null];
    if (this.mainCount === 2) return [shown, shown === pane.player ? next(index) : pane.player];
    return [shown, this.original ?? next(index)];
  }

  #pane(player, main, keyOf) {
    const canvas = el("canvas", { role: "img", "aria-label": player.label });
    const name = el("span", { class: "name" }, player.label);
    const key = main && player.place !== null ? keyOf.get(player.place) : undefined;
    const caption = el("div", { class: "caption" }, name, key ? keycap(key) : null);
    const node = el("figure", { class: `pane ${main ? "main" : "reference"}`, "data-role": player.role, "data-place": player.place }, caption, canvas);
    if (key) {
      node.classList.add("choosable");
      caption.addEventListener("click", () => this.onpick(player.place));
    }
    return { player, node, canvas, name, caption };
  }

  /** The zoomed window and the wipe's line go to these shares of a player at the next repaint. */
  lead({ x = this.zoom.x, y = this.zoom.y, wipe = this.wipeAt }) {
    const inside = (part) => Math.min(Math.max(part, 0), 1);
    Object.assign(this.zoom, { x: inside(x), y: inside(y) });
    this.wipeAt = inside(wipe);
    if (this.waiting || !(this.wiping || this.zoom.factor > 1)) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }
}

/** Of the smallest candidate: 0 where there is no room for any. */
function smallest(main, rectangles, caption) {
  const sizes = main.map((pane, index) => {
    const box = rectangles[index];
    const width = box ? Math.min(box.width, ((box.height - caption) * pane.player.width) / pane.player.height) : 0;
    return { width, scale: width / pane.player.width };
  });
  return sizes.sort((one, two) => one.width - two.width)[0] ?? null;
}

function size(pane, { x, y, width, height }, caption) {
  Object.assign(pane.node.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` });
  const dense = Math.min(window.devicePixelRatio || 1, 2);
  const aspect = pane.player.width / pane.player.height;
  const wide = Math.max(1, Math.round(Math.min(width, (height - caption) * aspect) * dense));
  const tall = Math.max(1, Math.round(wide / aspect));
  if (pane.canvas.width !== wide || pane.canvas.height !== tall) Object.assign(pane.canvas, { width: wide, height: tall });
}

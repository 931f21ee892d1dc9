/* The players of a card: their places, captions, and what each shows. */

import { drawTile, Outline } from "./drawing.js";
import { breakable, el, keycap } from "./dom.js";
import { fit } from "./layout.js";
import { pointers } from "./pointers.js";
import { Tabs } from "./tabs.js";

const CAPTION = 24;
/* Where a name would be cut, all go on in further lines, up to this height. */
const MOST_CAPTION = 64;
export const MOST_ZOOM = 16;
/* Screens narrower than this may have tabs, whose row is TABS high; CSS pixels. */
const NARROW = 600;
const TABS = 44;
/* As which share of what they could be candidates stand beside references, so that there are no tabs; a wide window has no thumbs. */
const worthTabs = () => (innerWidth < NARROW ? 0.85 : 0.6);
const LEAST_REFERENCE = 120;
const MAIN_ROLES = new Set(["candidate", "clip"]);

export class View {
  /** `onpick(place)`: a candidate's name was clicked. */
  constructor(area, clock, { onpick, onchange, drag = false, scrolls = false }) {
    Object.assign(this, { area, clock, onpick, onchange, drag, scrolls, panes: [], card: null, keyOf: new Map(), held: new Set() });
    Object.assign(this, { zoom: { factor: 1, x: 0.5, y: 0.5 }, lastFactor: 3, wipeAt: 0.5, wiping: false, outlineOn: false, errorOn: false });
    /* Called when the players were placed; the smallest candidate that is shown: {width, scale}, CSS pixels, and of a proxy's. */
    Object.assign(this, { onplaced: () => {}, mainSize: null });
    clock.addEventListener("frame", () => this.draw());
    new ResizeObserver(() => this.#anew()).observe(area);
    this.tabs = new Tabs(area.dataset, () => { this.place(); this.onchange(); });
    pointers(area, this, { onswipe: (steps) => this.zoom.factor === 1 && !this.wiping && this.tabs.go(steps) });
  }

  /** Lay out the players of a card; what stands in `keyOf` (place -> key) is written beside the names. */
  show(card, keyOf) {
    Object.assign(this, { card, keyOf });
    this.held.clear();
    this.wiping = this.following = false;
    this.against = null; // the player that the wipe lies over, where it is no usual one
    this.zoom = { factor: 1, x: 0.5, y: 0.5 };
    const main = card.players.filter((one) => MAIN_ROLES.has(one.role));
    const others = card.players.filter((one) => !MAIN_ROLES.has(one.role));
    const ordered = main.length ? [...main].sort((one, two) => (one.place ?? 0) - (two.place ?? 0)).concat(others) : others;
    this.mainCount = main.length || others.length;
    this.panes = ordered.map((player, index) => this.#pane(player, index < this.mainCount, keyOf));
    this.original = ordered.find((one) => one.role === "original") ?? null;
    this.outline = card.outline ? new Outline(card.outline) : null;
    const labels = ordered.map((player) => player.label);
    this.tabs.of(labels.slice(this.mainCount), labels.slice(0, this.mainCount));
    this.area.replaceChildren(this.tabs.node, ...this.panes.map((pane) => pane.node));
    this.#anew();
  }

  /** Lay out with captions of one line, where that will do. A player alone needs no name. */
  #anew() {
    this.captionHeight = this.panes.length > 1 ? CAPTION : 0;
    for (const pane of this.panes) pane.caption.hidden = !this.captionHeight;
    this.area.classList.remove("long-names");
    this.place();
  }

  clear() {
    Object.assign(this, { card: null, panes: [], mainSize: null });
    this.area.replaceChildren();
  }

  get can() {
    const mains = this.panes.slice(0, this.mainCount);
    const comparable = mains.length > 1 || (Boolean(this.original) && mains[0]?.player !== this.original);
    return {
      flip: mains.length > 1,
      wipe: comparable,
      original: Boolean(this.original) && mains[0]?.player !== this.original,
      outline: Boolean(this.outline),
      error: Boolean(this.original && this.card?.errors),
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

  /** Turn the wipe, the outline or the error on, or off. */
  toggle(what) {
    const state = { wipe: "wiping", outline: "outlineOn", error: "errorOn" }[what];
    if (!this.can[what]) return;
    this[state] = !this[state];
    this.place();
    this.onchange();
  }

  toggleZoom() {
    this.following = true;
    this.zoomTo(this.zoom.factor > 1 ? 1 : this.lastFactor);
  }

  zoomTo(factor) {
    this.zoom.factor = Math.min(Math.max(factor, 1), MOST_ZOOM);
    if (this.zoom.factor < 1.02) this.zoom.factor = 1;
    else this.lastFactor = this.zoom.factor;
    this.draw();
    this.onchange();
  }

  /** The part of each player that is seen: it follows the hole, where its way is known, until somebody drags it. */
  get window() {
    const { factor } = this.zoom;
    const middle = factor > 1 ? this.follows : null;
    if (!middle) return this.zoom;
    const [x, y] = middle.map((share) => Math.min(Math.max((share - 0.5 / factor) / (1 - 1 / factor), 0), 1));
    return { factor, x, y };
  }

  /** What the wipe lies over where nobody chose; of several results without an original each over the next. */
  get usual() {
    return this.mainCount === 2 ? this.panes[1]?.player : this.original;
  }

  /** The middle that the window keeps to, where it does. */
  get follows() {
    return this.following ? this.card?.centres?.[this.clock.frame] : null;
  }

  /** Light up the candidate that a button stands for; null for none. */
  point(place) {
    for (const pane of this.panes) pane.node.classList.toggle("pointed", place !== null && pane.player.place === place);
  }

  place() {
    if (!this.card || matchMedia("print").matches) return this.draw(); // paper has its own places
    const box = this.area.getBoundingClientRect();
    const alone = this.wiping && this.mainCount === 2 && !this.against;
    const main = this.panes.slice(0, this.mainCount).filter((pane, index) => !(alone && index === 1));
    const others = this.panes.slice(this.mainCount);
    const together = this.#fit(box, main.length, others.length, 0);
    const apart = box.width < NARROW && others.length ? this.#fit(box, main.length, 0, TABS) : [];
    // References beside the candidates, unless these would have to shrink much for them or nothing could be seen on them.
    const cramped = () => !together.length || together[0].width < worthTabs() * apart[0].width || together.at(-1).width < LEAST_REFERENCE;
    const tabbed = apart.length > 0 && cramped();
    this.tabs.node.hidden = !tabbed;
    const shown = !tabbed ? [...main, ...others] : this.tabs.chosen ? [others[this.tabs.chosen - 1]] : main;
    const rectangles = !tabbed ? together : this.tabs.chosen ? this.#fit(box, 1, 0, TABS) : apart;
    for (const pane of this.panes) pane.node.hidden = !shown.includes(pane) || !rectangles.length;
    shown.forEach((pane, index) => rectangles[index] && size(pane, rectangles[index], this.captionHeight));
    // Higher captions leave less for the pictures, whose width breaks names into more lines.
    const lines = Math.min(Math.max(...this.panes.map(({ name }) => name.scrollHeight)), MOST_CAPTION);
    const cut = this.captionHeight === CAPTION && this.panes.some(({ name }) => name.scrollWidth > name.clientWidth);
    if (cut || (this.captionHeight && lines > this.captionHeight)) {
      this.area.classList.add("long-names");
      this.captionHeight = Math.max(this.captionHeight + 1, lines);
      this.area.style.setProperty("--caption", `${this.captionHeight}px`);
      return this.place();
    }
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
    return fit({ ...room, candidates, references, group: this.card.group }).map((one) => ({ ...one, y: one.y + top }));
  }

  draw() {
    const stage = this.clock.media?.stage;
    if (!stage || !this.card) return;
    const outline = this.outlineOn && this.outline;
    if (outline) outline.update(stage);
    this.panes.forEach((pane, index) => {
      if (pane.node.hidden && !matchMedia("print").matches) return; // paper has no tabs
      const [player, over] = this.#contents(pane, index);
      const options = { zoom: this.window, outline: outline || null, less: this.errorOn && this.can.error && index < this.mainCount ? this.original : null };
      if (over) options.over = { tile: over, at: this.wipeAt };
      drawTile(pane.canvas, stage, player, options);
      const label = over ? `${player.label} | ${over.label}` : player.label;
      if (pane.name.title !== label) pane.name.replaceChildren(breakable(label));
      pane.name.title = label;
      pane.node.classList.toggle("swapped", player !== pane.player);
    });
  }

  /** As a query: each pane with another right of the wipe's line, and that one. */
  get wiped() {
    return this.panes.map((pane, index) => this.#contents(pane, index)).flatMap(([under, over]) => (over ? [["under", under.name], ["over", over.name]] : []));
  }

  /** What a pane shows now, and what lies right of the wipe's line. */
  #contents(pane, index) {
    if (index >= this.mainCount) return [pane.player, null];
    if (this.held.has("original")) return [this.original, null];
    const next = (number) => this.panes[(number + 1) % this.mainCount].player;
    const shown = this.held.has("flip") ? next(index) : pane.player;
    if (!this.wiping) return [shown, null];
    if (this.against) return [shown, this.against === shown ? null : this.against];
    if (this.mainCount === 2) return [shown, shown === pane.player ? next(index) : pane.player];
    return [shown, this.original ?? next(index)];
  }

  #pane(player, main, keyOf) {
    const canvas = el("canvas", { width: player.width, height: player.height, role: "img", "aria-label": player.label });
    const name = el("span", { class: "name", title: player.label }, breakable(player.label));
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

/* The films of one item: every part in step, by the player of raters, with the values of each frame below. */

import { el } from "../player/dom.js";
import { Player } from "../player/player.js";
import { MOST_ZOOM } from "../player/view.js";
import { Curves } from "./charts.js";
import { get, joined, parted, set } from "./state.js";

/** The number that an address tells, inside a range; it may say anything. */
const within = (text, low, high, usual) => (text && Number.isFinite(Number(text)) ? Math.min(Math.max(Number(text), low), high) : usual);

export class Look {
  constructor(room, curves, { told }) {
    this.player = new Player(room, { drag: true });
    this.told = told;
    this.curves = new Curves(curves, (frame) => this.player.clock.show(frame));
    this.address = "";
    const { player } = this;
    player.addEventListener("start", () => this.restore());
    player.addEventListener("broken", () => told("This film does not play here."));
    player.clock.addEventListener("frame", () => { this.curves.at(player.clock.frame); if (!player.clock.playing) this.#tell(); });
    const changing = [[player, "change"], [player.clock, "state"], [room, "pointermove"], [room, "change"]];
    for (const [node, name] of changing) node.addEventListener(name, () => this.#tell());
  }

  /** Fetch what `query` names and play it; the same is not fetched again but where it is `stale`, and then played where it is another. */
  async show(query, looks) {
    const address = `/api/sheet?${query}`;
    const again = address === this.address;
    if (again && !this.stale) return this.restore();
    if (!again) this.told("Composing the films …");
    Object.assign(this, { address, stale: false });
    const answer = await fetch(address);
    const text = await answer.text();
    if (address !== this.address || (again && text === this.text)) return;
    const shown = JSON.parse(text);
    this.text = text;
    if (!answer.ok) {
      this.player.clear(el("div", { class: "notice", role: "status" }, shown.sentence));
      this.curves.show([], 1, looks);
      return this.told("");
    }
    this.take(shown, looks);
  }

  /** Play films that are here: `shown` as the server gives them. */
  take(shown, looks) {
    const missing = Object.entries(shown.missing).map(([name, why]) => `${name}: ${why}`).join("; ");
    this.told([shown.caption, missing && `Not shown: ${missing}`].filter(Boolean).join(" "), shown);
    this.restoring = true; // what the address says holds until the first picture is there
    this.player.eager = get("n") === ""; // else a frame would be gone before it is stopped at
    this.player.show(shown);
    this.player.shelf.keep(new Set([shown.media.url]));
    this.curves.show(shown.curves, shown.media.frames, looks);
  }

  clear() {
    this.address = this.text = "";
    this.player.clear();
  }

  /** Frame, zoom and wipe as the address says. */
  restore() {
    const { view, clock } = this.player;
    if (!clock.media) return;
    this.restoring = true;
    const [factor, ...place] = parted(get("z"));
    const [x, y] = [0, 1].map((axis) => within(place[axis], 0, 1, 0.5));
    Object.assign(view.zoom, { factor: within(factor, 1, MOST_ZOOM, 1), x, y });
    view.following = Boolean(get("z")) && !place.length;
    const [at, over] = parted(get("a"));
    Object.assign(view, { wipeAt: within(at, 0, 1, 0.5), against: view.panes.find(({ player }) => player.name === over)?.player ?? null });
    if (Boolean(at) !== view.wiping) view.toggle("wipe");
    view.outlineOn = get("h") === "1" && view.can.outline;
    view.tabs.mark(Math.max(view.tabs.names.indexOf(get("tab")), 0));
    if (get("n") !== "") clock.show(within(get("n"), 1, clock.media.frames, 1) - 1);
    view.place();
    this.restoring = false;
    this.player.bar.draw();
  }

  #tell() {
    const { view, clock } = this.player;
    if (this.restoring || !clock.media || clock.wanted !== null) return;
    const short = (value) => Math.round(value * 1000) / 1000;
    set({
      n: clock.playing ? "" : clock.frame + 1,
      a: view.wiping ? joined([short(view.wipeAt), ...(view.against ? [view.against.name] : [])]) : "",
      z: view.zoom.factor > 1 ? joined([view.zoom.factor, ...(view.follows ? [] : [view.zoom.x, view.zoom.y])].map(short)) : "", // a place of its own, or the hole's
      h: view.outlineOn ? "1" : "",
      tab: view.tabs.node.hidden || !view.tabs.chosen ? "" : view.tabs.names[view.tabs.chosen],
    });
  }
}

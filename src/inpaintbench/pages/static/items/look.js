/* The films of one item: every part in step, by the player of raters, with the values of each frame below. */

import { el } from "../player/dom.js";
import { Player } from "../player/player.js";
import { Curves } from "./charts.js";
import { get, set } from "./state.js";

export class Look {
  constructor(room, curves, { told }) {
    this.player = new Player(room, { drag: true });
    this.told = told;
    this.curves = new Curves(curves, (frame) => this.player.clock.show(frame));
    this.address = "";
    const { player } = this;
    player.addEventListener("start", () => this.restore());
    player.addEventListener("broken", () => told("This film does not play here."));
    player.addEventListener("change", () => this.#tell());
    player.clock.addEventListener("frame", () => { this.curves.at(player.clock.frame); if (!player.clock.playing) this.#tell(); });
    player.clock.addEventListener("state", () => this.#tell());
    for (const name of ["pointermove", "change"]) room.addEventListener(name, () => this.#tell());
  }

  /** Fetch what `query` names and play it; the same is not fetched again. */
  async show(query, looks) {
    const address = `/api/sheet?${query}`;
    if (address === this.address) return this.restore();
    this.address = address;
    this.told("Composing the films …");
    const answer = await fetch(address);
    const shown = await answer.json();
    if (address !== this.address) return;
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
    this.player.show(shown);
    this.player.shelf.keep(new Set([shown.media.url]));
    this.curves.show(shown.curves, shown.media.frames, looks);
  }

  clear() {
    this.address = "";
    this.player.clear();
  }

  /** Frame, zoom and wipe as the address says. */
  restore() {
    const { view, clock } = this.player;
    if (!clock.media) return;
    this.restoring = true;
    const [factor, x = 0.5, y = 0.5] = get("z", "1").split("~").map(Number);
    Object.assign(view.zoom, { factor, x, y });
    view.following = Boolean(get("z")) && !get("z").includes("~");
    const [at, ...over] = get("a").split("~");
    Object.assign(view, { wipeAt: Number(at || 0.5), against: view.panes.find(({ player }) => player.name === over.join("~"))?.player ?? null });
    if (Boolean(at) !== view.wiping) view.toggle("wipe");
    view.outlineOn = get("h") === "1" && view.can.outline;
    if (get("n") !== "") clock.show(Number(get("n")) - 1);
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
      a: view.wiping ? [short(view.wipeAt), view.against?.name].filter((one) => one !== undefined).join("~") : "",
      z: view.zoom.factor > 1 ? [view.zoom.factor, ...(view.follows ? [] : [view.zoom.x, view.zoom.y])].map(short).join("~") : "", // a place of its own, or the hole's
      h: view.outlineOn ? "1" : "",
    });
  }
}

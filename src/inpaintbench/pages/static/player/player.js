/* The comparison player: videos that lie as tiles in one file, so that no two of them can ever show different frames. */

import { Clock } from "./clock.js";
import { Controls } from "./controls.js";
import { Shelf } from "./media.js";
import { View } from "./view.js";

/** Events: `start` (the first picture is there and it plays), `broken` (the file cannot be played), `change` (zoom, wipe, outline,
    what is held). */
export class Player extends EventTarget {
  /** Draw into `root`, as templates/player.html has it. `onpick(place)`: the name of a candidate that has a key was clicked. `drag`: zoom and wipe stay but for drags;
      `scrolls`: the wheel over what is not zoomed is the page's. */
  constructor(root, { onpick = () => undefined, drag = false, scrolls = false } = {}) {
    super();
    root.replaceChildren(document.querySelector(".player-parts").content.cloneNode(true));
    const [area, controls, parking] = root.children;
    Object.assign(this, { root, area });
    this.clock = new Clock();
    this.shelf = new Shelf(parking);
    this.view = new View(area, this.clock, { onpick, drag, scrolls, onchange: () => this.#changed() });
    this.bar = new Controls(controls, this.clock, this.view);
    this.shown = null;
    /* Whether what is shown plays as soon as it is there. */
    this.eager = true;
  }

  /**
   * Play `shown` from its start: {media, players, outline}, with `centres`, the middle of the hole at each frame as shares, which a
   * zoomed window follows, and `errors` where these may be seen. `keyOf`: place -> the key beside a candidate's name. `seen`: a record
   * of the same clip to go on from. `start` is told at once where the first picture is there already.
   */
  show(shown, { keyOf = new Map(), seen = null } = {}) {
    this.shown = shown;
    this.clock.stop();
    const media = this.shelf.of(shown.media);
    this.view.show(shown, keyOf);
    if (media.state === "ready") return this.#play(media, seen);
    this.root.dataset.loading = "";
    media.ready.then(() => this.shown === shown && this.#play(media, seen));
  }

  /** Nothing, or `node` in the players' place. */
  clear(node = null) {
    this.shown = null;
    this.clock.stop();
    this.view.clear();
    delete this.root.dataset.loading;
    if (node) this.area.replaceChildren(node);
  }

  /** Use a key; says whether it was one of ours. */
  press(key) {
    return key === "t" ? this.view.tabs.go(1, { round: true }) : this.bar.press(key);
  }

  /** A key was let go; null lets go of all. */
  release(key) {
    this.bar.release(key);
  }

  #play(media, seen) {
    delete this.root.dataset.loading;
    const plays = media.state === "ready";
    if (plays) this.clock.start(media, seen, { playing: this.eager });
    this.dispatchEvent(new Event(plays ? "start" : "broken"));
    this.bar.draw();
  }

  #changed() {
    this.bar.draw();
    this.dispatchEvent(new Event("change"));
  }
}

/* Must-watch: answers open once every frame was on the screen. */

import { hasKeys } from "./input.js";
import { el } from "./player/dom.js";
import { watchOn } from "./text.js";

const NUDGE_MS = 1200;

export class Gate {
  constructor(root, panel, clock, onlock) {
    Object.assign(this, { panel, clock, onlock });
    this.fill = el("div", { class: "fill" });
    this.words = el("div", { class: "words" });
    root.append(el("div", { class: "track" }, this.fill), this.words);
    this.root = root;
    this.watching = false;
    clock.addEventListener("frame", () => this.watching && this.look());
    clock.addEventListener("state", () => this.watching && this.look());
  }

  /** No picture is there yet: nothing can be answered. */
  close() {
    this.watching = false;
    this.root.dataset.state = "closed";
    this.words.textContent = "";
    this.fill.style.transform = "scaleX(0)";
    this.onlock(true);
  }

  /** The card plays. */
  open(card) {
    this.watching = card.must_watch && !this.clock.media.still;
    if (this.watching) this.look();
    else this.#unlock();
  }

  /** A locked answer was pressed. */
  nudge() {
    this.panel.classList.remove("nudge");
    void this.panel.offsetWidth;
    this.panel.classList.add("nudge");
    clearTimeout(this.calm);
    this.calm = setTimeout(() => this.panel.classList.remove("nudge"), NUDGE_MS);
  }

  look() {
    const { watched } = this.clock;
    if (!watched) return;
    if (watched.complete) return this.#unlock();
    this.root.dataset.state = "watching";
    this.fill.style.transform = `scaleX(${watched.count / watched.frames})`;
    const words = watchOn(watched.secondsLeft / this.clock.speed, this.clock.playing, { keys: hasKeys() });
    if (this.words.textContent !== words) this.words.textContent = words;
    this.onlock(true);
  }

  #unlock() {
    this.watching = false;
    this.root.dataset.state = "open";
    this.words.textContent = "";
    this.onlock(false);
  }
}

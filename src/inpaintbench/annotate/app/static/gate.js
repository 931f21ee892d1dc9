/* Must-watch: answers open once every frame was on the screen. */

const NUDGE_MS = 1200;

export class Gate {
  constructor(root, panel, clock, onlock) {
    Object.assign(this, { panel, clock, onlock, watching: false });
    [this.root, this.fill, this.left] = [root, root.querySelector(".fill"), root.querySelector("[data-text=seconds]")];
    for (const name of ["frame", "state"]) clock.addEventListener(name, () => this.watching && this.look());
  }

  /** No picture is there yet: nothing can be answered. */
  close() {
    this.watching = false;
    this.root.dataset.state = "closed";
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
    this.root.toggleAttribute("data-playing", this.clock.playing);
    this.left.textContent = Math.max(0.1, watched.secondsLeft / this.clock.speed).toFixed(1);
    this.onlock(true);
  }

  #unlock() {
    this.watching = false;
    this.root.dataset.state = "open";
    this.onlock(false);
  }
}

/* The player's bar, as templates/player.html has it: buttons with their keys, and the line of frames. */

import { el, onPress } from "./dom.js";
import { filled, times } from "./words.js";

const ALIASES = { ",": "ArrowLeft", ".": "ArrowRight", "=": "+", _: "-" };
/* By which share of the picture they move the wipe's line. */
const SLIDES = { "[": -0.05, "]": 0.05 };
/* What works while it is held. */
const HELD = ["flip", "original"];

export class Controls {
  constructor(root, clock, view) {
    Object.assign(this, { clock, view, said: root.dataset });
    this.actions = {
      play: () => clock.toggle(),
      back: () => clock.step(-1),
      on: () => clock.step(1),
      loop: () => clock.setLoop(!clock.loop),
      slower: () => clock.faster(-1),
      slow: () => clock.slower(),
      faster: () => clock.faster(1),
      zoom: () => view.toggleZoom(),
      wipe: () => view.toggle("wipe"),
      outline: () => view.toggle("outline"),
      error: () => view.toggle("error"),
    };
    this.buttons = Object.fromEntries([...root.querySelectorAll(".control")].map((node) => [node.name, node]));
    for (const [name, action] of Object.entries(this.actions)) onPress(this.buttons[name], action);
    for (const name of HELD) this.#holdable(name);
    [this.line, this.time, this.over] = ["line", "time", "against"].map((name) => root.querySelector(`.${name}`));
    this.over.addEventListener("change", () => {
      view.against = view.panes[this.over.value]?.player ?? null;
      view.place();
      this.over.blur();
    });
    clock.addEventListener("frame", () => this.#drawFrame());
    clock.addEventListener("state", () => this.draw());
    this.line.addEventListener("input", () => clock.show(this.line.valueAsNumber - 1));
  }

  press(key) {
    if (this.view.wiping && SLIDES[key]) {
      this.view.lead({ wipe: this.view.wipeAt + SLIDES[key] });
      this.view.onchange();
      return true;
    }
    const node = Object.values(this.buttons).find((one) => one.dataset.key === (ALIASES[key] ?? key));
    if (!node || node.hidden) return false;
    if (HELD.includes(node.name)) this.view.hold(node.name, true);
    else this.actions[node.name]();
    return true;
  }

  /** A key was let go; null lets go of all. */
  release(key) {
    for (const name of HELD) if (key === null || key === this.buttons[name].dataset.key) this.view.hold(name, false);
  }

  draw() {
    const { clock, view, buttons } = this;
    const { zoom: { factor }, held } = view;
    const moving = Boolean(clock.media?.video) && clock.media.frames > 1;
    const can = { zoom: true, ...view.can };
    for (const [name, node] of Object.entries(buttons)) node.hidden = !(can[name] ?? moving);
    this.line.hidden = this.time.hidden = !moving;
    const on = {
      loop: clock.loop, slow: clock.speed !== 1, zoom: factor > 1, wipe: view.wiping, outline: view.outlineOn, error: view.errorOn,
      flip: held.has("flip"), original: held.has("original"),
    };
    for (const [name, pressed] of Object.entries(on)) buttons[name].setAttribute("aria-pressed", String(pressed));
    buttons.play.toggleAttribute("data-playing", clock.playing);
    buttons.slow.firstElementChild.textContent = times(clock.speed);
    buttons.zoom.dataset.value = factor > 1 ? times(Math.round(factor * 10) / 10) : "";
    this.#drawAgainst();
    this.#drawFrame();
  }

  #drawAgainst() {
    const { panes, wiping, against, usual } = this.view;
    this.over.hidden = !wiping || panes.length < 3;
    if (this.over.hidden) return;
    const option = (label, value, selected = false) => el("option", { value, selected }, label);
    const over = (player) => (player ? filled(this.said.over, player.label) : this.said.next);
    this.over.replaceChildren(option(over(usual), ""), ...panes.map(({ player }, index) => (player === usual ? "" : option(over(player), index, player === against))));
  }

  #drawFrame() {
    const { media, frame, watched, seconds, playing } = this.clock;
    if (!media) return;
    Object.assign(this.line, { max: media.frames, value: frame + 1 });
    this.line.style.setProperty("--played", `${(100 * frame) / Math.max(media.frames - 1, 1)}%`);
    this.line.style.setProperty("--seen", `${(100 * watched.count) / watched.frames}%`);
    this.time.textContent = `${frame + 1} / ${media.frames}\u2002${seconds.toFixed(2)} s`;
    // Assistive programs would read every frame aloud while it plays.
    if (!playing) this.line.setAttribute("aria-valuetext", filled(this.said.frame, frame + 1, media.frames));
  }

  /** Held by a pointer; toggled by the keyboard, which cannot hold a focused button. */
  #holdable(name) {
    const node = this.buttons[name];
    node.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      node.setPointerCapture(event.pointerId);
      this.view.hold(name, true);
    });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) node.addEventListener(end, () => this.view.hold(name, false));
    node.addEventListener("contextmenu", (event) => event.preventDefault());
    node.addEventListener("click", (event) => event.detail === 0 && this.view.hold(name, !this.view.held.has(name)));
  }
}

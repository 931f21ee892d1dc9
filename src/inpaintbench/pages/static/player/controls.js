/* The player's bar: buttons with their keys, and the line of frames. */

import { button, el, icon, keycap, keyName, shortcut } from "./dom.js";
import { clockTime, times } from "./words.js";

/** name, key, what it does, manner (those of `hold` work while they are held), what it does where one drags. */
const BUTTONS = [
  ["play", " ", "Play or pause"],
  ["back", "ArrowLeft", "One frame back (also ,)"],
  ["on", "ArrowRight", "One frame on (also .)"],
  ["loop", "l", "Loop"],
  ["slower", "-", "Slower"],
  ["slow", "m", "Slow motion: whole, half, quarter speed"],
  ["faster", "+", "Faster"],
  ["zoom", "z", "Zoom; the wheel changes it, the pointer moves it on all players", "", "Zoom; the wheel changes it, dragging the picture moves it on all players"],
  ["flip", "f", "Hold: swap the candidates in place", "hold"],
  ["wipe", "w", "Wipe: one over the other, the line follows the pointer", "", "Wipe: one over the other, the line is dragged"],
  ["original", "o", "Hold: the original in place", "hold"],
  ["outline", "h", "Outline of the hole"],
];
const ICONS = { slower: "minus", faster: "plus" };
const ALIASES = { ",": "ArrowLeft", ".": "ArrowRight", "=": "+", _: "-" };
/** Key, words and drawing of each; the speed shows itself as a figure. */
export const HELP = BUTTONS.map(([name, key, text, , dragged = text]) => [key, text, name === "slow" ? null : (ICONS[name] ?? name), dragged]);

export class Controls {
  constructor(root, clock, view) {
    Object.assign(this, { clock, view });
    this.actions = {
      play: () => clock.toggle(),
      back: () => clock.step(-1),
      on: () => clock.step(1),
      loop: () => clock.setLoop(!clock.loop),
      slower: () => clock.faster(-1),
      slow: () => clock.slower(),
      faster: () => clock.faster(1),
      zoom: () => view.toggleZoom(),
      wipe: () => view.toggleWipe(),
      outline: () => view.toggleOutline(),
    };
    this.buttons = new Map(BUTTONS.map((row) => [row[0], this.#button(row)]));
    this.fill = el("div", { class: "fill" });
    this.seen = el("div", { class: "seen" });
    this.line = el("div", { class: "line", role: "slider", tabindex: "0", "aria-label": "Frame", "aria-valuemin": "1" }, this.seen, this.fill);
    this.time = el("div", { class: "time" });
    const group = (...names) => el("div", { class: `group ${names[0]}-group` }, ...names.map((name) => this.buttons.get(name)));
    root.append(group("play", "back", "on"), this.line, this.time, group("loop"), group("slower", "slow", "faster"),
      group("zoom", "flip", "wipe", "original", "outline"));
    this.root = root;
    clock.addEventListener("frame", () => this.#drawFrame());
    clock.addEventListener("state", () => this.draw());
    this.#scrub();
  }

  press(key) {
    const row = BUTTONS.find((one) => one[1] === (ALIASES[key] ?? key));
    if (!row || this.buttons.get(row[0]).hidden) return false;
    if (row[3] === "hold") this.view.hold(row[0], true);
    else if (!this.buttons.get(row[0]).disabled) this.actions[row[0]]();
    return true;
  }

  /** A key was let go; null lets go of all. */
  release(key) {
    for (const [name, itsKey, , manner] of BUTTONS) {
      if (manner === "hold" && (key === null || key === itsKey)) this.view.hold(name, false);
    }
  }

  draw() {
    const { clock, view } = this;
    const moving = Boolean(clock.media?.video);
    const can = view.can;
    for (const name of ["play", "back", "on", "loop", "slower", "slow", "faster"]) this.buttons.get(name).hidden = !moving;
    for (const name of ["flip", "wipe", "original", "outline"]) this.buttons.get(name).hidden = !can[name];
    this.line.hidden = this.time.hidden = !moving;
    const play = this.buttons.get("play");
    play.firstChild.replaceWith(icon(clock.playing ? "pause" : "play"));
    this.#press("loop", clock.loop);
    this.#press("slow", clock.speed !== 1);
    this.buttons.get("slow").firstChild.textContent = times(clock.speed);
    this.#press("zoom", view.zoom.factor > 1);
    this.buttons.get("zoom").dataset.value = view.zoom.factor > 1 ? times(Math.round(view.zoom.factor * 10) / 10) : "";
    this.#press("wipe", view.wiping);
    this.#press("outline", view.outlineOn);
    for (const name of ["flip", "original"]) this.#press(name, view.held.has(name));
    this.#drawFrame();
  }

  #press(name, on) {
    this.buttons.get(name).setAttribute("aria-pressed", String(on));
  }

  #drawFrame() {
    const { clock } = this;
    if (!clock.media) return;
    const last = Math.max(clock.media.frames - 1, 1);
    this.fill.style.transform = `scaleX(${clock.frame / last})`;
    this.seen.style.transform = `scaleX(${clock.watched.count / clock.watched.frames})`;
    const number = clock.frame + 1;
    this.time.textContent = `${number} / ${clock.media.frames}\u2002${clockTime(clock.seconds)}`;
    // Assistive programs would read every frame aloud while it plays.
    if (clock.playing) return;
    this.line.setAttribute("aria-valuemax", String(clock.media.frames));
    this.line.setAttribute("aria-valuenow", String(number));
    this.line.setAttribute("aria-valuetext", `frame ${number} of ${clock.media.frames}`);
  }

  #button([name, key, still, manner, dragged = still]) {
    const text = this.view.drag ? dragged : still;
    const picture = name === "slow" ? el("span", { class: "figure" }, times(1)) : icon(ICONS[name] ?? name);
    const facts = { class: `control ${name}`, "data-tip": `${text} [${keyName(key)}]`, "aria-label": text, "aria-keyshortcuts": shortcut(key) };
    if (manner !== "hold") return button(facts, () => this.actions[name](), picture, keycap(key));
    return this.#holdable(el("button", { type: "button", ...facts }, picture, keycap(key)), name);
  }

  /** Held by a pointer; toggled by the keyboard, which cannot hold a focused button. */
  #holdable(node, name) {
    node.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      node.setPointerCapture(event.pointerId);
      this.view.hold(name, true);
    });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) node.addEventListener(end, () => this.view.hold(name, false));
    node.addEventListener("contextmenu", (event) => event.preventDefault());
    node.addEventListener("click", (event) => event.detail === 0 && this.view.hold(name, !this.view.held.has(name)));
    return node;
  }

  #scrub() {
    let dragging = false;
    const go = (event) => {
      const box = this.line.getBoundingClientRect();
      const part = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
      if (this.clock.media) this.clock.seek(Math.round(part * (this.clock.media.frames - 1)));
    };
    this.line.addEventListener("pointerdown", (event) => {
      dragging = true;
      event.preventDefault();
      this.line.setPointerCapture(event.pointerId);
      this.clock.pause();
      go(event);
    });
    this.line.addEventListener("pointermove", (event) => dragging && go(event));
    for (const end of ["pointerup", "pointercancel"]) this.line.addEventListener(end, () => (dragging = false));
  }
}

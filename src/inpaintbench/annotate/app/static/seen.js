/* How a task was seen: the size of its pictures, the screen, for how long the page was hidden, counts of what hands did. Coarse facts. */

import { part } from "./screens.js";

const PHONE = 600;
/* What hands do. A click is a press; whoever answers by a key makes none. */
const HANDS = { keydown: "keys", click: "presses", pointermove: "moves" };

/** The smallest size of the candidates' pictures while a card is judged; a page in their place where it is too small. */
export class Seen {
  /** `onsmall(small)`: the pictures became too small, or large enough again. */
  constructor(area, view, onsmall) {
    Object.assign(this, { area, view, onsmall, limits: { width: 0, scale: 0 }, small: false, hands: {} });
    for (const kind of Object.keys(HANDS)) window.addEventListener(kind, (event) => this.#did(event), true);
    this.cover = part("small").firstElementChild;
    view.onplaced = () => this.look();
    this.begin();
  }

  /** Another card. */
  begin() {
    Object.assign(this, { width: Infinity, scale: Infinity, began: performance.now() });
    this.look();
  }

  look() {
    const now = this.view.mainSize;
    if (!now) return;
    const scale = now.scale * (window.devicePixelRatio || 1);
    const small = now.width < this.limits.width || scale < this.limits.scale;
    if (small !== this.small) {
      this.small = small;
      if (!small) this.width = this.scale = Infinity;
      this.onsmall(small);
    }
    if (small) {
      const touch = matchMedia("(pointer: coarse)").matches && Math.min(window.innerWidth, window.innerHeight) < PHONE;
      const advice = (window.visualViewport?.scale ?? 1) > 1.01 ? "zoom" : touch ? "turn" : "enlarge";
      for (const one of this.cover.querySelectorAll("p")) one.hidden = one.dataset.advice !== advice;
      if (!this.cover.isConnected) this.area.append(this.cover);
      return;
    }
    this.cover.remove();
    this.width = Math.min(this.width, now.width);
    this.scale = Math.min(this.scale, scale);
  }

  #did({ type, isTrusted, pointerType, target }) {
    const honey = type === "click" && target.className === "honey";
    const name = honey ? "trapped" : !isTrusted ? "scripted" : pointerType === "touch" ? "touches" : HANDS[type];
    this.hands[name] = (this.hands[name] ?? 0) + 1;
  }

  /** The facts that go with an answer. `visible`: seconds that the page was not hidden. */
  facts(visible, { byCallback, media }) {
    const [total, hands] = [(performance.now() - this.began) / 1000, this.hands];
    this.hands = {};
    return {
      ...hands,
      driven: Boolean(navigator.webdriver),
      width: Number.isFinite(this.width) ? Math.round(this.width) : 0,
      scale: Number.isFinite(this.scale) ? Math.round(this.scale * 1000) / 1000 : 0,
      pixel_ratio: Math.round((window.devicePixelRatio || 1) * 1000) / 1000,
      zoom: Math.round((window.visualViewport?.scale ?? 1) * 1000) / 1000,
      full_screen: Boolean(document.fullscreenElement) || matchMedia("(display-mode: fullscreen)").matches,
      portrait: window.innerHeight > window.innerWidth,
      hidden_seconds: Math.max(0, Math.round((total - visible) * 10) / 10),
      frame_source: byCallback ? "callback" : "poll",
      quality: media.light ? "light" : "full",
    };
  }
}

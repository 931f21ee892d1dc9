/* How a task was seen: the size of its pictures, the screen, the browser, and for how long the page was hidden. Coarse facts only. */

import { el } from "./player/dom.js";
import { TEXT } from "./text.js";

const FAMILIES = [["Edge", /Edg\/(\d+)/], ["Opera", /OPR\/(\d+)/], ["Samsung", /SamsungBrowser\/(\d+)/], ["Firefox", /(?:Firefox|FxiOS)\/(\d+)/],
  ["Chrome", /(?:Chrome|CriOS)\/(\d+)/], ["Safari", /Version\/(\d+).*Safari/]];
const PHONE = 600;

/** Name and main version, as "Chrome 130"; nothing else of what the browser says of itself. */
export function browser(agent = navigator.userAgent) {
  for (const [name, pattern] of FAMILIES) {
    const found = pattern.exec(agent);
    if (found) return `${name} ${found[1]}`;
  }
  return "other";
}

/** The smallest size of the candidates' pictures while a card is judged; a page in their place where it is too small. */
export class Seen {
  /** `onsmall(small)`: the pictures became too small, or large enough again. */
  constructor(area, view, onsmall) {
    Object.assign(this, { area, view, onsmall });
    this.limits = { width: 0, scale: 0 };
    this.small = false;
    this.words = el("p", {});
    this.cover = el("div", { class: "message small", role: "alert" }, el("h2", {}, TEXT.smallTitle), this.words);
    view.onplaced = () => this.look();
    this.begin();
  }

  /** Another card. */
  begin() {
    this.width = Infinity;
    this.scale = Infinity;
    this.began = performance.now();
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
      this.words.textContent = this.#advice();
      if (!this.cover.isConnected) this.area.append(this.cover);
      return;
    }
    this.cover.remove();
    this.width = Math.min(this.width, now.width);
    this.scale = Math.min(this.scale, scale);
  }

  /** The facts that go with an answer. `visible`: seconds that the page was not hidden. */
  facts(visible, byCallback) {
    const total = (performance.now() - this.began) / 1000;
    return {
      width: Number.isFinite(this.width) ? Math.round(this.width) : 0,
      scale: Number.isFinite(this.scale) ? Math.round(this.scale * 1000) / 1000 : 0,
      pixel_ratio: Math.round((window.devicePixelRatio || 1) * 1000) / 1000,
      zoom: Math.round((window.visualViewport?.scale ?? 1) * 1000) / 1000,
      full_screen: Boolean(document.fullscreenElement) || matchMedia("(display-mode: fullscreen)").matches,
      portrait: window.innerHeight > window.innerWidth,
      browser: browser(),
      hidden_seconds: Math.max(0, Math.round((total - visible) * 10) / 10),
      frame_source: byCallback ? "callback" : "poll",
    };
  }

  #advice() {
    const touch = matchMedia("(pointer: coarse)").matches && Math.min(window.innerWidth, window.innerHeight) < PHONE;
    if ((window.visualViewport?.scale ?? 1) > 1.01) return TEXT.smallZoom;
    return touch ? TEXT.smallTurn : TEXT.smallEnlarge;
  }
}

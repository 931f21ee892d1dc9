/* Narrow screens: candidates and each reference take turns, chosen by tabs, by a swipe or by a key. */

import { button, el, keycap } from "./dom.js";
import { candidatesSaid } from "./words.js";

export class Tabs {
  constructor(onchange) {
    this.onchange = onchange;
    this.node = el("div", { class: "tabs", role: "group", "aria-label": "Players", hidden: true });
    this.buttons = [];
    this.chosen = 0;
  }

  get shown() {
    return !this.node.hidden;
  }

  /** One tab for the candidates together, one for each of the references; both by their labels. */
  of(references, candidates) {
    this.chosen = 0;
    const names = [candidatesSaid(candidates), ...references];
    this.buttons = names.map((name, index) => button({ class: "tab" }, () => this.#choose(index), name));
    this.node.replaceChildren(...this.buttons, keycap("t"));
    this.#mark();
  }

  show(shown) {
    this.node.hidden = !shown;
  }

  /** So many tabs on; from the last to the first when `round`. Says whether there are tabs. */
  go(steps, { round = false } = {}) {
    if (!this.shown) return false;
    const count = this.buttons.length;
    const wanted = this.chosen + steps;
    this.#choose(round ? (wanted + count) % count : Math.min(Math.max(wanted, 0), count - 1));
    return true;
  }

  #choose(index) {
    this.chosen = index;
    this.#mark();
    this.onchange();
  }

  #mark() {
    this.buttons.forEach((node, index) => node.setAttribute("aria-pressed", String(index === this.chosen)));
  }
}

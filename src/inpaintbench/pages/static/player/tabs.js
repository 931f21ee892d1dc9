/* Narrow screens: candidates and each reference take turns, chosen by tabs, by a swipe or by a key. */

import { button, el, keycap } from "./dom.js";
import { candidatesSaid } from "./words.js";

export class Tabs {
  constructor(said, onchange) {
    Object.assign(this, { said, onchange, node: el("div", { class: "tabs", role: "group", "aria-label": said.players, hidden: true }), chosen: 0 });
  }

  /** One tab for the candidates together, one for each of the references; both by their labels. */
  of(references, candidates) {
    this.names = [candidatesSaid(candidates, this.said), ...references];
    this.node.replaceChildren(...this.names.map((name, place) => button({ class: "tab" }, () => this.#choose(place), name)), keycap("t"));
    this.mark(0);
  }

  /** So many tabs on; from the last to the first when `round`. Says whether there are tabs. */
  go(steps, { round = false } = {}) {
    if (this.node.hidden) return false;
    const wanted = this.chosen + steps;
    this.#choose(round ? (wanted + this.names.length) % this.names.length : Math.min(Math.max(wanted, 0), this.names.length - 1));
    return true;
  }

  #choose(place) {
    this.mark(place);
    this.onchange();
  }

  mark(place) {
    this.chosen = place;
    this.node.querySelectorAll("button").forEach((node, at) => node.setAttribute("aria-pressed", String(at === place)));
  }
}

/* The question: parts one after the other, a lock until the clip was seen, reasons to skip. */

import { hasKeys } from "./input.js";
import { button, el, keycap } from "./player/dom.js";
import { said, part as template } from "./screens.js";

const PLACE = "place-";

export class Form {
  /** `onanswer(given, event)`, `onskip(reason, event)`, `onpoint(place)`; `onnudge()` when a locked answer is pressed.
   *  Parts that are answered stand in `chips`. */
  constructor(root, chips, { onanswer, onskip, onpoint, onnudge }) {
    Object.assign(this, { root, chips, onanswer, onskip, onpoint, onnudge });
    this.ask = root.firstElementChild;
    this.clear();
  }

  clear() {
    Object.assign(this, { card: null, given: {}, active: null, skipping: false, locked: false });
    this.chips.replaceChildren();
    this.ask.replaceChildren();
  }

  /** Ask the card's question from its first part. */
  show(card) {
    Object.assign(this, { card, given: {}, active: card.question.form.parts[0], skipping: false });
    this.#draw();
  }

  /** Place of a candidate -> key of the option that chooses it. */
  static keysOf(card) {
    const options = card.question.form.parts.flatMap((part) => part.options);
    return new Map(options.filter((one) => one.value.startsWith(PLACE)).map((one) => [Number(one.value.slice(PLACE.length)), one.key]));
  }

  lock(locked) {
    if (this.locked === locked) return;
    this.locked = locked;
    this.root.classList.toggle("locked", locked);
    for (const node of this.ask.querySelectorAll(".option")) node.ariaDisabled = String(locked && !this.skipping);
  }

  /** Use a key; says whether it was one of ours. */
  press(key, event) {
    if (!this.card || key === null) return false;
    const found = this.#options().find((one) => one.key.toLowerCase() === key.toLowerCase());
    if (found) this.#take(found, event);
    else if (key === "Enter" && this.#marked()) this.#take(this.#marked(), event);
    else if (key === "Escape" && this.skipping) this.skip(false);
    else return false;
    return true;
  }

  /** Take back the last part of this card; false when nothing was answered yet. */
  back() {
    if (!this.card) return false;
    if (this.skipping) return this.skip(false), true;
    if (this.ask.querySelector("input")) return this.#draw(), true;
    const answered = this.#asked().filter((part) => part.name in this.given);
    if (!answered.length) return false;
    this.#reopen(answered[answered.length - 1]);
    return true;
  }

  skip(open = !this.skipping) {
    if (!this.card) return;
    this.skipping = open;
    this.#draw();
  }

  #options() {
    return this.skipping ? this.card.skip_reasons : (this.active?.options ?? []);
  }

  /** Parts that the answers so far ask for. */
  #asked() {
    return this.card.question.form.parts.filter((part) => !part.when || this.given[part.when[0]] === part.when[1]);
  }

  /** The option that Enter takes: the machine's, or the rater's own from before. */
  #marked() {
    if (this.skipping || !this.active) return null;
    const value = this.#mark()?.value;
    return this.active.options.find((one) => one.value === value) ?? null;
  }

  #mark() {
    const { previous, suggestion } = this.card;
    const part = this.active.name;
    if (part in this.given) return { value: this.given[part] };
    if (previous?.[part]) return { value: previous[part], tag: "before" };
    return suggestion?.part === part && suggestion.mode === "prefill" ? { value: suggestion.value, tag: "measured" } : null;
  }

  #take(option, event) {
    if (this.skipping) return this.#takeReason(option, event);
    if (this.locked) return this.onnudge();
    const part = this.active;
    const before = this.given[`${part.name}_text`] ?? this.card.previous?.[`${part.name}_text`] ?? "";
    if (part.text_with === option.value) return this.#askWords(option, before, (words) => this.#settle(part, option, words, event));
    this.#settle(part, option, null, event);
  }

  #takeReason(reason, event) {
    if (reason.value !== "other") return this.onskip({ reason: reason.value, text: "" }, event);
    this.#askWords(reason, "", (text) => this.onskip({ reason: reason.value, text }, event));
  }

  #settle(part, option, words, event) {
    this.given[part.name] = option.value;
    delete this.given[`${part.name}_text`];
    if (words !== null) this.given[`${part.name}_text`] = words;
    const asked = this.#asked();
    const names = new Set(asked.flatMap((one) => [one.name, `${one.name}_text`]));
    for (const name of Object.keys(this.given)) if (!names.has(name)) delete this.given[name];
    this.active = asked.find((one) => !(one.name in this.given)) ?? null;
    if (this.active) this.#draw();
    else this.onanswer({ ...this.given }, event);
  }

  #reopen(part) {
    this.skipping = false;
    this.active = part;
    delete this.given[part.name];
    this.#draw();
  }

  #draw() {
    this.onpoint(null);
    const answered = this.#asked().filter((part) => part.name in this.given && part !== this.active);
    this.chips.replaceChildren(...answered.map((part) => this.#chip(part)));
    this.ask.replaceChildren(...(this.skipping ? [this.#skipRow()] : this.#partRow()));
  }

  #chip(part) {
    const chosen = part.options.find((one) => one.value === this.given[part.name]);
    const words = this.given[`${part.name}_text`] ?? chosen.label;
    const node = template("chip", { words }, { reopen: () => this.#reopen(part) }).firstElementChild;
    node.setAttribute("aria-label", said("change", { prompt: part.prompt, words }));
    node.dataset.tip = part.prompt;
    return node;
  }

  #partRow() {
    const { form } = this.card.question;
    const mark = this.#mark();
    const same = this.active.prompt.trim() === form.title.trim() && form.parts.length === 1;
    const prompt = el("div", { class: same && !mark?.tag ? "prompt hidden" : "prompt", id: "inpaintbench-prompt" },
      same ? null : el("span", {}, this.active.prompt), mark?.tag ? template(mark.tag) : null);
    const label = same ? { "aria-label": this.active.prompt } : { "aria-labelledby": "inpaintbench-prompt" };
    const row = el("div", { class: "options", role: "radiogroup", ...label, "data-part": this.active.name },
      ...this.active.options.map((option) => this.#button(option, mark)));
    row.style.setProperty("--count", this.active.options.length);
    return [prompt, row];
  }

  #skipRow() {
    const made = template("skip", {}, { back: () => this.skip(false) });
    const row = made.querySelector(".options");
    row.prepend(...this.card.skip_reasons.map((reason) => this.#button(reason, null)));
    row.style.setProperty("--count", row.children.length);
    return made;
  }

  #button(option, mark) {
    const chosen = mark?.value === option.value;
    const node = button({
      class: chosen ? "option marked" : "option", role: "radio", "aria-checked": String(chosen),
      "data-value": option.value, "aria-keyshortcuts": option.key, "aria-label": hasKeys() ? said("keyed", { label: option.label, key: option.key.toUpperCase() }) : option.label,
    }, (event) => this.#take(option, event), keycap(option.key), el("span", { class: "label" }, option.label.replace(/ %/g, "\u00a0%")), chosen && mark.tag ? el("span", { class: "tag" }, said(`tag-${mark.tag}`)) : null);
    node.style.flexGrow = Math.max(1, Math.sqrt(option.label.length / 8));
    const place = option.value.startsWith(PLACE) ? Number(option.value.slice(PLACE.length)) : null;
    node.addEventListener("pointerenter", () => this.onpoint(place));
    node.addEventListener("pointerleave", () => this.onpoint(null));
    node.ariaDisabled = String(this.locked && !this.skipping);
    return node;
  }

  /** A few words; Enter sends them, Escape goes back. */
  #askWords(option, before, then) {
    const row = template("words").firstElementChild;
    const field = row.querySelector("input");
    field.value = before;
    field.placeholder = field.ariaLabel = said("explain", { label: option.label });
    row.addEventListener("submit", (event) => {
      event.preventDefault();
      then(field.value.trim());
    });
    field.addEventListener("keydown", (event) => event.key === "Escape" && !event.isComposing && this.#draw());
    this.ask.querySelector(".options").replaceWith(row);
    field.focus();
  }
}

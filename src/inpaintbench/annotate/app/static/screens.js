/* What stands in the players' place between tasks, and what lies over them. */

import { hasKeys } from "./input.js";
import { HELP } from "./player/controls.js";
import { el, icon, keycap } from "./player/dom.js";
import { TEXT } from "./text.js";

const OTHER_KEYS = [["u", "Take the last answer back (also Backspace)"], ["s", "Skip, with a reason"], ["i", "The whole instruction, where it is cut"], ["Enter", "Take the marked answer"], ["t", "Narrow screens: the other players (also a swipe)"], ["?", "These keys"]];

/** A quiet message in the middle. `action`: [words, function]. */
export function message(title, text, action = null) {
  const button = action ? el("button", { type: "button", class: "primary", onclick: action[1] }, action[0]) : null;
  return el("div", { class: "message", role: "status" }, el("h2", {}, title), text ? el("p", {}, text) : null, button);
}

export function welcome(study, begin) {
  const button = el("button", { type: "button", class: "primary", onclick: begin }, TEXT.begin, keycap("Enter"));
  return el("div", { class: "message welcome" }, el("h2", {}, study.title), ...paragraphs(study.welcome),
    el("p", { class: "hint keys-shown" }, TEXT.welcomeKeys), el("p", { class: "hint keys-hidden" }, TEXT.welcomeTouch), button);
}

/** Text from a file: blank lines divide paragraphs, other line ends are where its writer's line was full, but before items of a list. */
export function paragraphs(text) {
  return text.split(/\n\s*\n/).filter((one) => one.trim()).map((one) => el("p", {}, one.trim().replace(/\n(?!\s*[-*•])/g, " ")));
}

/** One dialog at a time, over everything; keys do not reach what lies beneath. */
export class Dialog {
  constructor(root) {
    this.root = root;
    this.node = null;
  }

  get open() {
    return this.node !== null;
  }

  close() {
    if (!this.node) return;
    this.node.remove();
    this.node = null;
    this.before?.focus?.();
  }

  /** All keys; those of the answers of `form` first, where there is one. */
  help(form = null) {
    if (this.open) return this.close();
    const answers = (form?.parts ?? []).flatMap((part) => part.options.map((option) => [option.key, `${part.prompt} ${option.label}`]));
    const row = (mark, text) => el("div", { class: "row" }, el("dt", {}, mark), el("dd", {}, text));
    const rows = hasKeys()
      ? [...answers, ...HELP, ...OTHER_KEYS].map(([key, text]) => row(keycap(key), text))
      : HELP.filter(([, , drawing]) => drawing).map(([, text, drawing]) => row(icon(drawing), text.split(/ \(|;/)[0]));
    const hint = hasKeys() ? `${TEXT.wheel} ${TEXT.touch}` : TEXT.touch;
    this.#show(hasKeys() ? TEXT.helpTitle : TEXT.helpTouchTitle, [el("dl", { class: "keys" }, ...rows), el("p", { class: "hint" }, hint)],
      [el("button", { type: "button", class: "primary", onclick: () => this.close() }, TEXT.close, keycap("Escape"))]);
  }

  /** A few ways to go, and the one to stay. `ways`: [words, function]. */
  choose(text, stay, ways) {
    const buttons = ways.map(([words, then]) => el("button", { type: "button", class: "secondary", onclick: () => (this.close(), then()) }, words));
    this.#show(text, [], [...buttons, el("button", { type: "button", class: "primary", onclick: () => this.close() }, stay)]);
  }

  confirm(text, stay, go, then) {
    const leave = el("button", { type: "button", class: "secondary", onclick: () => (this.close(), then()) }, go);
    this.#show(text, [], [leave, el("button", { type: "button", class: "primary", onclick: () => this.close() }, stay)]);
  }

  #show(title, content, buttons) {
    this.close();
    this.before = document.activeElement;
    const box = el("div", { class: "box", role: "dialog", "aria-modal": "true", "aria-label": title, tabindex: "-1" },
      el("h2", {}, title), ...content, el("div", { class: "buttons" }, ...buttons));
    this.node = el("div", { class: "veil" }, box);
    this.node.addEventListener("pointerdown", (event) => event.target === this.node && this.close());
    this.node.addEventListener("keydown", (event) => event.key === "Tab" && keepInside(event, box));
    this.root.append(this.node);
    buttons[buttons.length - 1].focus();
  }
}

function keepInside(event, box) {
  const buttons = [...box.querySelectorAll("button")];
  const at = buttons.indexOf(document.activeElement) + (event.shiftKey ? -1 : 1);
  event.preventDefault();
  buttons[(at + buttons.length) % buttons.length].focus();
}

/** Short notes that go by themselves, spoken too. */
export class Toasts {
  constructor(root) {
    this.root = root;
  }

  say(text, { bad = false, seconds = 4 } = {}) {
    const note = el("div", { class: bad ? "toast bad" : "toast" }, text);
    this.root.append(note);
    while (this.root.children.length > 3) this.root.firstChild.remove();
    setTimeout(() => note.remove(), seconds * 1000 * (bad ? 2 : 1));
  }
}

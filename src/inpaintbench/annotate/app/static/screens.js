/* What stands in the players' place between tasks, and what lies over them. */

import { hasKeys } from "./input.js";
import { HELP } from "./player/controls.js";
import { button, el, icon, keycap } from "./player/dom.js";
import { TEXT } from "./text.js";

const OTHER_KEYS = [["u", "Take the last answer back (also Backspace)"], ["s", "Skip, with a reason"], ["i", "The whole instruction, where it is cut"], ["Enter", "Take the marked answer"], ["t", "Narrow screens: the other players (also a swipe)"], ["?", "These keys"]];

/** A quiet message in the middle. `action`: [words, function]. */
export function message(title, text, action = null) {
  const way = action ? button({ class: "primary" }, action[1], action[0]) : null;
  return el("div", { class: "message", role: "status" }, el("h2", {}, title), text ? el("p", {}, text) : null, way);
}

export function welcome(study, begin) {
  return el("div", { class: "message welcome" }, el("h2", {}, study.title), ...paragraphs(study.welcome),
    el("p", { class: "hint keys-shown" }, TEXT.welcomeKeys), el("p", { class: "hint keys-hidden" }, TEXT.welcomeTouch),
    button({ class: "primary" }, begin, TEXT.begin, keycap("Enter")));
}

/** Text from a file: blank lines divide paragraphs, other line ends are where its writer's line was full, but before items of a list. */
export const paragraphs = (text) => text.split(/\n\s*\n/).filter((one) => one.trim()).map((one) => el("p", {}, one.trim().replace(/\n(?!\s*[-*•])/g, " ")));

/** One dialog at a time, over everything; the browser keeps the focus inside, and gives it back. */
export class Dialog {
  constructor(root) {
    this.root = root;
    this.node = null;
  }

  get open() {
    return this.node !== null;
  }

  close() {
    const { node } = this;
    this.node = null;
    node?.close();
    node?.remove();
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
      [button({ class: "primary" }, () => this.close(), TEXT.close, keycap("Escape"))]);
  }

  /** A few ways to go, and the one to stay. `ways`: [words, function]. */
  choose(text, stay, ways) {
    const buttons = ways.map(([words, then]) => button({ class: "secondary" }, () => (this.close(), then()), words));
    this.#show(text, [], [...buttons, button({ class: "primary" }, () => this.close(), stay)]);
  }

  #show(title, content, buttons) {
    this.close();
    const box = el("div", { class: "box" }, el("h2", {}, title), ...content, el("div", { class: "buttons" }, ...buttons));
    const node = el("dialog", { class: "veil", "aria-label": title }, box);
    node.addEventListener("pointerdown", (event) => event.target === node && this.close());
    node.addEventListener("close", () => this.node === node && this.close());
    this.node = node;
    this.root.append(node);
    node.showModal();
    buttons[buttons.length - 1].focus();
  }
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

/* What comes and goes on the page: parts of its markup, dialogs over it, and short notes. */

import { el, keycap, onPress } from "./player/dom.js";

/** A copy of the template `part-NAME`. Places take the text or nodes of their names, and keep their own words without; what is
    `with` a name goes without; buttons do the actions of their names. */
export function part(name, texts = {}, actions = {}) {
  const made = document.getElementById(`part-${name}`).content.cloneNode(true);
  for (const place of made.querySelectorAll("[data-with]")) if (!texts[place.dataset.with]) place.remove();
  for (const place of made.querySelectorAll("[data-text]")) {
    const text = texts[place.dataset.text];
    if (text) place.replaceChildren(...[text].flat());
  }
  for (const node of made.querySelectorAll("[data-action]")) onPress(node, actions[node.dataset.action]);
  return made;
}

/** The words of a template alone. */
export const said = (name, texts) => part(name, texts).textContent;

/** Text from a file: blank lines divide paragraphs, other line ends are where its writer's line was full, but before items of a list. */
export const paragraphs = (text) => text.split(/\n\s*\n/).filter((one) => one.trim()).map((one) => el("p", {}, one.trim().replace(/\n(?!\s*[-*•])/g, " ")));

/** One dialog at a time, over everything; the browser keeps the focus inside, and gives it back. */
export class Dialog {
  constructor(root) {
    this.root = root;
  }

  get open() {
    return this.root.querySelector("dialog[open]");
  }

  close(node = this.open) {
    node?.close();
    node?.remove();
  }

  /** Every button of it closes it. */
  show(name, actions = {}) {
    this.close();
    const node = part(name, {}, actions).firstElementChild;
    node.addEventListener("click", (event) => event.target.closest("button") && this.close(node));
    node.addEventListener("pointerdown", (event) => event.target === node && this.close(node));
    node.addEventListener("close", () => node.remove());
    this.root.append(node);
    node.showModal();
  }

  /** All keys; those of the answers of `form` first, where there is one. */
  help(form = null) {
    if (this.open) return this.close();
    this.show("help");
    const answers = (form?.parts ?? []).flatMap((one) => one.options.map((option) => [option.key, `${one.prompt} ${option.label}`]));
    const rows = answers.map(([key, text]) => el("div", { class: "row" }, el("dt", {}, keycap(key)), el("dd", {}, text)));
    this.open.querySelector(".keys").prepend(...rows);
  }
}

/** A short note that goes by itself, spoken too. */
export function toast(root, text, { bad = false, seconds = 4 } = {}) {
  const note = el("div", { class: bad ? "toast bad" : "toast" }, text);
  root.append(note);
  while (root.children.length > 3) root.firstElementChild.remove();
  setTimeout(() => note.remove(), seconds * 1000 * (bad ? 2 : 1));
}

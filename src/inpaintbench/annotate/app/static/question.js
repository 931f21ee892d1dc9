/* The question: its title and instruction, and the words that the task is about. */

import { onPress } from "./player/dom.js";

export class Question {
  constructor(root) {
    this.root = root;
    [this.title, this.more, this.note, this.quote] = root.children;
    onPress(this.more, () => this.#turn());
    this.note.addEventListener("click", () => this.#turn());
    new ResizeObserver(() => this.#look()).observe(this.note);
  }

  show({ question, prompt }) {
    this.title.textContent = question.form.title;
    this.note.textContent = question.form.instruction;
    this.quote.textContent = prompt ?? "";
    this.#turn(false);
    this.#look();
  }

  /** Open or close the instruction where not all of it fits; says whether there is anything to open. */
  readAll() {
    if (!this.more.hidden) this.#turn();
    return !this.more.hidden;
  }

  #turn(whole = !this.root.classList.contains("whole")) {
    this.root.classList.toggle("whole", whole);
    this.more.setAttribute("aria-expanded", String(whole));
  }

  #look() {
    this.more.hidden = !this.root.classList.contains("whole") && this.note.scrollHeight <= this.note.clientHeight + 1;
  }
}

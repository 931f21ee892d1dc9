/* The page's parts in the order of the screen: bar, question, player, answers. */

import { button, el, icon, keycap } from "./player/dom.js";
import { TEXT } from "./text.js";

/** Empty `root` and fill it, with `player`, an element, in the middle; returns the nodes by name. */
export function frame(root, player, { onundo, onskip }) {
  const nodes = {
    top: el("header", { class: "top" }),
    question: el("div", { class: "question", "aria-live": "polite" }),
    gate: el("div", { class: "gate" }),
    chips: el("div", { class: "chips" }),
    form: el("div", { class: "form" }),
    toasts: el("div", { class: "toasts", role: "status", "aria-live": "polite" }),
  };
  const undo = side("undo", "Undo", "u", "Take the last answer back", onundo);
  const skip = side("skip", "Skip", "s", "Skip this one", onskip);
  nodes.panel = el("section", { class: "panel" },
    el("div", { class: "left" }, nodes.gate, nodes.chips), nodes.form, el("div", { class: "sides" }, undo, skip));
  root.replaceChildren(nodes.top, nodes.question, el("main", {}, player), nodes.panel, nodes.toasts);
  return nodes;
}

/** The question's title and instruction (a button opens what does not fit), and the words that the task is about. */
export function drawQuestion(node, { question, prompt }) {
  const { title, instruction } = question.form;
  node.classList.remove("whole");
  node.replaceChildren(el("h2", {}, title), ...(instruction ? clamped(node, instruction) : []), ...(prompt ? [quote(prompt)] : []));
}

/** Open or close the instruction where not all of it fits; says whether there is anything to open. */
export function readAll(node) {
  const more = node.querySelector(".more:not([hidden])");
  more?.click();
  return Boolean(more);
}

/** A text of a few lines, and the button that shows the others where there are any. */
function clamped(node, text) {
  const note = el("p", {}, text);
  const word = el("span", {}, TEXT.more);
  const toggle = () => {
    const whole = node.classList.toggle("whole");
    word.textContent = whole ? TEXT.less : TEXT.more;
    more.setAttribute("aria-expanded", String(whole));
  };
  const more = button({ class: "plain more", "aria-expanded": "false", "aria-keyshortcuts": "i", hidden: true }, toggle, word, keycap("i"));
  note.addEventListener("click", toggle);
  new ResizeObserver(() => (more.hidden = !node.classList.contains("whole") && note.scrollHeight <= note.clientHeight + 1)).observe(note);
  return [more, note];
}

/** Written by the people who made the study: text and nothing else, to be selected and copied. */
const quote = (words) => el("blockquote", { class: "quote", "aria-label": "Prompt", tabindex: "0" }, words);

function side(name, word, key, label, action) {
  return button({ class: `plain side ${name}`, "aria-label": label, "data-tip": label, "aria-keyshortcuts": key }, action,
    icon(name), el("span", { class: "word" }, word), keycap(key));
}

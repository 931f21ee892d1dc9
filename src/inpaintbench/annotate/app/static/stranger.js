/* Screens of people whom a platform sent: consent, what practice says, a break, reading again, and the way back with a code. */

import { el } from "./player/dom.js";
import { paragraphs, part, said } from "./screens.js";

const RETURN_SECONDS = 10;

/** Consent: the whole text, and two buttons of equal size. `onanswer(agrees)`. */
export function consent({ title }, text, onanswer) {
  return part("consent", { title, text: paragraphs(text) }, { disagree: () => onanswer(false), agree: () => onanswer(true) });
}

/** After an answer of practice: whether it was right, what was, and why; and after the last one what comes next. */
export function explained({ right, answers, why }, { crowd, progress }, next) {
  const tasks = crowd?.stage === "testing" && progress.total - progress.answered;
  return part("practice", { right, wrong: !right, answers: !right && answers.join(" / "), why, tasks }, { next });
}

/** A break with a clock; `ondone()` at its end. */
export function rest(seconds, ondone) {
  const made = part("rest");
  countdown(seconds, made.querySelector(".countdown"), (left) => `${left} s`, ondone);
  return made;
}

/** Too many known answers were missed: what is asked, once more. */
export function reread({ welcome }, instructions, read) {
  return part("reread", { text: [...paragraphs(welcome), ...instructions.map((one) => el("p", {}, one))] }, { read });
}

/** The end: a sentence, the code with a button to copy it, and the way back, which is taken by itself after a while. */
export function ended({ outcome, text, code, back, post }) {
  const completed = outcome === "completed";
  const returns = Boolean(back || post);
  const go = ({ currentTarget }) => {
    currentTarget.disabled = true;
    if (post) handIn(post);
    else location.assign(back);
  };
  const copy = ({ currentTarget }) => {
    const copied = () => (currentTarget.textContent = said("copied"));
    const select = () => getSelection().selectAllChildren(currentTarget.previousElementSibling);
    // On plain http there is no clipboard.
    navigator.clipboard?.writeText(code).then(copied, select) ?? select();
  };
  const made = part("ended", { completed, cut_short: !completed, text, code, returns }, { copy, return: go });
  const button = made.querySelector(".primary");
  if (returns) countdown(RETURN_SECONDS, button, (left) => said(left > 0 ? "go" : "going", { left }), () => button.click());
  return made;
}

/** Say in `node` what is left, and act at the end unless it is gone from the page by then. */
function countdown(seconds, node, words, then) {
  const end = performance.now() + seconds * 1000;
  const tick = () => {
    const left = Math.max(0, Math.ceil((end - performance.now()) / 1000));
    node.textContent = words(left);
    if (left > 0) setTimeout(tick, 250);
    else if (node.isConnected) then();
  };
  tick();
}

/** The platform takes a form, sent by the page itself. */
function handIn({ action, fields }) {
  const inputs = Object.entries(fields).map(([name, value]) => el("input", { type: "hidden", name, value }));
  const form = el("form", { method: "post", action }, ...inputs);
  document.body.append(form);
  form.submit();
}

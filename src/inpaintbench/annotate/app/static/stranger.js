/* Screens of people whom a platform sent: consent, what practice says, a break, reading again, and the way back with a code. */

import { button, el, keycap } from "./player/dom.js";
import { paragraphs } from "./screens.js";
import { TEXT } from "./text.js";

const RETURN_SECONDS = 10;

/** Consent: the whole text, and two buttons of equal size. `onanswer(agrees)`. */
export function consent({ title }, text, onanswer) {
  const answer = (agrees, label) => button({ class: "secondary even" }, () => onanswer(agrees), label);
  return el("div", { class: "message welcome consent", role: "region", "aria-label": TEXT.consentTitle },
    el("h2", {}, title), ...paragraphs(text), el("div", { class: "pair" }, answer(false, TEXT.disagree), answer(true, TEXT.agree)));
}

/** After an answer of practice: whether it was right, what was, and why; and after the last one what comes next. */
export function explained({ right, answers, why }, { crowd, progress }, onnext) {
  const next = button({ class: "primary" }, onnext, TEXT.next, keycap("Enter"));
  return el("div", { class: "message practice", role: "status" },
    el("h2", {}, right ? TEXT.practiceRight : TEXT.practiceWrong),
    right ? null : el("p", {}, `${TEXT.practiceAnswer} ${answers.join(TEXT.or)}`), why ? el("p", {}, why) : null,
    crowd?.stage === "testing" ? el("p", {}, TEXT.testNext(progress.total - progress.answered)) : null, next);
}

/** A break with a clock; `ondone()` at its end. */
export function rest(seconds, ondone) {
  const clock = el("p", { class: "countdown", "aria-live": "off" });
  countdown(seconds, clock, (left) => `${left} s`, ondone);
  return el("div", { class: "message", role: "status" }, el("h2", {}, TEXT.restTitle), el("p", {}, TEXT.restText), clock);
}

/** Too many known answers were missed: what is asked, once more. */
export function reread({ welcome }, instructions, onread) {
  return el("div", { class: "message welcome", role: "status" }, el("h2", {}, TEXT.rereadTitle), el("p", {}, TEXT.rereadText),
    ...paragraphs(welcome), ...instructions.map((one) => el("p", {}, one)), button({ class: "primary" }, onread, TEXT.rereadAction));
}

/** The end: a sentence, the code with a button to copy it, and the way back, which is taken by itself after a while. */
export function ended({ outcome, text, code, back, post }) {
  const parts = [el("h2", {}, outcome === "completed" ? TEXT.doneTitle : TEXT.endedTitle), el("p", {}, text)];
  if (code) {
    const shown = el("code", { class: "code", tabindex: "0" }, code);
    const copied = () => (copy.textContent = TEXT.copied);
    const select = () => getSelection().selectAllChildren(shown);
    // On plain http there is no clipboard.
    const copy = button({ class: "secondary" }, () => navigator.clipboard?.writeText(code).then(copied, select) ?? select(), TEXT.copy);
    parts.push(el("p", {}, TEXT.codeSaid), el("div", { class: "pair" }, shown, copy));
  }
  if (back || post) {
    const go = once(() => (post ? handIn(post) : location.assign(back)));
    const words = el("span", {});
    parts.push(button({ class: "primary" }, go, words));
    countdown(RETURN_SECONDS, words, TEXT.goBack, go);
  }
  return el("div", { class: "message ended", role: "status" }, ...parts);
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

function once(action) {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    action();
  };
}

/* Screens of people whom a platform sent: consent, what practice says, a break, reading again, and the way back with a code. */

import { el, keycap } from "./player/dom.js";
import { paragraphs } from "./screens.js";
import { TEXT } from "./text.js";

const RETURN_SECONDS = 10;

/** Consent: the whole text, and two buttons of equal size. `onanswer(agrees)`. */
export function consent({ title }, text, onanswer) {
  const answer = (agrees, label) => el("button", { type: "button", class: "secondary even", onclick: () => onanswer(agrees) }, label);
  return el("div", { class: "message welcome consent", role: "region", "aria-label": TEXT.consentTitle },
    el("h2", {}, title), ...paragraphs(text), el("div", { class: "pair" }, answer(false, TEXT.disagree), answer(true, TEXT.agree)));
}

/** After an answer of practice: whether it was right, what was, and why; and after the last one what comes next. */
export function explained({ right, answers, why }, { crowd, progress }, onnext) {
  const next = el("button", { type: "button", class: "primary", onclick: onnext }, TEXT.next, keycap("Enter"));
  return el("div", { class: "message practice", role: "status" },
    el("h2", {}, right ? TEXT.practiceRight : TEXT.practiceWrong),
    right ? null : el("p", {}, `${TEXT.practiceAnswer} ${answers.join(TEXT.or)}`), why ? el("p", {}, why) : null,
    crowd?.stage === "testing" ? el("p", {}, TEXT.testNext(progress.total - progress.answered)) : null, next);
}

/** A break with a clock; `ondone()` at its end. */
export function rest(seconds, ondone) {
  const clock = el("p", { class: "countdown", "aria-live": "off" });
  const end = performance.now() + seconds * 1000;
  const tick = () => {
    const left = Math.ceil((end - performance.now()) / 1000);
    if (!clock.isConnected && left < seconds - 1) return;
    clock.textContent = `${Math.max(0, left)} s`;
    if (left > 0) setTimeout(tick, 250);
    else ondone();
  };
  setTimeout(tick, 0);
  return el("div", { class: "message", role: "status" }, el("h2", {}, TEXT.restTitle), el("p", {}, TEXT.restText), clock);
}

/** Too many known answers were missed: what is asked, once more. */
export function reread({ welcome }, instructions, onread) {
  const button = el("button", { type: "button", class: "primary", onclick: onread }, TEXT.rereadAction);
  return el("div", { class: "message welcome", role: "status" }, el("h2", {}, TEXT.rereadTitle), el("p", {}, TEXT.rereadText),
    ...paragraphs(welcome), ...instructions.map((one) => el("p", {}, one)), button);
}

/** The end: a sentence, the code with a button to copy it, and the way back, which is taken by itself after a while. */
export function ended({ outcome, text, code, back, post }) {
  const parts = [el("h2", {}, outcome === "completed" ? TEXT.doneTitle : TEXT.endedTitle), el("p", {}, text)];
  if (code) {
    const shown = el("code", { class: "code", tabindex: "0" }, code);
    const copy = el("button", { type: "button", class: "secondary" }, TEXT.copy);
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code);
        copy.textContent = TEXT.copied;
      } catch {
        getSelection().selectAllChildren(shown);
      }
    });
    parts.push(el("p", {}, TEXT.codeSaid), el("div", { class: "pair" }, shown, copy));
  }
  if (back || post) {
    const go = once(() => (post ? handIn(post) : location.assign(back)));
    const words = el("span", {});
    const node = el("button", { type: "button", class: "primary", onclick: go }, words);
    parts.push(node);
    countdown(RETURN_SECONDS, node, (left) => (words.textContent = TEXT.goBack(left)), go);
  }
  return el("div", { class: "message ended", role: "status" }, ...parts);
}

function countdown(seconds, node, show, then) {
  const end = performance.now() + seconds * 1000;
  const tick = () => {
    const left = Math.ceil((end - performance.now()) / 1000);
    show(Math.max(0, left));
    if (left <= 0) return node.isConnected && then();
    setTimeout(tick, 250);
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

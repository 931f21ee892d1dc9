/* The rater's page: one card after the other, answers kept until the server has them. */

import { followInput } from "./input.js";
import { Outbox, post } from "./outbox.js";
import { onPress } from "./player/dom.js";
import { listen } from "./player/keys.js";
import { Player } from "./player/player.js";
import { Queue } from "./queue.js";
import { remembered } from "./remembered.js";
import { Dialog, paragraphs, part, toast } from "./screens.js";
import { Stage } from "./stage.js";
import { consent, ended, explained, reread, rest } from "./stranger.js";
import { TopBar } from "./topbar.js";

const ASK_AGAIN_MS = 10_000;
const RENEW_MS = 240_000;
const RETRY_MS = 3_000;
/* Tasks in hand: at first, and at most. */
const FEW = 2;
const MANY = 10;

class Page {
  constructor(root, player) {
    followInput(root);
    // The whole component moves: its styles hold inside it.
    root.querySelector("main").replaceChildren(player.root.parentElement);
    for (const node of root.querySelectorAll("[data-action]")) onPress(node, () => this[node.dataset.action]());
    this.root = root;
    this.again = { again: () => this.renew() };
    this.dialog = new Dialog(root);
    this.toast = (text, manner) => toast(root.querySelector(".toasts"), text, manner);
    this.topBar = new TopBar(root.querySelector(".top"), root);
    this.stage = new Stage(root, player, this);
    this.queue = new Queue();
    this.outbox = new Outbox(this);
    this.outbox.addEventListener("change", () => this.connection());
    /* `onward`: what Enter does on a screen that was to be read. */
    Object.assign(this, { work: null, lastCard: null, onward: null, greeted: false, instructions: new Set(), timer: null, room: FEW });
    listen((key, event) => this.press(key, event), (key) => player.release(key));
    window.addEventListener("beforeunload", (event) => this.outbox.size && event.preventDefault());
    for (const name of ["online", "offline"]) window.addEventListener(name, () => this.connection());
    // The page's words come from the server; what is in hand and what waits are there again.
    window.addEventListener("languagechange", () => location.reload());
    setInterval(() => !document.hidden && this.card && this.renew(), RENEW_MS);
  }

  get card() {
    return this.stage.card;
  }

  async begin() {
    this.stage.say(part("loading"));
    await this.renew();
  }

  /** Ask the server for work; says so and tries again where it does not answer. */
  async renew() {
    clearTimeout(this.timer);
    const { status, body } = await post("/api/work", this.room > FEW ? { ahead: this.room } : {});
    if (status === 200) return this.take(body);
    if (status === 401) return this.signedOut();
    if (status === 403) return this.somebodyElse();
    if (!this.card && (status === 0 || status >= 500 || status === 429)) this.stage.say(this.gone());
    else if (!this.card) this.stage.say(part("refused", { title: body?.error ?? `${status}` }, this.again));
    this.timer = setTimeout(() => this.renew(), RETRY_MS);
  }

  /** Fit the server's account of things to what is shown. */
  take(work, { switchTo = null } = {}) {
    const first = this.work === null;
    const owner = `${work.study.study_id}\n${work.rater.rater_id}`;
    if (!first && this.outbox.owner !== owner) return this.somebodyElse();
    this.work = work;
    this.stage.seen.limits = { width: work.study.least_width ?? 0, scale: work.study.least_scale ?? 0 };
    if (first || this.outbox.blocked) this.outbox.open(owner);
    for (const lease of this.outbox.leases) this.queue.done.add(lease);
    const shown = switchTo ? null : this.card;
    this.queue.renew(work.queue, shown);
    this.topBar.show(work, this.unsent());
    for (const card of work.queue) this.instructions.add(card.question.form.instruction);
    // Strangers agree first.
    const greets = !this.greeted && (!work.crowd || work.status === "working");
    this.greeted ||= greets;
    const known = work.progress.answered > 0 || remembered.get("welcomed") === work.study.title;
    if (greets && work.study.welcome && !known) return this.greet();
    if (work.status === "paused") return this.paused(work.message);
    if (work.crowd && work.status !== "working" && !this.onward) return this.stranger(work);
    if (switchTo || (!this.card && !this.onward)) this.advance();
    else this.prepare();
  }

  /** Where somebody whom a platform sent is not at work: agreeing, resting, reading again, or at the end. */
  stranger({ status, study, crowd }) {
    clearTimeout(this.timer);
    if (status === "consent") this.stage.say(consent(study, crowd.text, (answer) => this.step({ step: "consent", answer })));
    else if (status === "resting") this.stage.say(rest(crowd.seconds, () => this.renew()));
    else if (status === "rereading") this.stage.say(reread(study, [...this.instructions], () => this.step({ step: "reread" })));
    else this.stage.say(ended(crowd));
  }

  async step(fields) {
    const { status, body } = await post("/api/steps", fields);
    if (status === 200) return this.take(body);
    if (status === 401) return this.signedOut();
    this.toast(body?.error ?? part("unanswered"), { bad: true });
  }

  /** Practice: the next task comes when this was read. */
  explain(said, work) {
    this.stage.say(explained(said, work, this.read(() => this.take(work))));
  }

  stop() {
    const sure = () => this.step({ step: "withdraw", sure: true });
    const erase = () => this.dialog.show("sure", { erase: sure });
    this.dialog.show(this.work?.crowd?.stage === "ended" ? "withdraw" : "stop", { erase, leave: () => this.step({ step: "leave" }) });
  }

  paused(text) {
    this.stage.say(part("paused", { text }, this.again));
    this.timer = setTimeout(() => this.renew(), ASK_AGAIN_MS);
  }

  /** The next card, at once where its first picture is there already. */
  advance() {
    const card = this.queue.next();
    if (!card) return this.idle();
    clearTimeout(this.timer);
    this.stage.show(card);
  }

  /** No card at hand: one is coming, others are at work, or all is done. */
  idle() {
    const { status, message: text } = this.work;
    if (this.outbox.size) return this.stage.say(this.cut ? this.gone() : part("quick"));
    if (status === "done") return this.stage.say(part("done", { text }));
    this.stage.say(status === "waiting" ? part("waiting", { text }, this.again) : part("loading"));
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.renew(), status === "waiting" ? ASK_AGAIN_MS : RETRY_MS);
  }

  /** Load the next card's media; the last one's are kept for taking back. Whoever is at work and has room gets one task more. */
  async prepare() {
    const { cards } = this.queue;
    await this.stage.prepare(cards, this.lastCard);
    const filled = cards === this.queue.cards && cards.length >= this.room - 1 && this.stage.hasRoomAfter(cards);
    if (!filled || !this.lastCard || this.room >= MANY || this.cut) return;
    this.room += 1;
    await this.renew();
  }

  /** Nothing is lost while the network or the server is gone; says which, and how much waits. */
  gone() {
    return part(navigator.onLine === false ? "offline" : "gone", { kept: this.outbox.size }, { again: () => this.retry() });
  }

  retry() {
    this.outbox.retry();
    this.renew();
  }

  /** Put what was done into the outbox and go on without waiting for anybody. */
  finish(route, fields) {
    const card = this.card;
    this.lastCard = card;
    this.queue.finish(card.lease_id);
    if (route === "answers") this.work.progress.answered += 1;
    this.outbox.add(route, { lease_id: card.lease_id, revision: card.revision, ...fields }, { card });
    this.advance();
    this.topBar.show(this.work, this.unsent());
  }

  skip() {
    this.stage.form.skip();
  }

  help() {
    this.dialog.help(this.card?.question.form);
  }

  undo() {
    if (this.stage.form.back()) return;
    const { last } = this.outbox;
    if (last?.route === "undos") return;
    const undoes = last?.id ?? this.work?.progress.undoable;
    if (last && this.outbox.withdraw(last)) return this.restore(last);
    if (!undoes) return this.toast(part("nothing-to-undo"));
    this.outbox.add("undos", { undoes });
    if (this.cut) this.toast(part("undo-later"));
  }

  /** An answer that never left this page: its card is simply asked again. */
  restore(entry) {
    if (this.card) this.queue.putFirst(this.card);
    this.queue.putFirst({ ...entry.note.card, previous: entry.fields.given ?? null });
    if (entry.route === "answers") this.work.progress.answered -= 1;
    this.topBar.show(this.work, this.unsent());
    this.advance();
  }

  stored(entry, body) {
    if (body.feedback && body.work) {
      this.explain(body.feedback, body.work);
      return this.topBar.show(body.work, this.unsent());
    }
    if (body.suggestion) this.sayMeasurement(entry.note?.card, body.suggestion);
    if (!body.work) return this.renew();
    const undone = entry.route === "undos";
    if (undone && body.work.queue[0]?.previous) this.queue.reopen(body.work.queue[0].lease_id);
    if (undone) this.toast(part("taken-back"), { seconds: 2 });
    this.take(body.work, { switchTo: undone ? body.work.queue[0] : null });
  }

  refused(entry, sentence) {
    this.toast(part(`refused-${entry.route}`, { sentence }), { bad: true });
    // Where only the answer was not good, the server offers the task again.
    if (entry.fields.lease_id) this.queue.reopen(entry.fields.lease_id);
    this.renew();
  }

  sayMeasurement(card, { part: name, value }) {
    const options = card?.question.form.parts.find((one) => one.name === name)?.options ?? [];
    this.toast(part("measurement", { label: options.find((one) => one.value === value)?.label ?? value }));
  }

  signedOut() {
    this.block("signed-out", () => location.assign("/login"));
  }

  /** Another link was opened in this browser: this page is theirs no longer, and what it keeps waits for its own rater. */
  somebodyElse() {
    this.block("other", () => location.reload());
  }

  block(name, enter) {
    this.outbox.blocked = true;
    this.connection();
    this.stage.say(part(name, {}, { enter }));
  }

  async leave() {
    const go = () => post("/logout", {}).then(() => location.assign("/login"));
    if (this.outbox.size) this.dialog.show("leave", { leave: go });
    else await go();
  }

  greet() {
    const { title, welcome } = this.work.study;
    const begin = this.read(() => {
      remembered.set("welcomed", title);
      this.take(this.work);
    });
    this.stage.say(part("welcome", { title, text: paragraphs(welcome) }, { begin }));
    this.prepare();
  }

  /** A screen is to be read, until its button or Enter is pressed: returns what these do, once. */
  read(then) {
    this.onward = () => {
      this.onward = null;
      then();
    };
    return () => this.onward?.();
  }

  press(key, event) {
    if (key === null) return false;
    if (key === "?" || (key === "Escape" && this.dialog.open)) return this.dialog.open ? this.dialog.close() : this.help(), true;
    if (this.dialog.open) return false;
    if (this.onward) return key === "Enter" && (this.onward(), true);
    if (key === "u" || key === "Backspace") return this.undo(), true;
    if (!this.card) return false;
    if (key === "s") return this.skip(), true;
    if (key === "i") return this.stage.question.readAll();
    return this.stage.press(key, event);
  }

  get cut() {
    return navigator.onLine === false || this.outbox.failures > 0;
  }

  unsent() {
    return { count: this.outbox.size, blocked: this.outbox.blocked, failing: this.cut };
  }

  connection() {
    this.topBar.connect(this.unsent());
    if (!this.card && this.work && this.outbox.size && !this.outbox.blocked && !this.onward) this.idle();
  }
}

/** Put the page's markup into its box, around the component of the player; `element` holds both. */
export function start(element, markup) {
  const player = element.querySelector(".comparison");
  element.querySelector("#rater-page").outerHTML = markup;
  const root = element.querySelector("#rater-page");
  Object.assign(document.documentElement, { lang: root.lang, dir: root.dir });
  const page = new Page(root, new Player(player));
  window.raterPage = { page };
  page.begin();
}

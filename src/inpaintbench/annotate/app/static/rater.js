/* The rater's page: one card after the other, answers kept until the server has them. */

import { frame, readAll } from "./frame.js";
import { followInput } from "./input.js";
import { Outbox, post } from "./outbox.js";
import { playerIn } from "./player/gradio.js";
import { listen } from "./player/keys.js";
import { Queue } from "./queue.js";
import { remembered } from "./remembered.js";
import { Dialog, message, Toasts, welcome } from "./screens.js";
import { Stage } from "./stage.js";
import { consent, ended, explained, reread, rest } from "./stranger.js";
import { keptUntilBack, measurementSaid, TEXT } from "./text.js";
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
    const nodes = frame(root, player.root.parentElement, { onundo: () => this.undo(), onskip: () => this.stage.form.skip() });
    this.root = root;
    this.dialog = new Dialog(root);
    this.toasts = new Toasts(nodes.toasts);
    const help = () => this.dialog.help(this.card?.question.form);
    this.topBar = new TopBar(nodes.top, { page: root, onhelp: help, onleave: () => this.leave(), onstop: () => this.stop(), onretry: () => this.tryNow() });
    this.stage = new Stage(root, nodes, player, {
      onanswer: (fields) => this.finish("answers", fields),
      onskip: (fields, event) => {
        this.stage.latency.pressed(event);
        this.finish("skips", fields);
      },
      onplaying: () => this.prepare(),
    });
    this.queue = new Queue();
    this.outbox = new Outbox({
      onstored: (entry, body) => this.stored(entry, body),
      onrefused: (entry, sentence) => this.refused(entry, sentence),
      onsignedout: () => this.signedOut(),
      onother: () => this.somebodyElse(),
    });
    this.outbox.addEventListener("change", () => this.connection());
    this.work = null;
    this.lastCard = null;
    this.greeting = null;
    this.greeted = false;
    this.explaining = null;
    this.instructions = new Set();
    this.timer = null;
    this.room = FEW;
    listen((key, event) => this.press(key, event), (key) => player.release(key));
    window.addEventListener("beforeunload", (event) => this.outbox.size && event.preventDefault());
    window.addEventListener("online", () => this.connection());
    window.addEventListener("offline", () => this.connection());
    setInterval(() => !document.hidden && this.card && this.renew(), RENEW_MS);
  }

  get card() {
    return this.stage.card;
  }

  async begin() {
    this.stage.say(message(TEXT.loading, ""));
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
    else if (!this.card) this.stage.say(message(body?.error ?? `${status}`, "", [TEXT.lookNow, () => this.renew()]));
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
    if (greets && work.study.welcome && !this.welcomed()) return this.greet();
    if (work.status === "paused") return this.paused(work.message);
    if (work.crowd && work.status !== "working" && !this.explaining) return this.stranger(work);
    if (this.explaining) return;
    if (switchTo || (!this.card && !this.greeting)) this.advance();
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
    this.toasts.say(body?.error ?? TEXT.noServer, { bad: true });
  }

  /** Practice: the next task comes when this was read. */
  explain(said, work) {
    this.explaining = () => {
      this.explaining = null;
      this.take(work);
    };
    this.stage.say(explained(said, work, () => this.explaining?.()));
  }

  stop() {
    const erase = [TEXT.stopAndErase, () => this.step({ step: "withdraw" })];
    if (this.work?.crowd?.stage === "ended") return this.dialog.choose(TEXT.withdrawTitle, TEXT.close, [erase]);
    this.dialog.choose(TEXT.stopTitle, TEXT.goOn, [[TEXT.stopAndReturn, () => this.step({ step: "leave" })], erase]);
  }

  paused(said) {
    this.stage.say(message(TEXT.pausedTitle, said || TEXT.pausedText, [TEXT.lookNow, () => this.renew()]));
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
    const { status, message: said } = this.work;
    if (this.outbox.size) return this.stage.say(this.cut ? this.gone() : message(TEXT.quick, TEXT.quickText));
    if (status === "done") return this.stage.say(message(TEXT.doneTitle, said || TEXT.doneText));
    if (status === "waiting") this.stage.say(message(TEXT.waitingTitle, said || TEXT.waitingText, [TEXT.lookNow, () => this.renew()]));
    else this.stage.say(message(TEXT.loading, ""));
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
    const title = navigator.onLine === false ? TEXT.offlineTitle : TEXT.goneTitle;
    return message(title, keptUntilBack(this.outbox.size), [TEXT.tryNow, () => this.tryNow()]);
  }

  tryNow() {
    this.outbox.retry();
    this.renew();
  }

  /** Put what was done into the outbox and go on without waiting for anybody. */
  finish(route, fields) {
    const card = this.card;
    this.lastCard = card;
    this.queue.finish(card.lease_id);
    if (route === "answers") this.work.progress.answered += 1;
    this.outbox.add(route, { lease_id: card.lease_id, ...fields }, { card });
    this.advance();
    this.topBar.show(this.work, this.unsent());
  }

  undo() {
    if (this.stage.form.back()) return;
    const { last } = this.outbox;
    if (last?.route === "undos") return;
    const undoes = last?.id ?? this.work?.progress.undoable;
    if (last && this.outbox.withdraw(last)) return this.restore(last);
    if (!undoes) return this.toasts.say(TEXT.nothingToUndo);
    this.outbox.add("undos", { undoes });
    if (this.cut) this.toasts.say(TEXT.undoLater);
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
    if (undone) this.toasts.say(TEXT.takenBack, { seconds: 2 });
    this.take(body.work, { switchTo: undone ? body.work.queue[0] : null });
  }

  refused(entry, sentence) {
    const lead = { answers: TEXT.refused, skips: TEXT.refusedSkip, undos: TEXT.refusedUndo }[entry.route];
    this.toasts.say(lead + sentence, { bad: true });
    // Where only the answer was not good, the server offers the task again.
    if (entry.fields.lease_id) this.queue.reopen(entry.fields.lease_id);
    this.renew();
  }

  sayMeasurement(card, { part, value }) {
    const options = card?.question.form.parts.find((one) => one.name === part)?.options ?? [];
    this.toasts.say(measurementSaid(options.find((one) => one.value === value)?.label ?? value));
  }

  signedOut() {
    this.outbox.blocked = true;
    this.connection();
    this.stage.say(message(TEXT.signedOut, TEXT.signIn, [TEXT.signInAction, () => location.assign("/login")]));
  }

  /** Another link was opened in this browser: this page is theirs no longer, and what it keeps waits for its own rater. */
  somebodyElse() {
    this.outbox.blocked = true;
    this.connection();
    this.stage.say(message(TEXT.otherTitle, TEXT.otherText, [TEXT.otherAction, () => location.reload()]));
  }

  async leave() {
    const go = async () => {
      await post("/logout", {});
      location.assign("/login");
    };
    if (this.outbox.size) this.dialog.choose(TEXT.leaveUnsent, TEXT.stay, [[TEXT.leave, go]]);
    else await go();
  }

  welcomed() {
    return this.work.progress.answered > 0 || remembered.get("welcomed") === this.work.study.title;
  }

  greet() {
    this.greeting = () => {
      this.greeting = null;
      remembered.set("welcomed", this.work.study.title);
      this.take(this.work);
    };
    this.stage.say(welcome(this.work.study, () => this.greeting?.()));
    this.prepare();
  }

  press(key, event) {
    if (key === null) return false;
    if (key === "?" || (key === "Escape" && this.dialog.open)) return this.dialog.open ? this.dialog.close() : this.dialog.help(this.card?.question.form), true;
    if (this.dialog.open) return false;
    if (this.greeting) return key === "Enter" && (this.greeting(), true);
    if (this.explaining) return key === "Enter" && (this.explaining(), true);
    if (key === "u" || key === "Backspace") return this.undo(), true;
    if (!this.card) return false;
    if (key === "s") return this.stage.form.skip(), true;
    if (key === "i") return readAll(this.stage.nodes.question);
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
    if (!this.card && this.work && this.outbox.size && !this.outbox.blocked && !this.greeting) this.idle();
  }
}

/** Draw the page inside its box, around the component of the player; `element` holds both. */
export async function start(element) {
  const page = new Page(element.querySelector("#rater-page"), await playerIn(element));
  window.raterPage = { page, latencies: page.stage.latency.latencies };
  page.begin();
}

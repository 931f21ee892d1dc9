/* What a rater has before them: one card's question, player and answers, or a message in the player's place. */

import { Form } from "./form.js";
import { Gate } from "./gate.js";
import { whenPresented } from "./player/dom.js";
import { Question } from "./question.js";
import { remembered } from "./remembered.js";
import { part } from "./screens.js";
import { Seen } from "./seen.js";
import { Stopwatch } from "./stopwatch.js";

/* Measures of the browser: how long raters wait, from the key that answered to the first picture of the next task on the screen. */
const PRESSED = "inpaintbench:pressed";
const WAIT = "inpaintbench:wait";
/* Of files that are kept for times without a network. */
const MOST_BYTES = 50_000_000;

export class Stage {
  /** `listener` hears `finish(route, fields)`: a judgement with what was watched, or a reason to skip; and `prepare()`: media of others
      may load. */
  constructor(root, player, listener) {
    Object.assign(this, { root, player, listener });
    const { clock, view, shelf } = player;
    Object.assign(this, { clock, view, shelf, card: null, stopwatch: null, records: new Map() });
    this.view.outlineOn = remembered.get("outline") === "on";
    player.addEventListener("change", () => remembered.set("outline", this.view.outlineOn ? "on" : "off"));
    player.addEventListener("start", () => this.#began());
    player.addEventListener("broken", () => this.#broken());
    this.seen = new Seen(player.area, this.view, (small) => this.#small(small));
    const [question, panel, gate, chips, form] = [".question", ".panel", ".gate", ".chips", ".form"].map((name) => root.querySelector(name));
    this.question = new Question(question);
    this.form = new Form(form, chips, {
      onanswer: (given, event) => this.#answer(given, event),
      onskip: (fields, event) => this.#finish("skips", fields, event),
      onpoint: (place) => this.view.point(place),
      onnudge: () => this.gate.nudge(),
    });
    this.gate = new Gate(gate, panel, this.clock, (locked) => this.form.lock(locked));
    document.addEventListener("visibilitychange", () => this.stopwatch?.look());
  }

  /** Show a card, at once where its first picture is there already. */
  show(card) {
    Object.assign(this, { card, stopwatch: null });
    this.root.dataset.screen = "task";
    this.question.show(card);
    this.form.show(card);
    this.gate.close();
    this.player.show(card, { keyOf: Form.keysOf(card), seen: card.previous ? this.records.get(card.task) : null });
  }

  /** A message instead of a card. */
  say(node) {
    Object.assign(this, { card: null, stopwatch: null });
    this.form.clear();
    this.root.dataset.screen = "message";
    this.player.clear(node);
  }

  /** Load the media of the first of `cards`, fetch the files of the others while there is room, keep those of `kept`, let go of the
      rest. Ends when all is fetched. */
  async prepare(cards, kept) {
    const [next, ...later] = cards;
    const wanted = [this.card, next, kept].filter(Boolean).map((card) => card.media.url);
    this.shelf.keep(new Set(wanted), new Set(later.map((card) => card.media.url)));
    if (!next) return;
    await this.shelf.of(next.media).ready;
    await this.shelf.fetch(later.map((card) => card.media), MOST_BYTES);
  }

  /** Whether the files of `cards` are here, and there is room for one more of their size. */
  hasRoomAfter(cards) {
    const size = this.shelf.bytes / Math.max(this.shelf.files.size, 1);
    return cards.every((card) => this.shelf.files.get(card.media.url)?.bytes) && this.shelf.bytes + size <= MOST_BYTES;
  }

  press(key, event) {
    return this.form.press(key, event) || this.player.press(key);
  }

  #began() {
    whenPresented(() => this.#waited());
    this.stopwatch = new Stopwatch();
    this.seen.begin();
    if (this.seen.small) this.clock.pause();
    this.gate.open(this.card);
    // Fetching the next one must not delay the picture of this one.
    whenPresented(() => this.listener.prepare());
  }

  #waited() {
    if (!performance.getEntriesByName(PRESSED).length) return;
    performance.measure(WAIT, PRESSED);
    performance.clearMarks(PRESSED);
  }

  #broken() {
    const { card } = this;
    this.player.area.append(part("broken", {}, { again: () => this.show(card) }));
    this.listener.prepare();
  }

  /** The pictures became too small, or large enough again. */
  #small(small) {
    if (this.card && this.stopwatch) this.clock[small ? "pause" : "play"]();
  }

  #answer(given, event) {
    const { watched } = this.clock;
    if (!watched || !this.stopwatch || this.seen.small) return this.gate.nudge();
    this.records.set(this.card.task, watched.seen);
    const fields = {
      given, seconds: this.stopwatch.seconds, watched_frames: watched.count, dropped_frames: watched.dropped,
      plays: watched.plays, stuttered: watched.stuttered,
      seen: this.seen.facts(this.stopwatch.seconds, this.clock),
    };
    this.#finish("answers", fields, event);
  }

  /** `event`: the key or click that answered; its own time counts, not when we got to it. */
  #finish(route, fields, event) {
    performance.mark(PRESSED, { startTime: event?.timeStamp || performance.now() });
    this.listener.finish(route, fields);
  }
}

/* What a rater has before them: one card's question, player and answers, or a message in the player's place. */

import { drawQuestion } from "./frame.js";
import { Form } from "./form.js";
import { Gate } from "./gate.js";
import { Latency } from "./latency.js";
import { whenPresented } from "./player/dom.js";
import { remembered } from "./remembered.js";
import { message } from "./screens.js";
import { Seen } from "./seen.js";
import { Stopwatch } from "./stopwatch.js";
import { TEXT } from "./text.js";

/* Of files that are kept for times without a network. */
const MOST_BYTES = 50_000_000;

export class Stage {
  /** `onanswer(fields, event)`: a judgement with what was watched; `onskip(fields, event)`; `onplaying()`: media of others may load. */
  constructor(root, nodes, player, { onanswer, onskip, onplaying }) {
    Object.assign(this, { root, nodes, player, onanswer, onskip, onplaying });
    Object.assign(this, { clock: player.clock, view: player.view, shelf: player.shelf });
    this.card = null;
    this.stopwatch = null;
    this.records = new Map();
    this.latency = new Latency();
    this.view.outlineOn = remembered.get("outline") === "on";
    player.addEventListener("change", () => remembered.set("outline", this.view.outlineOn ? "on" : "off"));
    player.addEventListener("start", () => this.#began());
    player.addEventListener("broken", () => this.#broken());
    this.seen = new Seen(player.area, this.view, (small) => this.#small(small));
    this.form = new Form(nodes.form, nodes.chips, {
      onanswer: (given, event) => this.#answer(given, event),
      onskip: (fields, event) => this.onskip(fields, event),
      onpoint: (place) => this.view.point(place),
      onnudge: () => this.gate.nudge(),
    });
    this.gate = new Gate(nodes.gate, nodes.panel, this.clock, (locked) => this.form.lock(locked));
    document.addEventListener("visibilitychange", () => this.stopwatch?.look());
  }

  /** Show a card, at once where its first picture is there already. */
  show(card) {
    this.card = card;
    this.stopwatch = null;
    this.root.dataset.screen = "task";
    drawQuestion(this.nodes.question, card);
    this.form.show(card);
    this.gate.close();
    this.player.show(card, { keyOf: Form.keysOf(card), seen: card.previous ? this.records.get(card.task) : null });
  }

  /** A message instead of a card. */
  say(node) {
    this.card = null;
    this.stopwatch = null;
    this.form.clear();
    this.root.dataset.screen = "message";
    this.nodes.question.replaceChildren();
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
    return cards.every((card) => this.shelf.has(card.media)) && this.shelf.bytes + size <= MOST_BYTES;
  }

  press(key, event) {
    return this.form.press(key, event) || this.player.press(key);
  }

  #began() {
    this.latency.drawn();
    this.stopwatch = new Stopwatch();
    this.seen.begin();
    if (this.seen.small) this.clock.pause();
    this.gate.open(this.card);
    // Fetching the next one must not delay the picture of this one.
    whenPresented(() => this.onplaying());
  }

  #broken() {
    const { card } = this;
    this.player.area.append(message(TEXT.broken, TEXT.brokenHint, [TEXT.again, () => this.show(card)]));
    this.onplaying();
  }

  /** The pictures became too small, or large enough again. */
  #small(small) {
    if (!this.card || !this.stopwatch) return;
    if (small) this.clock.pause();
    else this.clock.play();
  }

  #answer(given, event) {
    const { watched } = this.player;
    if (!watched || !this.stopwatch || this.seen.small) return this.gate.nudge();
    this.latency.pressed(event);
    this.records.set(this.card.task, watched.seen);
    this.onanswer({
      given, seconds: this.stopwatch.seconds, watched_frames: watched.count, dropped_frames: watched.dropped,
      plays: watched.plays, stuttered: watched.stuttered,
      seen: this.seen.facts(this.stopwatch.seconds, this.clock.byCallback),
    });
  }
}

/* What a rater has before them: one card's question, players and answers, or a message in their place. */

import { Clock } from "./clock.js";
import { Controls } from "./controls.js";
import { remembered, whenPresented } from "./dom.js";
import { Form } from "./form.js";
import { drawQuestion } from "./frame.js";
import { Gate } from "./gate.js";
import { Latency } from "./latency.js";
import { Shelf } from "./media.js";
import { message } from "./screens.js";
import { Stopwatch } from "./stopwatch.js";
import { TEXT } from "./text.js";
import { View } from "./view.js";

export class Stage {
  /** `onanswer(fields, event)`: a judgement with what was watched; `onskip(fields, event)`; `onplaying()`: media of others may load. */
  constructor(root, nodes, { onanswer, onskip, onplaying }) {
    Object.assign(this, { root, nodes, onanswer, onskip, onplaying });
    this.card = null;
    this.stopwatch = null;
    this.records = new Map();
    this.clock = new Clock();
    this.latency = new Latency();
    this.shelf = new Shelf(nodes.parking);
    this.view = new View(nodes.players, this.clock, {
      onpick: (place) => this.form.pickPlace(place, null),
      onchange: () => {
        remembered.set("outline", this.view.outlineOn ? "on" : "off");
        this.bar.draw();
      },
    });
    this.view.outlineOn = remembered.get("outline") === "on";
    this.bar = new Controls(nodes.controls, this.clock, this.view);
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
    this.clock.stop();
    const media = this.shelf.of(card.media);
    this.form.show(card);
    this.view.show(card, Form.keysOf(card));
    this.gate.close();
    if (media.state === "ready") return this.#play(card, media);
    this.root.dataset.loading = "";
    media.ready.then(() => this.card === card && this.#play(card, media));
  }

  /** A message instead of a card. */
  say(node) {
    this.card = null;
    this.stopwatch = null;
    this.clock.stop();
    this.form.clear();
    this.view.clear();
    delete this.root.dataset.loading;
    this.root.dataset.screen = "message";
    this.nodes.question.replaceChildren();
    this.nodes.players.replaceChildren(node);
  }

  /** Load the media of `next`, keep those of `kept`, let go of all others. */
  prepare(next, kept) {
    const wanted = [this.card, next, kept].filter(Boolean).map((card) => card.media.url);
    this.shelf.keep(new Set(wanted));
    if (next) this.shelf.of(next.media);
  }

  press(key, event) {
    if (key === "t") return this.view.nextTab();
    return this.form.press(key, event) || this.bar.press(key);
  }

  #play(card, media) {
    delete this.root.dataset.loading;
    if (media.state === "broken") {
      this.nodes.players.append(message(TEXT.broken, TEXT.brokenHint, [TEXT.again, () => this.show(card)]));
      this.bar.draw();
      return this.onplaying();
    }
    this.clock.start(media, card.previous ? this.records.get(card.task) : null);
    this.latency.drawn();
    this.stopwatch = new Stopwatch();
    this.gate.open(card);
    this.bar.draw();
    // Fetching the next one must not delay the picture of this one.
    whenPresented(() => this.onplaying());
  }

  #answer(given, event) {
    const { watched } = this.clock;
    if (!watched || !this.stopwatch) return this.gate.nudge();
    this.latency.pressed(event);
    this.records.set(this.card.task, watched.seen);
    this.onanswer({
      given, seconds: this.stopwatch.seconds, watched_frames: watched.count, dropped_frames: watched.dropped,
      plays: watched.plays, stuttered: watched.stuttered,
    });
  }
}

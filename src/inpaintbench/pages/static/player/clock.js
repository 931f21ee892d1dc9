/* The one clock that all players share: play, step, loop, speed. */

import { Watched } from "./watched.js";

const SPEEDS = [0.125, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2];
const SLOW = [1, 0.5, 0.25];
const STEP_MS = 300;
/* Firefox leaves out a fifth of the frames that it shows, says others ten too early, and counts on where a clip begins anew. */
const CALLS_BACK = "requestVideoFrameCallback" in HTMLVideoElement.prototype && !CSS.supports("-moz-appearance", "none");

/** Events: `frame` (another picture on the stage), `state` (playing, speed or loop changed, or a frame sought is there). */
export class Clock extends EventTarget {
  constructor() {
    super();
    Object.assign(this, { media: null, watched: null, frame: 0, speed: 1, loop: true, wanted: null, chasing: false, arrived: null });
    document.addEventListener("visibilitychange", () => this.watched?.interrupt());
  }

  get playing() {
    return Boolean(this.media?.video) && !this.media.video.paused && !this.media.video.ended;
  }

  /** Whether the browser says which frame it presents; a still picture needs nobody to say so. */
  get byCallback() {
    return !this.media?.video || CALLS_BACK;
  }

  /** Seconds since the beginning of the frame shown. */
  get seconds() {
    return this.media ? this.frame / this.media.fps : 0;
  }

  /** Take up media that are ready and play them from the start; `seen` as in `Watched`. Not `playing`, they wait to be played. */
  start(media, seen, { playing = true } = {}) {
    this.stop();
    Object.assign(this, { media, watched: new Watched(media.frames, media.fps, seen), frame: 0, speed: 1 });
    this.watched.present(0, performance.now(), { playing: false, speed: 1 });
    this.#tell("frame");
    if (media.still) return this.#tell("state");
    this.#arm(media);
    if (!media.fresh) this.seek(0);
    if (playing) this.play();
  }

  stop() {
    const { media } = this;
    Object.assign(this, { media: null, wanted: null });
    this.arrived?.();
    if (!media?.video) return;
    media.video.pause();
    for (const name of ["onplay", "onpause", "onended"]) media.video[name] = null;
    media.rewind();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    const media = this.media;
    if (!media?.video || media.frames < 2) return;
    media.fresh = false;
    Object.assign(media.video, { loop: this.loop, playbackRate: this.speed });
    media.video.onplay = media.video.onpause = () => this.#tell("state");
    media.video.onended = () => {
      if (this.media !== media) return;
      this.watched.interrupt();
      this.#tell("state");
    };
    // Refused where a browser lets nothing play by itself: the play button still does.
    media.video.play().catch(() => this.#tell("state"));
  }

  pause() {
    if (this.playing && !this.byCallback) this.seek(this.frame); // what is shown may be the frame beside it
    this.media?.video?.pause();
    this.watched?.interrupt();
  }

  /** So many frames back or on, exactly; the clip's ends meet when it loops. */
  step(frames) {
    if (!this.media?.video) return;
    const target = (this.wanted ?? this.frame) + frames;
    const count = this.media.frames;
    this.show(this.loop ? (target + count) % count : target);
  }

  /** Stop at a frame. */
  show(frame) {
    this.pause();
    this.seek(frame);
  }

  seek(frame) {
    if (!this.media?.video) return;
    this.wanted = Math.min(Math.max(Math.round(frame), 0), this.media.frames - 1);
    if (!this.chasing) this.#chase();
  }

  setLoop(loop) {
    this.loop = loop;
    if (this.media?.video) this.media.video.loop = loop;
    this.#tell("state");
  }

  setSpeed(speed) {
    this.speed = speed;
    this.watched?.interrupt();
    if (this.media?.video) this.media.video.playbackRate = speed;
    this.#tell("state");
  }

  faster(steps) {
    const nearest = SPEEDS.reduce((best, one) => (Math.abs(one - this.speed) < Math.abs(best - this.speed) ? one : best));
    this.setSpeed(SPEEDS[Math.min(Math.max(SPEEDS.indexOf(nearest) + steps, 0), SPEEDS.length - 1)]);
  }

  slower() {
    this.setSpeed(SLOW[(SLOW.indexOf(this.speed) + 1) % SLOW.length]);
  }

  /** Every frame that the browser presents is copied to the stage once; players draw from there. */
  #arm(media) {
    if (!CALLS_BACK) return this.#poll(media);
    media.video.requestVideoFrameCallback((now, facts) => {
      if (this.media !== media) return;
      this.#present(media, Math.round(facts.mediaTime * media.fps), now);
      this.#arm(media);
    });
  }

  /** Browsers without frame callbacks: copy what plays at every repaint; their time says its frame but for one, as it lags by half. */
  #poll(media) {
    const look = (now) => {
      if (this.media !== media) return;
      const frame = Math.floor(media.video.currentTime * media.fps + (this.playing ? 0.5 : 0.001));
      if (!media.video.seeking && (this.playing || frame !== this.frame || this.arrived)) this.#present(media, frame, now);
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }

  #present(media, frame, now) {
    media.capture();
    this.frame = Math.min(Math.max(frame, 0), media.frames - 1);
    this.watched.present(this.frame, now, { playing: this.playing && this.wanted === null, speed: this.speed });
    if (this.frame === this.wanted) this.arrived?.();
    this.#tell("frame");
  }

  async #chase() {
    this.chasing = true;
    while (this.wanted !== null && this.media?.video) {
      const media = this.media;
      const target = this.wanted;
      this.watched.interrupt();
      media.fresh = false;
      if (this.frame !== target || this.playing || media.video.seeking) await this.#goTo(media, target);
      if (this.media === media && this.wanted === target) this.wanted = null;
    }
    this.chasing = false;
    this.#tell("state");
  }

  /** The middle of a frame's time is inside it, however times are rounded. No callback comes where nothing changes; a busy browser seeks for long. */
  async #goTo(media, target) {
    const missing = () => this.media === media && this.frame !== target && this.wanted === target;
    media.video.currentTime = (target + 0.5) / media.fps;
    do await new Promise((resolve) => { this.arrived = resolve; setTimeout(resolve, STEP_MS); });
    while (missing() && media.video.seeking);
    this.arrived = null;
    if (missing()) this.#present(media, target, performance.now());
  }

  #tell(name) {
    this.dispatchEvent(new Event(name));
  }
}

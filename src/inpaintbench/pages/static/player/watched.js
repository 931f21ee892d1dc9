/* What a rater has been shown of one clip: frames seen, frames that the browser left out, pauses that nobody asked for. */

const LATE = 0.05;
const GAP_MS = 150;

export class Watched {
  /** `seen`: a record of the same clip to go on from (an answer that was taken back). */
  constructor(frames, fps, seen = null) {
    Object.assign(this, { frames, fps, advanced: 0, expected: 0, dropped: 0, longestGap: 0, last: null });
    this.seen = seen ? seen.slice() : new Uint8Array(frames);
    this.count = this.seen.reduce((sum, one) => sum + one, 0);
  }

  /** Frame `frame` is on the screen since `now` (ms); `playing` when the clock brought it, not a step. */
  present(frame, now, { playing, speed }) {
    if (playing && this.last) this.#advance(frame, now, speed);
    this.#mark(frame);
    if (!playing) this.last = null;
    else if (this.last?.frame !== frame) this.last = { frame, now };
  }

  /** What comes next does not continue what was shown: a seek, a pause, a hidden tab. */
  interrupt() {
    this.last = null;
  }

  get complete() {
    return this.count >= this.frames;
  }

  /** Seconds of the clip that were not shown yet. */
  get secondsLeft() {
    return (this.frames - this.count) / this.fps;
  }

  get plays() {
    return Math.round((this.advanced / this.frames) * 100) / 100;
  }

  get stuttered() {
    return this.longestGap > Math.max(GAP_MS, 2500 / this.fps) || (this.expected >= 10 && this.dropped / this.expected > LATE);
  }

  #advance(frame, now, speed) {
    const { frame: before, now: since } = this.last;
    const wrapped = frame < before;
    const advance = wrapped ? frame - before + this.frames : frame - before;
    this.advanced += advance;
    // Frames that a busy browser left out within a blink were played, if not drawn; longer holes are shown again.
    if (advance / this.fps <= GAP_MS / 1000) for (let step = 1; step < advance; step += 1) this.#mark((before + step) % this.frames);
    // Browsers pause for a moment where a clip begins anew, and slow motion is meant to be slow.
    if (speed !== 1 || wrapped || advance === 0) return;
    this.expected += advance;
    this.dropped += advance - 1;
    this.longestGap = Math.max(this.longestGap, now - since);
  }

  #mark(frame) {
    this.count += 1 - this.seen[frame];
    this.seen[frame] = 1;
  }
}

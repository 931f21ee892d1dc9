/* Seconds that a rater had the task before their eyes: a hidden tab does not count. */

export class Stopwatch {
  constructor() {
    this.passed = 0;
    this.since = document.hidden ? null : performance.now();
  }

  /** The page was hidden or came back. */
  look() {
    this.passed = this.milliseconds;
    this.since = document.hidden ? null : performance.now();
  }

  get milliseconds() {
    return this.passed + (this.since === null ? 0 : performance.now() - this.since);
  }

  get seconds() {
    return Math.round(this.milliseconds) / 1000;
  }
}

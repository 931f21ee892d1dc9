/* How long raters wait: from the key that answered to the first picture of the next task on the screen, in milliseconds. */

import { whenPresented } from "./player/dom.js";

const MOST = 1000;

export class Latency {
  constructor() {
    this.latencies = [];
    this.since = null;
  }

  /** `event`: the key or click that answered; its own time counts, not when we got to it. */
  pressed(event) {
    this.since = event?.timeStamp > 0 ? event.timeStamp : performance.now();
    performance.mark("inpaintbench:pressed", { startTime: this.since });
  }

  /** The first picture was drawn. */
  drawn() {
    const since = this.since;
    this.since = null;
    if (since === null) return;
    whenPresented(() => {
      performance.mark("inpaintbench:presented");
      this.latencies.push(performance.now() - since);
      if (this.latencies.length > MOST) this.latencies.shift();
    });
  }
}

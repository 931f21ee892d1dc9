/* Proxies: fetched whole, decoded to their first frame before they are needed, drawn once a frame into one canvas. */

const RETRY_MS = 1500;
const DECODE_MS = 4000;

export class Media {
  /** `parking`: a node of the page that holds the hidden video element; some browsers decode nothing outside a page. */
  constructor(spec, parking) {
    this.spec = spec;
    this.still = spec.kind === "image";
    this.frames = this.still ? 1 : Math.max(1, spec.frames);
    this.fps = spec.fps > 0 ? spec.fps : 25;
    this.stage = typeof OffscreenCanvas === "function" ? new OffscreenCanvas(spec.width, spec.height) : canvas(spec);
    this.pen = this.stage.getContext("2d", { alpha: false });
    this.state = "loading";
    this.fresh = false;
    this.gone = new AbortController();
    this.ready = this.#load(parking).catch((error) => {
      this.state = "broken";
      this.reason = String(error?.message ?? error);
    });
  }

  /** Copy what the video shows now to the stage: the only place where the video itself is read. */
  capture() {
    this.pen.drawImage(this.video, 0, 0, this.spec.width, this.spec.height);
  }

  /** Back to the first frame, so that the clip can be shown again at once. */
  async rewind() {
    if (this.still || this.state !== "ready" || this.fresh) return;
    const video = this.video;
    video.pause();
    const arrived = once(video, "seeked", DECODE_MS);
    video.currentTime = 0.5 / this.fps;
    await arrived;
    if (!video.paused || this.gone.signal.aborted) return;
    this.capture();
    this.fresh = true;
  }

  release() {
    this.gone.abort();
    if (this.video) {
      this.video.pause();
      this.video.removeAttribute("src");
      this.video.load();
      this.video.remove();
    }
    if (this.address) URL.revokeObjectURL(this.address);
  }

  async #load(parking) {
    const blob = await this.#fetched();
    if (this.still) {
      const picture = await createImageBitmap(blob);
      this.pen.drawImage(picture, 0, 0, this.spec.width, this.spec.height);
      picture.close();
    } else {
      await this.#decode(blob, parking);
    }
    this.fresh = true;
    this.state = "ready";
  }

  async #decode(blob, parking) {
    this.address = URL.createObjectURL(blob);
    const video = document.createElement("video");
    Object.assign(video, { muted: true, defaultMuted: true, playsInline: true, preload: "auto", disablePictureInPicture: true });
    video.setAttribute("playsinline", "");
    video.setAttribute("tabindex", "-1");
    this.video = video;
    parking.append(video);
    const decoded = once(video, "loadeddata", DECODE_MS);
    video.src = this.address;
    await decoded;
    if (video.error) throw new Error(video.error.message || "the browser cannot decode it");
    // Without this some browsers hold no picture of a video that never played.
    if (video.readyState < 2) await video.play().then(() => video.pause(), () => undefined);
    if (video.readyState < 2) throw new Error("the browser decoded no picture");
    this.capture();
  }

  async #fetched() {
    for (;;) {
      try {
        const response = await fetch(this.spec.url, { credentials: "same-origin", signal: this.gone.signal });
        if (response.ok) return await response.blob();
        if (response.status < 500 && response.status !== 429) throw new Refusal(`the server says ${response.status}`);
      } catch (error) {
        if (error instanceof Refusal || this.gone.signal.aborted) throw error;
      }
      await soon();
    }
  }
}

class Refusal extends Error {}

/** Media of the cards at hand, by address; others are let go. */
export class Shelf {
  constructor(parking) {
    this.parking = parking;
    this.held = new Map();
  }

  of(spec) {
    let media = this.held.get(spec.url);
    if (!media || media.state === "broken") {
      media?.release();
      media = new Media(spec, this.parking);
      this.held.set(spec.url, media);
    }
    return media;
  }

  keep(addresses) {
    for (const [address, media] of this.held) {
      if (addresses.has(address)) continue;
      media.release();
      this.held.delete(address);
    }
  }
}

function canvas({ width, height }) {
  return Object.assign(document.createElement("canvas"), { width, height });
}

/** Wait for an event of a video, an error, or so long. */
function once(video, name, milliseconds) {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds);
    function done() {
      clearTimeout(timer);
      video.removeEventListener(name, done);
      video.removeEventListener("error", done);
      resolve();
    }
    video.addEventListener(name, done);
    video.addEventListener("error", done);
  });
}

/** A while, or the network coming back. */
function soon() {
  return new Promise((resolve) => {
    const timer = setTimeout(done, RETRY_MS);
    function done() {
      clearTimeout(timer);
      window.removeEventListener("online", done);
      resolve();
    }
    window.addEventListener("online", done);
  });
}

/* Files: fetched whole, some of them long before their turn; decoded to the first frame before they are needed; drawn once a frame
   into one canvas. */

import { buffer, Patches } from "./drawing.js";

const RETRY_MS = 1500;
const DECODE_MS = 4000;

export class Media {
  /** `file`: a `Fetched`; null where the page has the file inside or beside it. `parking`: a node of the page that holds the hidden
      video element; some browsers decode nothing outside a page. */
  constructor(spec, file, parking) {
    const still = spec.kind === "image";
    Object.assign(this, { spec, still, frames: still ? 1 : Math.max(1, spec.frames), fps: spec.fps > 0 ? spec.fps : 25 });
    this.stage = buffer(spec.width, spec.height);
    this.pen = this.stage.getContext("2d", { alpha: false });
    this.patches = spec.patches ? new Patches(spec.patches) : null;
    Object.assign(this, { state: "loading", fresh: false, gone: false, light: Boolean(file?.light) });
    this.ready = this.#load(file, parking).catch((error) => {
      Object.assign(this, { state: "broken", reason: String(error?.message ?? error) });
    });
  }

  /** Copy what the video shows now to the stage: the only place where the video itself is read. */
  capture() {
    this.pen.drawImage(this.video, 0, 0, this.spec.width, this.spec.height);
    this.patches?.lay(this.stage);
  }

  /** Back to the first frame, so that the clip can be shown again at once. */
  async rewind() {
    if (this.still || this.state !== "ready" || this.fresh) return;
    const video = this.video;
    video.pause();
    const arrived = once(video, "seeked", DECODE_MS);
    video.currentTime = 0.5 / this.fps;
    await arrived;
    if (!video.paused || this.gone) return;
    this.capture();
    this.fresh = true;
  }

  release() {
    this.gone = true;
    if (this.video) {
      this.video.pause();
      this.video.removeAttribute("src");
      this.video.load();
      this.video.remove();
    }
    if (this.address) URL.revokeObjectURL(this.address);
  }

  async #load(file, parking) {
    const blob = await (file ? file.blob : inside(this.spec.url));
    if (this.still) {
      const picture = await createImageBitmap(blob);
      this.pen.drawImage(picture, 0, 0, this.spec.width, this.spec.height);
      picture.close();
    } else {
      await this.#decode(blob, parking);
    }
    Object.assign(this, { fresh: true, state: "ready" });
  }

  async #decode(blob, parking) {
    this.address = blob ? URL.createObjectURL(blob) : null;
    const video = document.createElement("video");
    Object.assign(video, { muted: true, defaultMuted: true, playsInline: true, preload: "auto", disablePictureInPicture: true, tabIndex: -1 });
    this.video = video;
    parking.append(video);
    const decoded = once(video, "loadeddata", DECODE_MS);
    video.src = this.address ?? this.spec.url;
    await decoded;
    if (video.error) throw new Error(video.error.message || "the browser cannot decode it");
    // Without this some browsers hold no picture of a video that never played.
    if (video.readyState < 2) await video.play().then(() => video.pause(), () => undefined);
    if (video.readyState < 2) throw new Error("the browser decoded no picture");
    this.capture();
  }
}

/** What an address holds itself, as some browsers seek in no such address; null for a file beside the page. */
function inside(address) {
  if (!address.startsWith("data:")) return null;
  const bytes = Uint8Array.from(atob(address.slice(address.indexOf(",") + 1)), (letter) => letter.charCodeAt(0));
  return new Blob([bytes], { type: "video/mp4" });
}

/** A file on its way or here: tried again until the server gives or refuses it. */
class Fetched {
  constructor(address, light) {
    Object.assign(this, { address, light, bytes: null, pace: 0, gone: new AbortController() });
    this.blob = this.#fetch();
    // Who needs it hears of it; one that was fetched for later may fail in silence.
    this.blob.catch(() => undefined);
  }

  async #fetch() {
    for (;;) {
      const begun = performance.now();
      try {
        const response = await fetch(this.address, { credentials: "same-origin", signal: this.gone.signal });
        if (response.ok) {
          const blob = await response.blob();
          Object.assign(this, { bytes: blob.size, pace: (performance.now() - begun) / 1000 / blob.size });
          return blob;
        }
        if (response.status < 500 && response.status !== 429) throw new Refusal(`the server says ${response.status}`);
      } catch (error) {
        if (error instanceof Refusal || this.gone.signal.aborted) throw error;
      }
      await first([[window, "online"]], RETRY_MS); // a while, or the network coming back
    }
  }
}

class Refusal extends Error {}

/** Media at hand, by address, and files that are fetched for later; others are let go. */
export class Shelf {
  constructor(parking) {
    Object.assign(this, { parking, held: new Map(), files: new Map() });
  }

  /** Media of `spec`, fetched and decoded. */
  of(spec) {
    let media = this.held.get(spec.url);
    if (!media || media.state === "broken") {
      media?.release();
      if (media) this.#letGo(spec.url);
      media = new Media(spec, spec.own ? null : this.#file(spec), this.parking);
      this.held.set(spec.url, media);
    }
    return media;
  }

  /** Fetch the files of `specs` in turn, as many as fit into `mostBytes` with what is there; their pictures are decoded later. */
  async fetch(specs, mostBytes) {
    this.turn = specs;
    for (const spec of specs) {
      if (this.turn !== specs || this.bytes >= mostBytes) return;
      await this.#file(spec).blob.catch(() => undefined);
    }
  }

  /** Bytes of the files that are here. */
  get bytes() {
    return [...this.files.values()].reduce((sum, file) => sum + (file.bytes ?? 0), 0);
  }

  /** Seconds that a byte of those that are here took on its way; 0 where none is. */
  get pace() {
    const paces = [...this.files.values()].map((file) => file.pace).filter(Boolean);
    return paces.reduce((sum, one) => sum + one, 0) / Math.max(paces.length, 1);
  }

  /** Keep the media of `addresses`, and the files of these and of `later`. */
  keep(addresses, later = new Set()) {
    for (const [address, media] of this.held) {
      if (addresses.has(address)) continue;
      media.release();
      this.held.delete(address);
    }
    for (const address of this.files.keys()) if (!addresses.has(address) && !later.has(address)) this.#letGo(address);
  }

  /** The file of `spec`: its light encoding where the other would be longer on its way than it plays. */
  #file({ url, light, bytes, frames, fps }) {
    const slow = Boolean(light) && bytes * this.pace > frames / fps;
    if (!this.files.has(url)) this.files.set(url, new Fetched(slow ? light : url, slow));
    return this.files.get(url);
  }

  #letGo(address) {
    this.files.get(address)?.gone.abort();
    this.files.delete(address);
  }
}

/** Wait for an event of a video, an error, or so long. */
const once = (video, name, milliseconds) => first([[video, name], [video, "error"]], milliseconds);

/** Wait for the first of some events, or so many milliseconds; then listen no longer. */
function first(events, milliseconds) {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(milliseconds);
    for (const [target, name] of events) target.addEventListener(name, resolve, { once: true, signal });
    signal.addEventListener("abort", resolve);
  });
}

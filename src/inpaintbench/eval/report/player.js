"use strict";
// Plays the tiles of one video in step: each presented frame is copied once, and every canvas is cut out of that copy.
// Only blending is used, no pixel is read: pages opened from a disk may not read the pixels of a video beside them.
(() => {
  const OUTLINE_COLOUR = "#ffd400";
  const CLOSE_UP = 2.5;
  const SEEK_MILLISECONDS = 400;
  const state = { outline: true, error: false, close: false, truth: false, wipe: false, speed: 1 };
  const reportsFrames = "requestVideoFrameCallback" in HTMLVideoElement.prototype;

  // Videos inside the page become blobs: data addresses cannot be sought in every browser.
  function playable(address) {
    if (!address.startsWith("data:")) return address;
    const bytes = Uint8Array.from(atob(address.slice(address.indexOf(",") + 1)), (letter) => letter.charCodeAt(0));
    return URL.createObjectURL(new Blob([bytes], { type: "video/mp4" }));
  }

  function surface(width, height) {
    if (window.OffscreenCanvas) return new OffscreenCanvas(width, height);
    return Object.assign(document.createElement("canvas"), { width, height });
  }

  class Player {
    // `changed` is called whenever the controls have something new to show, `touched` when the reader takes over.
    constructor(figure, changed, touched) {
      Object.assign(this, { figure, changed, touched });
      this.layout = JSON.parse(figure.dataset.layout);
      this.video = figure.querySelector("video");
      this.address = this.video.getAttribute("src");
      this.video.removeAttribute("src");
      this.video.removeAttribute("controls");
      this.tiles = [...figure.querySelectorAll("[data-tile]")].map((tile) => ({
        place: this.placeOf(Number(tile.dataset.tile)),
        channel: this.layout.channels[Number(tile.dataset.tile)],
        canvas: tile.querySelector("canvas"),
        context: tile.querySelector("canvas").getContext("2d"),
      }));
      this.inGallery = figure.matches(".exhibit");
      this.frame = 0;
      this.wanted = null;
      this.shown = false;
    }

    placeOf(index) {
      const { columns, cell_width, cell_height } = this.layout;
      return { x: (index % columns) * cell_width, y: Math.floor(index / columns) * cell_height };
    }

    open() {
      this.figure.classList.add("open");
      if (!this.video.getAttribute("src")) this.load();
      this.video.playbackRate = state.speed;
      if (this.inGallery) page.tell("opened", this);
      this.draw();
      this.changed();
    }

    load() {
      const { channels, columns, cell_width, cell_height, tile_width, tile_height } = this.layout;
      this.sheet = surface(columns * cell_width, Math.ceil(channels.length / columns) * cell_height).getContext("2d");
      for (const name of ["mask", "truth", "lines", "erase", "spare"]) this[name] = surface(tile_width, tile_height).getContext("2d");
      const video = this.video;
      video.addEventListener("loadeddata", () => this.presented(Math.round(video.currentTime * this.layout.fps)), { once: true });
      video.addEventListener("seeked", () => { if (!reportsFrames) this.presented(this.frameAt(video.currentTime)); });
      video.addEventListener("play", () => this.changed());
      video.addEventListener("pause", () => this.changed());
      video.preload = "auto";
      video.src = playable(this.address);
      video.load();
      this.listen();
    }

    listen() {
      if (reportsFrames) {
        this.video.requestVideoFrameCallback((now, frame) => {
          this.presented(Math.round(frame.mediaTime * this.layout.fps));
          this.listen();
        });
      } else {
        requestAnimationFrame(() => {
          if (!this.video.paused) this.presented(this.frameAt(this.video.currentTime));
          this.listen();
        });
      }
    }

    close() {
      this.video.pause();
      this.figure.classList.remove("open");
    }

    frameAt(seconds) {
      return Math.min(this.layout.frames - 1, Math.floor(seconds * this.layout.fps + 0.01));
    }

    presented(frame) {
      this.frame = Math.max(0, Math.min(frame, this.layout.frames - 1));
      this.shown = true;
      this.sheet.drawImage(this.video, 0, 0);
      this.draw();
      this.changed();
      clearTimeout(this.timer);
      this.seeking = false;
      if (this.wanted !== null && this.wanted !== this.frame) this.seek(this.wanted);
      else this.wanted = null;
    }

    // One seek at a time; the latest wish wins. Seeking to the frame that is there calls nobody back, hence the time limit.
    seek(frame) {
      this.video.pause();
      this.wanted = Math.max(0, Math.min(frame, this.layout.frames - 1));
      if (this.seeking) return;
      if (this.shown && this.wanted === this.frame) { this.wanted = null; return; }
      this.seeking = true;
      const target = this.wanted;
      this.video.currentTime = (target + 0.5) / this.layout.fps;
      this.timer = setTimeout(() => { this.wanted = this.wanted === target ? null : this.wanted; this.presented(target); }, SEEK_MILLISECONDS);
    }

    step(change) {
      const from = this.wanted ?? this.frame;
      this.seek((from + change + this.layout.frames) % this.layout.frames);
    }

    toggle() {
      if (this.layout.frames < 2) return;
      if (this.video.paused) this.video.play().catch(() => this.changed());
      else this.video.pause();
    }

    // What part of a tile is shown: all of it, or a window that follows the hole.
    view() {
      const { tile_width: width, tile_height: height, centres } = this.layout;
      if (!state.close) return { x: 0, y: 0, width, height };
      const [across, down] = centres[this.frame] ?? [0.5, 0.5]; // without a hole, the middle of the picture
      const size = { width: width / CLOSE_UP, height: height / CLOSE_UP };
      const clamp = (middle, span, part) => Math.max(0, Math.min(middle * span - part / 2, span - part));
      return { x: clamp(across, width, size.width), y: clamp(down, height, size.height), ...size };
    }

    copy(context, place, mode, view) {
      const { tile_width: width, tile_height: height } = this.layout;
      context.globalCompositeOperation = mode;
      context.drawImage(this.sheet.canvas, place.x + view.x, place.y + view.y, view.width, view.height, 0, 0, width, height);
    }

    fill(context, colour, mode) {
      context.globalCompositeOperation = mode;
      context.fillStyle = colour;
      context.fillRect(0, 0, this.layout.tile_width, this.layout.tile_height);
    }

    blend(context, layer, mode) {
      context.globalCompositeOperation = mode;
      context.drawImage(layer.canvas, 0, 0);
    }

    channel(name) {
      const index = this.layout.channels.indexOf(name);
      return index < 0 ? null : this.placeOf(index);
    }

    // The mask is white on black where results lie over the truth; the truth gets a black gap there.
    prepareMask(place, view) {
      this.copy(this.mask, place, "copy", view);
      this.fill(this.erase, "#fff", "copy");
      this.blend(this.erase, this.mask, "difference");
      this.copy(this.truth, this.channel("truth"), "copy", view);
      this.blend(this.truth, this.erase, "multiply");
    }

    // The outline is white on black: `erase` takes its pixels out of a tile, `lines` adds them in colour.
    prepareOutline(place, view) {
      this.copy(this.lines, place, "copy", view);
      this.fill(this.lines, OUTLINE_COLOUR, "multiply");
      this.fill(this.erase, "#fff", "copy");
      this.copy(this.erase, place, "difference", view);
    }

    // What all pictures of a frame have in common, made once.
    prepare() {
      const view = this.view();
      const mask = this.channel("mask");
      const outline = state.outline ? this.channel("outline") : null;
      if (mask) this.prepareMask(mask, view);
      if (outline) this.prepareOutline(outline, view);
      this.drawing = { view, mask, outline, truth: this.channel("truth") };
    }

    // One channel as the switches say, on a canvas of a tile's size; after `prepare`.
    paint(context, channel) {
      const { view, mask, outline, truth } = this.drawing;
      const asTruth = state.truth || channel === "truth";
      this.copy(context, asTruth ? truth : this.channel(channel), "copy", view);
      if (mask && !asTruth) {
        this.blend(context, this.mask, "multiply");
        this.blend(context, this.truth, "lighter");
      }
      if (state.error && !asTruth && channel !== "input") this.drawError(context, truth, view);
      if (outline) {
        this.blend(context, this.erase, "multiply");
        this.blend(context, this.lines, "lighter");
      }
    }

    draw() {
      if (!this.shown) return;
      this.prepare();
      if (!state.wipe || !this.inGallery) for (const { channel, context } of this.tiles) this.paint(context, channel);
      if (this.inGallery) page.tell("drawn", this);
    }

    drawError(context, truth, view) {
      this.copy(context, truth, "difference", view);
      context.globalCompositeOperation = "lighter";
      for (let doubling = 0; doubling < 2; doubling += 1) context.drawImage(context.canvas, 0, 0);
    }
  }

  page.Player = Player;
  page.switches = state;
})();

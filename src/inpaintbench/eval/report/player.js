"use strict";
// Plays the tiles of one video in step: each presented frame is copied once, and every canvas is cut out of that copy.
// Only blending is used, no pixel is read: pages opened from a disk may not read the pixels of a video beside them.
(() => {
  const OUTLINE_COLOUR = "#ffd400";
  const CLOSE_UP = 2.5;
  const state = { outline: true, error: false, close: false, truth: false, wipe: false, speed: 1 };

  // Videos inside the page become blobs: data addresses cannot be sought in every browser.
  function playable(address) {
    if (!address.startsWith("data:")) return address;
    const bytes = Uint8Array.from(atob(address.slice(address.indexOf(",") + 1)), (letter) => letter.charCodeAt(0));
    return URL.createObjectURL(new Blob([bytes], { type: "video/mp4" }));
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
      this.shown = false;
      this.eager = false; // to be played once it is there
      this.clock = new shared.Clock();
      this.clock.addEventListener("frame", () => { this.shown = true; this.draw(); this.changed(); });
      this.clock.addEventListener("state", () => this.changed());
    }

    get frame() { return this.clock.frame; }

    get playing() { return this.clock.media ? this.clock.playing : this.eager; }

    placeOf(index) {
      const { columns, cell_width, cell_height } = this.layout;
      return { x: (index % columns) * cell_width, y: Math.floor(index / columns) * cell_height };
    }

    open() {
      this.figure.classList.add("open");
      if (!this.video.getAttribute("src")) this.load();
      if (this.clock.media) this.clock.setSpeed(state.speed);
      if (this.inGallery) page.tell("opened", this);
      this.draw();
      this.changed();
    }

    load() {
      const { channels, columns, cell_width, cell_height, tile_width, tile_height, frames, fps } = this.layout;
      const surface = (width, height) => shared.buffer(width, height).getContext("2d");
      this.sheet = surface(columns * cell_width, Math.ceil(channels.length / columns) * cell_height);
      for (const name of ["mask", "truth", "lines", "erase", "spare"]) this[name] = surface(tile_width, tile_height);
      const { video } = this;
      const media = { video, frames, fps, still: frames < 2, fresh: true, capture: () => this.sheet.drawImage(video, 0, 0), rewind() {} };
      video.addEventListener("loadeddata", () => {
        media.capture();
        this.clock.start(media, null, { playing: this.eager });
        this.clock.setSpeed(state.speed);
      }, { once: true });
      video.preload = "auto";
      video.src = playable(this.address);
      video.load();
    }

    pause() {
      this.eager = false;
      this.clock.pause();
    }

    close() {
      this.pause();
      this.figure.classList.remove("open");
    }

    seek(frame) {
      this.pause();
      this.clock.seek(frame);
    }

    toggle() {
      if (this.clock.media) this.clock.toggle();
      else this.eager = !this.eager && this.layout.frames > 1;
      this.changed();
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

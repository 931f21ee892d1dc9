"use strict";
// Plays the tiles of one video in step: each presented frame is copied once, and every canvas is cut out of that copy.
// Only blending is used, no pixel is read: pages opened from a disk may not read the pixels of a video beside them.
(() => {
  const gallery = document.querySelector(".gallery");
  if (!gallery || !gallery.querySelector(".exhibit")) return;
  const controls = gallery.querySelector(".controls");
  const scrub = controls.querySelector(".scrub");
  const clock = controls.querySelector(".clock");
  const playButton = controls.querySelector("[data-action=play]");
  const OUTLINE_COLOUR = "#ffd400";
  const CLOSE_UP = 2.5;
  const SEEK_MILLISECONDS = 400;
  const state = { outline: true, error: false, close: false, truth: false, speed: 1 };
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
    constructor(figure) {
      this.figure = figure;
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
      this.playhead = figure.querySelector(".playhead");
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
      this.draw();
      refresh();
    }

    load() {
      const { channels, columns, cell_width, cell_height, tile_width, tile_height } = this.layout;
      this.sheet = surface(columns * cell_width, Math.ceil(channels.length / columns) * cell_height).getContext("2d");
      for (const name of ["mask", "truth", "paint", "erase"]) this[name] = surface(tile_width, tile_height).getContext("2d");
      const video = this.video;
      video.addEventListener("loadeddata", () => this.presented(Math.round(video.currentTime * this.layout.fps)), { once: true });
      video.addEventListener("seeked", () => { if (!reportsFrames) this.presented(this.frameAt(video.currentTime)); });
      video.addEventListener("play", refresh);
      video.addEventListener("pause", refresh);
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
      refresh();
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
      if (this.video.paused) this.video.play().catch(() => refresh());
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

    // The outline is white on black: `erase` takes its pixels out of a tile, `paint` adds them in colour.
    prepareOutline(place, view) {
      this.copy(this.paint, place, "copy", view);
      this.fill(this.paint, OUTLINE_COLOUR, "multiply");
      this.fill(this.erase, "#fff", "copy");
      this.copy(this.erase, place, "difference", view);
    }

    draw() {
      if (!this.shown) return;
      const view = this.view();
      const truth = this.channel("truth");
      const mask = this.channel("mask");
      const outline = state.outline ? this.channel("outline") : null;
      if (mask) this.prepareMask(mask, view);
      if (outline) this.prepareOutline(outline, view);
      for (const { place, channel, context } of this.tiles) {
        const asTruth = state.truth || channel === "truth";
        this.copy(context, asTruth ? truth : place, "copy", view);
        if (mask && !asTruth) {
          this.blend(context, this.mask, "multiply");
          this.blend(context, this.truth, "lighter");
        }
        if (state.error && !asTruth && channel !== "input") this.drawError(context, truth, view);
        if (outline) {
          this.blend(context, this.erase, "multiply");
          this.blend(context, this.paint, "lighter");
        }
      }
      if (this.playhead) this.playhead.style.left = `${(100 * this.frame) / (this.layout.frames - 1)}%`;
    }

    drawError(context, truth, view) {
      this.copy(context, truth, "difference", view);
      context.globalCompositeOperation = "lighter";
      for (let doubling = 0; doubling < 2; doubling += 1) context.drawImage(context.canvas, 0, 0);
    }
  }

  const players = new Map([...gallery.querySelectorAll(".exhibit")].map((figure) => [figure.id, new Player(figure)]));
  const thumbs = [...gallery.querySelectorAll(".thumb")];
  let current = players.get(gallery.querySelector(".exhibit[data-first]").id);

  function refresh() {
    const { frames, fps } = current.layout;
    const frame = current.wanted ?? current.frame;
    const playing = !current.video.paused;
    scrub.max = frames - 1;
    scrub.value = frame;
    scrub.disabled = frames < 2;
    clock.textContent = frames < 2 ? "still image" : `${frame + 1} / ${frames} · ${(frame / fps).toFixed(2)} s`;
    clock.dataset.frame = current.shown ? current.frame : "";
    controls.classList.toggle("playing", playing);
    playButton.setAttribute("aria-label", playing ? "Pause" : "Play");
    playButton.disabled = frames < 2;
    controls.classList.toggle("still", frames < 2);
    controls.classList.toggle("no-hole", !current.layout.channels.includes("outline"));
  }

  function open(id, slice) {
    const playing = !current.video.paused;
    if (players.get(id) !== current) current.close();
    current = players.get(id);
    current.open();
    if (playing) current.video.play().catch(refresh);
    const named = slice ? thumbs.find((thumb) => thumb.dataset.slice === slice && thumb.hash === `#${id}`) : null;
    const chosen = named ?? thumbs.find((thumb) => thumb.hash === `#${id}`);
    for (const thumb of thumbs) thumb.setAttribute("aria-current", String(thumb === chosen));
    const strip = chosen?.parentElement;
    if (strip) strip.scrollTop = Math.max(0, chosen.offsetTop - strip.offsetTop - strip.clientHeight / 2);
  }

  function turn(name, on) {
    state[name] = on;
    controls.querySelector(`[data-switch=${name}]`)?.setAttribute("aria-pressed", String(on));
    current.draw();
  }

  function neighbour(change) {
    const index = thumbs.findIndex((thumb) => thumb.getAttribute("aria-current") === "true");
    const thumb = thumbs[(index + change + thumbs.length) % thumbs.length];
    open(thumb.hash.slice(1), thumb.dataset.slice);
  }

  const KEYS = {
    " ": () => current.toggle(),
    ArrowLeft: () => current.step(-1),
    ArrowRight: () => current.step(1),
    ArrowUp: () => neighbour(-1),
    ArrowDown: () => neighbour(1),
    o: () => turn("outline", !state.outline),
    e: () => turn("error", !state.error),
    z: () => turn("close", !state.close),
    t: () => turn("truth", true),
  };

  let inView = false;
  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  let started = still;
  new IntersectionObserver((entries) => {
    inView = entries[0].isIntersecting;
    controls.classList.toggle("docked", inView);
    if (!inView) current.video.pause();
    else if (!started) { started = true; current.toggle(); }
  }, { threshold: 0.35 }).observe(gallery.querySelector(".stage"));

  document.addEventListener("keydown", (event) => {
    const action = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    const typing = event.target.closest?.("input:not(.scrub), select, textarea, summary");
    const pressing = event.key === " " && event.target.closest?.("button, a");
    if (!action || !inView || typing || pressing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (event.repeat && !event.key.startsWith("Arrow")) return;
    started = true;
    action();
  });
  document.addEventListener("keyup", (event) => { if (event.key.toLowerCase() === "t") turn("truth", false); });
  window.addEventListener("blur", () => turn("truth", false));

  controls.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    started = true;
    const { action, switch: name } = button.dataset;
    if (action === "play") current.toggle();
    if (action === "back") current.step(-1);
    if (action === "forward") current.step(1);
    if (name && name !== "truth") turn(name, !state[name]);
  });
  const holdTruth = controls.querySelector("[data-switch=truth]");
  holdTruth.addEventListener("pointerdown", () => turn("truth", true));
  for (const end of ["pointerup", "pointerleave", "pointercancel"]) holdTruth.addEventListener(end, () => turn("truth", false));
  scrub.addEventListener("input", () => { started = true; current.seek(Number(scrub.value)); });
  controls.querySelector("[data-switch=speed]").addEventListener("change", (event) => {
    state.speed = Number(event.target.value);
    current.video.playbackRate = state.speed;
  });
  for (const player of players.values()) {
    for (const { canvas } of player.tiles) canvas.addEventListener("click", () => { started = true; player.toggle(); });
    const chart = player.figure.querySelector(".chart");
    const point = (event) => {
      const box = chart.getBoundingClientRect();
      started = true;
      player.seek(Math.round(((event.clientX - box.left) / box.width) * (player.layout.frames - 1)));
    };
    chart?.addEventListener("pointerdown", (event) => { chart.setPointerCapture(event.pointerId); point(event); });
    chart?.addEventListener("pointermove", (event) => { if (event.buttons) point(event); });
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a.thumb, a.show");
    if (!link || !players.has(link.hash.slice(1))) return;
    event.preventDefault();
    const row = link.closest("tr");
    open(link.hash.slice(1), link.dataset.slice ?? row?.dataset.slice);
    if (row) document.getElementById("gallery").scrollIntoView();
  });

  const asked = window.location.hash.slice(1);
  open(players.has(asked) ? asked : current.figure.id);
  if (players.has(asked)) document.getElementById("gallery").scrollIntoView();
})();

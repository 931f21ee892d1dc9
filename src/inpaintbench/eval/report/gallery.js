"use strict";
// The gallery: which item is shown, its controls and keys.
(() => {
  const gallery = document.querySelector(".gallery");
  if (!gallery || !gallery.querySelector(".exhibit")) return;
  const controls = gallery.querySelector(".controls");
  const scrub = controls.querySelector(".scrub");
  const clock = controls.querySelector(".clock");
  const playButton = controls.querySelector("[data-action=play]");
  const keysDialog = document.querySelector(".keys-dialog");
  const state = page.switches;
  let started = page.still;

  const players = new Map([...gallery.querySelectorAll(".exhibit")].map((figure) => [figure.id, new page.Player(figure, () => refresh(), () => { started = true; })]));
  const thumbs = [...gallery.querySelectorAll(".thumb")];
  let current = players.get(gallery.querySelector(".exhibit[data-first]").id);

  function refresh() {
    const { frames, fps } = current.layout;
    const frame = current.clock.wanted ?? current.frame;
    const { playing } = current;
    scrub.max = frames - 1;
    scrub.value = frame;
    scrub.setAttribute("aria-valuetext", `frame ${frame + 1} of ${frames}`);
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
    const { playing } = current;
    if (players.get(id) !== current) current.close();
    current = players.get(id);
    current.open();
    if (playing && !current.playing) current.toggle();
    const named = slice ? thumbs.find((thumb) => thumb.dataset.slice === slice && thumb.hash === `#${id}`) : null;
    const chosen = named ?? thumbs.find((thumb) => thumb.hash === `#${id}`);
    for (const thumb of thumbs) thumb.setAttribute("aria-current", String(thumb === chosen));
    const strip = chosen?.parentElement;
    if (strip) strip.scrollTop = Math.max(0, chosen.offsetTop - strip.offsetTop - strip.clientHeight / 2);
  }

  // What the reader opens is told in the address.
  function choose(id, slice) {
    open(id, slice);
    page.set({ item: players.get(id).figure.dataset.item, slice: slice ?? null });
  }

  function turn(name, on) {
    state[name] = on;
    controls.querySelector(`[data-switch=${name}]`)?.setAttribute("aria-pressed", String(on));
    if (name === "wipe") page.tell("wipe", on);
    current.draw();
  }

  function neighbour(change) {
    const index = thumbs.findIndex((thumb) => thumb.getAttribute("aria-current") === "true");
    const thumb = thumbs[(index + change + thumbs.length) % thumbs.length];
    choose(thumb.hash.slice(1), thumb.dataset.slice);
  }

  const KEYS = {
    " ": () => current.toggle(),
    ArrowLeft: () => current.clock.step(-1),
    ArrowRight: () => current.clock.step(1),
    ArrowUp: () => neighbour(-1),
    ArrowDown: () => neighbour(1),
    o: () => turn("outline", !state.outline),
    w: () => turn("wipe", !state.wipe),
    e: () => turn("error", !state.error),
    z: () => turn("close", !state.close),
    t: () => turn("truth", true),
  };

  let inView = false;
  new IntersectionObserver((entries) => {
    inView = entries[0].isIntersecting;
    controls.classList.toggle("docked", inView);
    if (!inView) current.pause();
    else if (!started) { started = true; current.toggle(); }
  }, { rootMargin: "-30% 0px -30% 0px" }).observe(gallery.querySelector(".stage"));

  shared.listen((key) => {
    if (key === "?" && !keysDialog.open) keysDialog.showModal();
    if (keysDialog.open || !inView || !KEYS[key]) return key === "?";
    started = true;
    KEYS[key]();
    return true;
  }, (key) => { if (key === "t" || key === null) turn("truth", false); });

  controls.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    started = true;
    const { action, switch: name } = button.dataset;
    KEYS[{ play: " ", back: "ArrowLeft", forward: "ArrowRight" }[action]]?.();
    if (name && name !== "truth") turn(name, !state[name]);
  });
  const holdTruth = controls.querySelector("[data-switch=truth]");
  holdTruth.addEventListener("pointerdown", () => turn("truth", true));
  for (const end of ["pointerup", "pointerleave", "pointercancel"]) holdTruth.addEventListener(end, () => turn("truth", false));
  scrub.addEventListener("input", () => { started = true; current.seek(Number(scrub.value)); });
  controls.querySelector("[data-switch=speed]").addEventListener("change", (event) => {
    state.speed = Number(event.target.value);
    current.clock.setSpeed(state.speed);
  });
  for (const player of players.values()) {
    for (const { canvas } of player.tiles) canvas.addEventListener("click", () => { started = true; player.toggle(); });
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link || !players.has(link.hash.slice(1))) return;
    event.preventDefault();
    event.stopPropagation();
    choose(link.hash.slice(1), link.dataset.slice);
    if (!link.matches(".thumb")) document.getElementById("gallery").scrollIntoView();
  }, true);
  page.on("slice", (name) => {
    const thumb = thumbs.find((one) => one.dataset.slice === name);
    if (!thumb) return;
    choose(thumb.hash.slice(1), name);
    document.getElementById("gallery").scrollIntoView();
  });

  keysDialog.querySelector(".close").addEventListener("click", () => keysDialog.close());

  // An item by its name, or by the element that shows it, as older addresses have it.
  function fromAddress() {
    const asked = [...players.values()].find(({ figure }) => figure.dataset.item === page.get("item") || figure.id === page.get("at"));
    open(asked?.figure.id ?? current.figure.id, page.get("slice"));
    if (asked) document.getElementById("gallery").scrollIntoView();
  }
  open(current.figure.id);
  page.on("ready", () => { if (page.get("item") || page.get("at")) fromAddress(); });
  page.on("state", fromAddress);
})();

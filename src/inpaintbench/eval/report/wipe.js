"use strict";
// Two pictures of the item over each other with a divider between them, at the player's frame.
(() => {
  const place = document.querySelector(".wipe");
  if (!place) return;
  const stage = place.querySelector(".wipe-stage");
  const canvas = stage.querySelector("canvas");
  const divider = stage.querySelector(".divider");
  const sides = { left: place.querySelector("[data-side=left]"), right: place.querySelector("[data-side=right]") };
  let player = null;
  let on = false;
  let wanted = {};

  const names = () => player.layout.channels.filter((channel) => channel !== "outline" && channel !== "mask");

  const label = (channel) => player.tiles.find((tile) => tile.channel === channel)?.canvas.getAttribute("aria-label") ?? channel;

  function fillChoices() {
    const known = names();
    const methods = known.filter((channel) => channel !== "truth" && channel !== "input");
    const fallback = { left: known[0], right: methods[0] ?? known.at(-1) };
    for (const [side, select] of Object.entries(sides)) {
      select.replaceChildren(...known.map((channel) => page.element("option", { value: channel }, label(channel))));
      select.value = known.includes(wanted[side]) ? wanted[side] : fallback[side];
    }
  }

  function describe() {
    divider.setAttribute("aria-valuetext", `${divider.value} per cent ${label(sides.left.value)}, the rest ${label(sides.right.value)}`);
    stage.style.setProperty("--share", `${divider.value}%`);
    canvas.setAttribute("aria-label", `${label(sides.left.value)} left of the divider, ${label(sides.right.value)} right of it`);
    stage.dataset.left = label(sides.left.value);
    stage.dataset.right = label(sides.right.value);
  }

  function draw() {
    if (!on || !player?.shown) return;
    const { tile_width: width, tile_height: height } = player.layout;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const context = canvas.getContext("2d");
    player.paint(context, sides.right.value);
    player.paint(player.spare, sides.left.value);
    const cut = Math.round((width * Number(divider.value)) / 100);
    context.globalCompositeOperation = "source-over";
    if (cut) context.drawImage(player.spare.canvas, 0, 0, cut, height, 0, 0, cut, height);
  }

  function show(given) {
    player = given;
    place.hidden = !on;
    place.closest(".stage").classList.toggle("wiping", on);
    if (!on) return;
    // It stands where the tiles of the item stand.
    player.figure.querySelector(".tiles").before(place);
    fillChoices();
    describe();
    player.draw();
  }

  divider.addEventListener("input", () => { describe(); draw(); });
  function choose(left, right) {
    [sides.left.value, sides.right.value] = [left, right];
    wanted = { left, right };
    describe();
    player.draw();
  }
  place.addEventListener("change", (event) => { if (event.target !== divider) choose(sides.left.value, sides.right.value); });
  place.querySelector("[data-action=swap]").addEventListener("click", () => choose(sides.right.value, sides.left.value));

  page.on("wipe", (turned) => { on = turned; if (player) show(player); });
  page.on("opened", show);
  page.on("drawn", (given) => { if (given === player) draw(); });
})();

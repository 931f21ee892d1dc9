"use strict";
// Clips of a finding: they play the videos of the gallery, cut to two tiles, while they are in view. The first are those of the
// finding on top of the page; others take their place by `page.showProofs`.
(() => {
  const { element } = page;
  const room = document.querySelector(".proofs");
  // The gallery's players take them away.
  const addresses = new Map([...document.querySelectorAll(".exhibit")].map((one) => [one.id, one.querySelector("video").getAttribute("src")]));

  function setUp(figure) {
    const video = figure.querySelector("video");
    video.setAttribute("src", addresses.get(figure.dataset.of));
    const player = new page.Player(figure, () => figure.classList.toggle("playing", player.playing), () => {});
    const [canvas] = figure.querySelectorAll("canvas");
    figure.addEventListener("click", () => player.toggle());
    let left = page.still;
    new IntersectionObserver(([entry]) => {
      if (!entry.isIntersecting) return player.pause();
      if (!video.getAttribute("src")) player.open();
      if (!left) player.toggle();
      left = left || !player.playing;
    }).observe(canvas);
  }

  // `clips`: { of: id of an exhibit, tiles: [names of its channels], caption, words }.
  page.showProofs = (clips) => {
    for (const video of room.querySelectorAll("video")) video.pause();
    const made = clips.map(({ of, tiles, caption, words }) => {
      const layout = document.getElementById(of).dataset.layout;
      const { channels, tile_width: width, tile_height: height } = JSON.parse(layout);
      const parts = tiles.map((name) => element("div", { "data-tile": String(channels.indexOf(name)) }, element("canvas", { width, height, role: "img", "aria-label": `${name}, ${caption}` })));
      return element("figure", { class: "proof", "data-of": of, "data-layout": layout }, element("video", { muted: true, loop: true, playsinline: true, preload: "none" }), ...parts, element("figcaption", {}, element("b", {}, caption), ...words));
    });
    room.replaceChildren(...made);
    made.forEach(setUp);
  };

  for (const figure of document.querySelectorAll(".proof")) setUp(figure);
})();

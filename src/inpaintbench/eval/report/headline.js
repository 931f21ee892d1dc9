// Clips of a finding: two tiles of videos of the gallery, that play while they are in view. The first are those of the finding on top
// of the page; others take their place by `page.showProofs`.
(() => {
  const { element } = page;
  const room = document.querySelector(".proofs");

  function setUp(figure) {
    const sheet = page.sheets.get(figure.dataset.of);
    const box = figure.querySelector(".comparison");
    const wanted = JSON.parse(figure.dataset.tiles).map((name) => sheet.players.find((one) => one.name === name));
    const player = new shared.Player(box, { drag: true, scrolls: true });
    const [{ width, height }] = wanted;
    box.style.setProperty("--aspect", width / height);
    player.view.outlineOn = true;
    player.eager = !page.still;
    box.addEventListener("click", () => { player.clock.toggle(); player.eager = player.clock.playing || !player.clock.media; });
    new IntersectionObserver(([entry]) => {
      if (!entry.isIntersecting) player.clock.pause();
      else if (player.shown) player.eager && player.clock.play();
      else player.show({ ...sheet, players: wanted.map((one, place) => ({ ...one, role: "clip", place })) });
    }).observe(box);
  }

  // `clips`: { of: id of an exhibit, tiles: [names of its channels], caption, words }.
  page.showProofs = (clips) => {
    const made = clips.map(({ of, tiles, caption, words }) => element("figure", { class: "proof", "data-of": of, "data-tiles": JSON.stringify(tiles) },
      element("div", { class: "player-room" }, element("div", { class: "comparison" })), element("figcaption", {}, element("b", {}, caption), ...words)));
    room.replaceChildren(...made);
    made.forEach(setUp);
  };

  if (page.sheets) for (const figure of document.querySelectorAll(".proof")) setUp(figure);
})();

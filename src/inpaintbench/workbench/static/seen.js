// The films of a page that was exported, as they were seen there: frame, wipe, zoom and outline.
(() => {
  const { data } = page;
  if (!data.sheet) return;
  if (!location.hash) shared.set(data.state);
  const look = new shared.Look(document.querySelector(".comparison"), document.querySelector(".curves"), { told: (text) => { document.querySelector("[data-looknote]").textContent = text; } });
  look.take(data.sheet, data.looks);
  shared.listen((key) => look.player.press(key), (key) => look.player.release(key));
})();

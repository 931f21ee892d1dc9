// Keys, what is chosen (`#view=hole&play=yes`), and frames of clips under the pointer. Views, joints and playing are switched by
// the style alone.
(() => {
  const views = [...document.querySelectorAll("input[name=view]")];
  const switches = { j: "joints", " ": "play" };
  const boxes = Object.values(switches).map((id) => document.getElementById(id)).filter(Boolean);

  function press(control) {
    control?.click();
    return Boolean(control);
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const control = views[event.key - 1] ?? document.getElementById(switches[event.key.toLowerCase()]);
    const busy = event.key === " " && event.target.closest("button, input, a, summary");
    if (!busy && press(control)) event.preventDefault();
  });

  function mark() {
    for (const tile of document.querySelectorAll(".tile")) tile.classList.toggle("here", tile.id === page.get("at"));
  }

  document.addEventListener("click", () => setTimeout(mark));
  page.keepInputs([...views, ...boxes], mark);

  function hold(button) {
    const tile = button.closest(".tile");
    tile.classList.add("held");
    tile.style.setProperty("--at", button.style.getPropertyValue("--at"));
    for (const other of tile.querySelectorAll(".frame")) other.classList.toggle("here", other === button);
  }

  for (const button of document.querySelectorAll("button.frame")) {
    for (const kind of ["pointerenter", "focus", "click"]) button.addEventListener(kind, () => hold(button));
  }
  for (const row of document.querySelectorAll(".frames")) {
    row.addEventListener("pointerleave", () => row.closest(".tile").classList.remove("held"));
  }
})();

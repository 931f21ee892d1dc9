"use strict";
// Keys, and frames of clips under the pointer. Views, joints and playing are switched by the style alone.
(() => {
  const views = [...document.querySelectorAll("input[name=view]")].map((view) => view.id);
  const switches = { j: "joints", " ": "play" };

  function press(id) {
    const control = document.getElementById(id);
    if (control) control.click();
    return control !== null;
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const id = views[event.key - 1] ?? switches[event.key.toLowerCase()];
    const busy = event.key === " " && event.target.closest("button, input, a");
    if (id && !busy && press(id)) event.preventDefault();
  });

  function hold(button) {
    const tile = button.closest(".tile");
    tile.classList.add("held");
    tile.style.setProperty("--at", button.style.getPropertyValue("--at"));
    for (const other of tile.querySelectorAll(".thumb")) other.classList.toggle("here", other === button);
  }

  for (const button of document.querySelectorAll("button.thumb")) {
    for (const kind of ["pointerenter", "focus", "click"]) button.addEventListener(kind, () => hold(button));
  }
  for (const row of document.querySelectorAll(".frames")) {
    row.addEventListener("pointerleave", () => row.closest(".tile").classList.remove("held"));
  }
})();

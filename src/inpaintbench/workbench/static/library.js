/* What lies below the folders, as the server lists it (things.html): runs to tick, datasets and workspaces to open. */

import { all, get, set } from "../items/state.js";

const NONE = { r: [], d: "", w: "", study: "", board: "", m: [], b: "", f: [], s: "", i: "", q: "", o: "", x: "", y: "" };
const LOOK_MS = 4000;

export function library(place, find, changed, anew) {
  const made = { flags: [], mark, start };
  let [html, running] = ["", "[]"];

  /** Look again; says whether a run went on. */
  async function look() {
    const answer = await fetch("/api/things");
    if (!answer.ok) return false;
    const told = await answer.json();
    const flags = JSON.stringify(made.flags);
    made.flags = told.flags;
    if (flags !== JSON.stringify(told.flags)) changed();
    if (html !== told.html && !place.querySelector(":popover-open")) {
      html = place.innerHTML = told.html;
      search();
      mark();
    }
    const before = running;
    running = JSON.stringify(told.running);
    return before !== "[]" && before !== running;
  }

  /** Look again and again: `anew` is called when a run went on, or has another name. */
  async function start() {
    await look();
    setInterval(async () => { if (!document.hidden && await look().catch(() => false)) anew(); }, LOOK_MS);
  }

  function tick(run, on) {
    const runs = all("r").filter((key) => key !== run);
    set({ ...(get("d") || get("w") || get("study") || get("board") ? NONE : { m: [] }), r: on ? [...runs, run] : runs }, { step: true });
    changed();
  }

  async function keep(form) {
    const body = JSON.stringify({ key: form.dataset.key, fields: Object.fromEntries(new FormData(form)) });
    const answer = await fetch("/api/notes", { method: "POST", headers: { "X-Inpaintbench": "1", "Content-Type": "application/json" }, body });
    if (!answer.ok) return form.setAttribute("data-refused", (await answer.json()).sentence);
    form.hidePopover();
    return (await look()) && anew();
  }

  function search() {
    const wanted = find.value.trim().toLowerCase();
    for (const one of place.querySelectorAll("li")) one.hidden = !one.dataset.words.includes(wanted);
  }

  function mark() {
    for (const box of place.querySelectorAll("input[type=checkbox]")) box.checked = all("r").includes(box.value);
    for (const one of place.querySelectorAll("button.open")) one.setAttribute("aria-pressed", String(get(one.dataset.letter) === one.dataset.key));
  }

  find.addEventListener("input", search);
  place.addEventListener("change", ({ target }) => { if (target.type === "checkbox") tick(target.value, target.checked); });
  place.addEventListener("click", (event) => {
    const one = event.target.closest("button.open");
    if (!one) return;
    set({ ...NONE, [one.dataset.letter]: one.dataset.key }, { step: true });
    changed();
  });
  place.addEventListener("submit", ({ target }) => keep(target)); // `method="dialog"` sends it nowhere
  // It is read while the pointer is on its way.
  place.addEventListener("pointerenter", ({ target }) => target.dataset?.ready && fetch(target.dataset.ready, { method: "HEAD" }), true);
  return made;
}

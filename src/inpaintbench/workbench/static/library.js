/* What lies below the folders: runs to tick, datasets and workspaces to open, reports and pages; with names, notes and tags. */

import { button, el } from "../player/dom.js";
import { all, get, set } from "./state.js";

const KINDS = [["run", "Runs"], ["dataset", "Datasets"], ["workspace", "Workspaces"], ["report", "Reports"], ["study", "Studies"], ["leaderboard", "Leaderboards"], ["page", "Pages"]];
const OPENS = { dataset: "d", workspace: "w", study: "study", leaderboard: "board" };
const NONE = { r: [], d: "", w: "", study: "", board: "", m: [], b: "", f: [], s: "", i: "", q: "", o: "", x: "", y: "" };
const LOOK_MS = 4000;

/** Where a file below the folders is served. */
export const filed = (key) => `/files/${key.split("/").map(encodeURIComponent).join("/")}`;

export function library(place, find, changed) {
  let [things, folders] = [[], []];
  const made = { flags: [], mark, start };
  const where = (thing) => {
    const [root, inner] = [folders[Number.parseInt(thing.key, 10)], thing.key.replace(/^\d+\//, "")];
    return inner ? `${folders.length > 1 ? `${root.split("/").at(-1)}/` : ""}${inner}` : root;
  };
  const twin = (thing) => things.some((one) => one !== thing && one.kind === thing.kind && one.title === thing.title);
  const shown = (thing) => thing.notes.name || (twin(thing) ? `${thing.title} · ${where(thing).replace(/\/report$/, "")}` : thing.title);

  const running = () => things.filter((one) => ["run", "study"].includes(one.kind)).map((one) => [one.key, one.progress, one.date, one.predicted]);

  async function look() {
    const told = await (await fetch("/api/things")).json();
    if (!told.things) return false;
    const flags = JSON.stringify(made.flags);
    [made.flags, folders] = [told.flags, told.folders];
    if (flags !== JSON.stringify(told.flags)) changed();
    const before = JSON.stringify(running());
    const same = JSON.stringify(things) === JSON.stringify(told.things);
    things = told.things;
    if (!same && !place.querySelector("form")) draw();
    const now = JSON.stringify(running());
    return before !== "[]" && before !== now;
  }

  /** Look again and again: `anew` is called when a run went on. */
  async function start(anew) {
    await look();
    draw();
    setInterval(async () => { if (!document.hidden && await look().catch(() => false)) anew(); }, LOOK_MS);
  }

  function tick(thing, on) {
    const runs = all("r").filter((key) => key !== thing.key);
    set({ ...(get("d") || get("w") || get("study") || get("board") ? NONE : { m: [], b: "" }), r: on ? [...runs, thing.key] : runs }, { step: true });
    changed();
  }

  function row(thing) {
    const tags = (thing.notes.tags ?? "").split(",").map((tag) => tag.trim()).filter(Boolean).map((tag) => el("span", { class: "tag" }, tag));
    const name = el("span", { class: "name" }, shown(thing));
    let head;
    if (thing.kind === "run") head = el("label", {}, el("input", { type: "checkbox", value: thing.key, onchange: (event) => tick(thing, event.target.checked) }), name);
    else if (OPENS[thing.kind]) head = button({ class: "open", "data-key": thing.key, "data-letter": OPENS[thing.kind] }, () => { set({ ...NONE, [OPENS[thing.kind]]: thing.key }, { step: true }); changed(); }, name);
    else head = el("a", { href: filed(thing.page), target: "_blank", rel: "noopener" }, name);
    const others = thing.kind === "report" ? things.filter((one) => one.kind === "report" && one.key !== thing.key) : [];
    const beside = others.length ? el("details", { class: "beside" }, el("summary", {}, "compare with"), ...others.map((one) => el("a", { href: `/compare?${new URLSearchParams({ one: one.key, other: thing.key })}`, target: "_blank", rel: "noopener" }, where(one)))) : null;
    const bars = thing.progress.map((one) => el("span", { class: "progress", title: `${one.step}: ${one.done} of ${one.tasks}` }, el("i", { style: `width: ${(100 * one.done) / Math.max(one.tasks, 1)}%` })));
    const asked = { run: thing.dataset && "runs", dataset: "dataset", workspace: "workspace", study: "study", leaderboard: "board" }[thing.kind];
    const ready = () => asked && fetch(`/api/set?${new URLSearchParams({ [asked]: thing.key })}`, { method: "HEAD" }); // it is read while the pointer is on its way
    return el("li", { title: thing.notes.note ?? "", onpointerenter: ready }, el("div", { class: "thing" }, head, ["run", "leaderboard"].includes(thing.kind) && thing.page ? el("a", { class: "to", href: filed(thing.page), target: "_blank", rel: "noopener" }, thing.kind === "run" ? "report" : "page") : null,
      button({ class: "edit", "aria-label": `Name, note and tags of ${shown(thing)}` }, (event) => edit(thing, event.target.closest("li")), "✎")), el("span", { class: "from" }, where(thing)), el("span", { class: "from" }, thing.what), thing.kind === "run" ? el("time", { class: "from" }, thing.date.slice(0, 16).replace("T", " ")) : null, ...tags, thing.notes.note ? el("span", { class: "note" }, thing.notes.note) : null, ...bars, beside);
  }

  function edit(thing, item) {
    const field = (name) => el("label", {}, `${name[0].toUpperCase()}${name.slice(1)} `, el("input", { name, value: thing.notes[name] ?? "" }));
    const form = el("form", { class: "notes" }, ...["name", "tags", "note"].map(field), el("button", { type: "submit" }, "Keep"), button({}, () => draw(), "Cancel"));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const fields = Object.fromEntries(["name", "tags", "note"].map((name) => [name, form.elements[name].value]));
      const answer = await fetch("/api/notes", { method: "POST", headers: { "X-Inpaintbench": "1", "Content-Type": "application/json" }, body: JSON.stringify({ key: thing.key, fields }) });
      if (!answer.ok) return form.append(el("p", { class: "note", role: "alert" }, (await answer.json()).sentence));
      form.remove();
      return look().then(draw);
    });
    item.append(form);
    form.elements.name.focus();
  }

  function draw() {
    const wanted = find.value.trim().toLowerCase();
    const fits = (thing) => !wanted || [thing.title, thing.key, thing.what, ...Object.values(thing.notes)].join("\n").toLowerCase().includes(wanted);
    place.replaceChildren(...KINDS.map(([kind, title]) => [title, things.filter((thing) => thing.kind === kind && fits(thing))]).filter(([, found]) => found.length)
      .map(([title, found]) => el("section", {}, el("h2", {}, title), el("ul", {}, ...found.map(row)))));
    mark();
  }

  function mark() {
    for (const box of place.querySelectorAll("input[type=checkbox]")) box.checked = all("r").includes(box.value);
    for (const one of place.querySelectorAll("button.open")) one.setAttribute("aria-pressed", String(get(one.dataset.letter) === one.dataset.key));
  }

  find.addEventListener("input", draw);
  return made;
}

"use strict";
// What all pages share: their data, what is chosen (kept in the address, so that a view can be sent), numbers as words, tables that
// sort and search, and what a plot's marks say. A page reads well without it.
const page = (() => {
  const holder = document.getElementById("page-data");
  const data = holder ? JSON.parse(holder.textContent) : {};
  const listeners = new Map();
  const on = (name, listener) => listeners.set(name, [...(listeners.get(name) ?? []), listener]);
  const tell = (name, value) => { for (const listener of listeners.get(name) ?? []) listener(value); };

  // The address: `#metric=psnr&slice=...`, or a part of the page such as `#scores` alone.
  const read = () => new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : location.hash.length > 1 ? `at=${location.hash.slice(1)}` : "");
  let state = read();
  const get = (name) => state.get(name);

  // An empty value is the usual one and is not told.
  function set(changes) {
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === undefined || value === "") state.delete(name);
      else state.set(name, String(value));
    }
    const alone = [...state.keys()].join() === "at";
    history.replaceState(null, "", alone ? `#${state.get("at")}` : state.size ? `#${state}` : location.pathname + location.search);
  }
  window.addEventListener("hashchange", () => { state = read(); tell("state"); goTo(get("at")); });

  // Opens what is folded around an element, or in a section of which the title alone is seen.
  function unfold(target) {
    for (let one = target.querySelector(":scope > .part") ?? target; one; one = one.parentElement) if (one.matches("details")) one.open = true;
  }

  function goTo(id) {
    const target = id && document.getElementById(id);
    if (!target) return;
    unfold(target);
    target.scrollIntoView();
  }

  // JSON has no infinity: it is the text "inf".
  const numeric = (value) => (value === "inf" ? Infinity : value === "-inf" ? -Infinity : value);

  function number(value, decimals) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    const words = value.toFixed(decimals);
    return (Number(words) === 0 ? words.replace("-", "") : words).replace("-", "−");
  }

  const short = (value) => (typeof value === "number" ? String(Number(value.toPrecision(4))).replace("-", "−") : value ?? "–");

  function count(n, noun) {
    const plural = /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
    return `${n.toLocaleString("en")} ${n === 1 ? noun : plural}`;
  }

  // element("td", { class: "n" }, "1.20"): text is text, never markup.
  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
    made.append(...children);
    return made;
  }

  function breakable(name) {
    const made = document.createDocumentFragment();
    for (const part of String(name).split(/(?<=[_/])/)) made.append(part, document.createElement("wbr"));
    return made;
  }

  function methodName(method) {
    const look = data.styles?.[method] ?? {};
    const made = element("span", { class: "method", title: method });
    made.style.setProperty("--method", look.colour ?? "var(--soft)");
    made.append(element("i", { class: `dot ${look.marker ?? ""}` }), element("span", { class: "name" }, breakable(method)));
    if ((data.references ?? []).includes(method)) made.classList.add("of-reference");
    return made;
  }

  function announce(words, where = "page") {
    const place = document.querySelector(`[data-live="${where}"]`);
    if (place) place.textContent = words;
  }

  function download(name, text, type) {
    const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  async function copy(text) {
    if (await navigator.clipboard?.writeText(text).then(() => true, () => false)) return true; // else the old way
    const area = element("textarea", { class: "visually-hidden", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }

  async function copyFact(button) {
    const done = await copy(button.dataset.text ?? document.getElementById(button.dataset.copy).innerText);
    const words = button.textContent;
    button.textContent = done ? "Copied" : "Not allowed";
    announce(done ? "Copied" : "The browser allows no copying here");
    setTimeout(() => { button.textContent = words; }, 1600);
  }

  // Rows that sum up or do not compete stay below the others, whatever the order.
  const isLast = (row) => row.classList.contains("total") || row.classList.contains("floor");

  function sort(button) {
    const head = button.closest("th");
    const now = head.getAttribute("aria-sort");
    const falling = now === "none" ? !("rising" in button.dataset) : now === "ascending";
    order(head, falling);
    const table = head.closest("table");
    const others = sortings().filter(([of]) => of !== tableKey(table));
    set({ sort: [...others, [tableKey(table), columnKey(head), falling ? "down" : "up"]].map((parts) => parts.join(":")).join(",") });
    announce(`Sorted by ${button.textContent.trim()}, ${falling ? "largest" : "smallest"} first`);
  }

  // In the address: `sort=TABLE:COLUMN:down`, several with commas between, in words of their labels.
  const asKey = (text) => (text ?? "").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  const tableKey = (table) => asKey(table.closest(".scroll")?.getAttribute("aria-label") ?? table.caption?.textContent) || "table";
  const columnKey = (head) => asKey(head.querySelector("button.sort").textContent);
  const sortings = () => (get("sort") ?? "").split(",").map((words) => words.split(":")).filter((parts) => parts.length === 3);

  function sortAsAsked() {
    for (const [of, by, direction] of sortings()) {
      const tables = [...document.querySelectorAll("table:not([data-own])")].filter((table) => tableKey(table) === of);
      for (const table of tables) for (const button of table.querySelectorAll("button.sort")) if (columnKey(button.closest("th")) === by) order(button.closest("th"), direction === "down");
    }
  }

  function order(head, falling) {
    const table = head.closest("table");
    const heads = [...head.parentElement.children];
    const place = heads.indexOf(head);
    for (const other of heads) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const value = (row) => {
      const text = row.children[place].dataset.value;
      return text === undefined || text === "" || Number.isNaN(Number(text.replace("inf", "Infinity"))) ? text : Number(text.replace("inf", "Infinity"));
    };
    for (const body of table.tBodies) {
      const rows = [...body.rows];
      const known = rows.filter((row) => !isLast(row) && value(row) !== undefined);
      known.sort((one, other) => (falling ? -1 : 1) * (value(one) < value(other) ? -1 : value(one) > value(other) ? 1 : 0));
      body.append(...known, ...rows.filter((row) => !known.includes(row) && !isLast(row)), ...rows.filter(isLast));
    }
  }

  // A list of boxes to tick that opens from a button; `changed` gets the names that are ticked.
  function picker(title, names, chosen, changed, draw = (name) => name) {
    const boxes = names.map((name) => element("input", { type: "checkbox", value: name, checked: chosen.includes(name), autocomplete: "off" }));
    const labels = boxes.map((box, at) => element("label", {}, box, draw(names[at])));
    const summary = element("summary", {}, title);
    const made = element("details", { class: "picker" }, summary, element("div", {}, ...labels));
    const words = () => { const ticked = boxes.filter((box) => box.checked).length; summary.textContent = ticked === names.length ? title : `${title}: ${ticked} of ${names.length}`; };
    made.addEventListener("change", () => { words(); changed(boxes.filter((box) => box.checked).map((box) => box.value)); });
    document.addEventListener("click", (event) => { if (!made.contains(event.target)) made.open = false; });
    made.addEventListener("keydown", (event) => { if (event.key === "Escape") { made.open = false; summary.focus(); } });
    made.tick = (wanted) => { for (const box of boxes) box.checked = wanted.includes(box.value); words(); };
    words();
    return made;
  }

  // Hidden columns; the first one stays.
  function showColumns(table, shown) {
    const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    for (const row of [...table.tBodies].flatMap((body) => [...body.rows])) [...row.cells].forEach((cell, at) => { cell.hidden = at > 0 && !shown.includes(at); });
    heads.forEach((cell, at) => { cell.hidden = at > 0 && !shown.includes(at); });
    if (table.tHead.rows.length < 2) return;
    let at = 0;
    for (const cell of table.tHead.rows[0].cells) {
      const own = Number(cell.dataset.span ?? (cell.dataset.span = cell.colSpan));
      const left = Array.from({ length: own }, (_, step) => at + step).filter((one) => one === 0 || shown.includes(one)).length;
      cell.hidden = left === 0;
      if (left) cell.colSpan = left;
      at += own;
    }
  }

  function addTools(box) {
    const table = box.querySelector("table");
    const tools = element("div", { class: "table-tools" });
    if ("finds" in box.dataset) {
      const field = element("input", { type: "search", placeholder: "Find rows", "aria-label": "Find rows" });
      field.addEventListener("input", () => {
        const text = field.value.trim().toLowerCase();
        for (const row of [...table.tBodies].flatMap((body) => [...body.rows])) row.hidden = Boolean(text) && !row.textContent.toLowerCase().includes(text);
      });
      tools.append(field);
    }
    if ("picks" in box.dataset) {
      const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells].slice(1);
      const groups = [...(table.tHead.rows.length > 1 ? table.tHead.rows[0].cells : [])].flatMap((cell) => Array(cell.colSpan).fill(cell.textContent.trim())).slice(1);
      const names = heads.map((cell, at) => [groups[at], cell.querySelector("button")?.textContent ?? cell.textContent].filter(Boolean).join(": ").trim());
      const places = names.map((_, at) => String(at + 1));
      const picked = box.dataset.picks ? box.dataset.picks.split(",") : places;
      tools.append(picker("Columns", places, picked, (chosen) => showColumns(table, chosen.map(Number)), (place) => names[Number(place) - 1]));
      if (box.dataset.picks) showColumns(table, picked.map(Number));
    }
    box.before(tools);
  }

  // Where the page has room for it: which methods are seen, of those that rows and sections stand for; `methods=a,b` in the address.
  function addMethodPicker(room) {
    const parts = [...document.querySelectorAll("main [data-method]")];
    const names = [...new Set(parts.map((part) => part.dataset.method))];
    if (names.length < 2) return;
    const show = (wanted) => { for (const part of parts) part.classList.toggle("unpicked", !wanted.includes(part.dataset.method)); };
    const made = picker("Methods", names, names, (wanted) => { show(wanted); set({ methods: wanted.length === names.length ? null : wanted.join(",") }); }, methodName);
    const follow = () => {
      const asked = (get("methods") ?? "").split(",").filter((name) => names.includes(name));
      made.tick(asked.length ? asked : names);
      show(asked.length ? asked : names);
    };
    on("state", follow);
    follow();
    room.append(made);
  }

  function markLink(links, link) {
    for (const other of links.values()) {
      other.classList.toggle("here", other === link);
      if (other === link) other.setAttribute("aria-current", "true");
      else other.removeAttribute("aria-current");
    }
    bringIntoSight(link);
  }

  // Where the links scroll sideways; browsers leave a focused one where it is as soon as some of it shows.
  function bringIntoSight(link) {
    const row = link.parentElement;
    row.scrollTo({ left: link.offsetLeft - row.offsetLeft - (row.clientWidth - link.offsetWidth) / 2 });
  }

  function followSections() {
    const nav = document.querySelector(".bar nav");
    const links = new Map([...nav.querySelectorAll('a[href^="#"]')].map((link) => [link.hash.slice(1), link]));
    const watcher = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting) markLink(links, links.get(entry.target.id));
    }, { rootMargin: "-30% 0px -65% 0px" });
    nav.addEventListener("focusin", (event) => bringIntoSight(event.target));
    for (const id of links.keys()) if (document.getElementById(id)) watcher.observe(document.getElementById(id));
  }

  // A link to a part of the page keeps what is chosen.
  function followLink(event) {
    const link = event.target.closest?.('a[href^="#"]');
    const id = link?.getAttribute("href").slice(1);  // links in plots have no `hash`
    if (!id || event.defaultPrevented || !document.getElementById(id)) return;
    event.preventDefault();
    set({ at: id === "top" ? null : id });
    goTo(id);
    if (link.classList.contains("skip")) document.getElementById("top").focus();
  }

  function showTip(event) {
    const mark = event.target.closest?.(".plot svg [aria-label]");
    let tip = document.querySelector(".tip");
    if (!mark || !["graphics-symbol", "button"].includes(mark.getAttribute("role"))) {
      tip?.remove();
      return;
    }
    if (!tip) document.body.append(tip = element("div", { class: "tip", "aria-hidden": "true" }));
    tip.textContent = mark.getAttribute("aria-label");
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - width - 8)}px`;
    tip.style.top = `${event.clientY - height - 12 < 4 ? event.clientY + 18 : event.clientY - height - 12}px`;
  }

  // Visible columns of the last row of heads, but for the first.
  const shownColumns = (table) => [...table.tHead.rows[table.tHead.rows.length - 1].cells].map((_, at) => at).filter((at) => at > 0 && !table.tHead.rows[table.tHead.rows.length - 1].cells[at].hidden);

  // A table with more columns than paper is wide: as few parts as it takes below one another, each with the first column.
  const MOST_COLUMNS = 12;
  function cutIntoParts(table) {
    const shown = shownColumns(table);
    const size = Math.ceil(shown.length / Math.ceil(shown.length / MOST_COLUMNS));
    const parts = [];
    for (let from = size; from < shown.length; from += size) {
      const part = table.cloneNode(true);
      part.tHead.before(part.createCaption());
      part.caption.textContent = `${table.caption?.textContent ?? table.parentElement.getAttribute("aria-label") ?? ""}, continued`;
      showColumns(part, shown.slice(from, from + size));
      parts.push(part);
    }
    showColumns(table, shown.slice(0, size));
    table.after(...parts);
    return () => { for (const part of parts) part.remove(); showColumns(table, shown); };
  }

  // On paper what is folded is opened and wide tables are cut; afterwards all is as it was.
  const undo = [];
  window.addEventListener("beforeprint", () => {
    const folded = [...document.querySelectorAll("main details:not([open], .picker, .beside, .frame-values)")];
    for (const one of folded) one.open = true;
    undo.push(() => { for (const one of folded) one.open = false; });
    const tables = [...document.querySelectorAll("main .scroll > table")].filter((table) => table.tHead && table.checkVisibility());
    for (const table of tables) if (shownColumns(table).length > MOST_COLUMNS) undo.push(cutIntoParts(table));
  });
  window.addEventListener("afterprint", () => { for (const step of undo.splice(0)) step(); });

  // One part of the page on a sheet of its own size, as browsers save it as PDF.
  function printAlone(part, after = () => {}) {
    const sheet = new CSSStyleSheet();
    part.classList.add("alone-here");
    document.documentElement.classList.add("prints-alone");
    const { scrollWidth, scrollHeight } = part;
    sheet.replaceSync(`@page { size: ${scrollWidth + 40}px ${scrollHeight + 60}px; margin: 20px; }`);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    window.addEventListener("afterprint", () => {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
      document.documentElement.classList.remove("prints-alone");
      part.classList.remove("alone-here");
      after();
    }, { once: true });
    window.print();
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button");
    const table = button?.closest("table"); // none where a table that sorts by itself has drawn its head anew
    if (button?.classList.contains("sort")) { if (table && !("own" in table.dataset)) sort(button); }
    else if (button?.classList.contains("copy")) copyFact(button);
    else if (button?.classList.contains("alone")) printAlone(button.parentElement.previousElementSibling);
    else followLink(event);
  });
  document.addEventListener("pointermove", showTip);
  for (const box of document.querySelectorAll(".scroll[data-finds], .scroll[data-picks]")) addTools(box);
  for (const room of document.querySelectorAll("[data-picks-methods]")) addMethodPicker(room);
  on("state", sortAsAsked);
  sortAsAsked();
  followSections();
  document.addEventListener("DOMContentLoaded", () => { tell("ready"); if (get("at")) goTo(get("at")); });
  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  return { data, on, tell, get, set, goTo, unfold, numeric, number, short, count, element, breakable, methodName, announce, download, printAlone, copy, picker, still };
})();

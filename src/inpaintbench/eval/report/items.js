"use strict";
// The table of all items: filters, order, pages, means of what is shown, and its CSV.
(() => {
  const section = document.getElementById("items");
  if (!section) return;
  const { element, number, numeric, count } = page;
  const data = page.data.items;
  const form = section.querySelector(".filters");
  const table = section.querySelector("table.items");
  const { caption } = table;
  const [head, body] = [table.tHead, table.tBodies[0]];
  const MOST_TAGS = 3;
  table.dataset.own = ""; // it sorts by itself, all items and not the rows shown
  for (const columns of Object.values(data.values)) for (const column of columns) column.forEach((value, at) => { column[at] = numeric(value); });
  const slicesOf = data.ids.map(() => []);
  data.slices.forEach((slice, place) => slice.items.forEach((item) => slicesOf[item].push(place)));
  const quantities = new Map(data.quantities.map((one) => [`${one.metric}/${one.region}`, one]));
  const state = { key: form.quantity.value, order: "worst", column: null, falling: true, page: 0, rows: 20, item: null };
  let derived = new Map(); // item -> { mean, worst, spread } of the chosen quantity
  let shown = [];
  let methods = data.methods;

  const quantity = () => quantities.get(state.key);
  const attribute = () => (form.attribute.value === "" ? null : data.attributes[Number(form.attribute.value)]);
  const word = (one, item) => (one.values[item] === null ? null : one.numeric ? one.values[item] : one.words[one.values[item]]);

  // References come last; they are in no mean and never best.
  const contending = (item, key = state.key) => data.values[key].slice(0, data.contenders).map((column) => column[item]);

  // Whether each method's value of the item is its best, which few sources leave to nobody.
  function isBest(item, key) {
    const { higher, ranked } = quantities.get(key);
    const known = contending(item, key).filter((value) => value !== null);
    const best = data.bold && ranked && known.length > 1 ? (higher ? Math.max : Math.min)(...known) : null;
    return data.methods.map((method, place) => best !== null && place < data.contenders && data.values[key][place][item] === best);
  }

  function derive(item) {
    const values = contending(item).filter((value) => value !== null && Number.isFinite(value));
    if (!values.length) return { mean: null, worst: null, spread: null };
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    const spread = values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : null;
    const { higher, ranked } = quantity();
    return { mean, worst: ranked ? (higher ? Math.min : Math.max)(...values) : null, spread };
  }

  function passes(item) {
    const one = attribute();
    const text = form.text.value.trim().toLowerCase();
    if (form.slice.value !== "" && !slicesOf[item].includes(Number(form.slice.value))) return false;
    if (text && !`${data.ids[item]}\n${data.sources[item]}\n${data.source_names[item] ?? ""}`.toLowerCase().includes(text)) return false;
    if (!one) return true;
    if (!one.numeric) return form.word.value === "" || String(word(one, item) ?? "") === form.word.value.slice(1);
    const [low, high] = [form.low.value, form.high.value];
    const value = one.values[item];
    if (value === null) return low === "" && high === "";
    return (low === "" || value >= Number(low)) && (high === "" || value <= Number(high));
  }

  // What a column sorts by; null comes last in any order.
  function valueOf(column, item) {
    if (column === "item") return data.ids[item];
    if (column === "slices") return slicesOf[item].length ? slicesOf[item].map((place) => String(place).padStart(4, "0")).join(" ") : null;
    if (column === "attribute") return attribute() ? word(attribute(), item) : null;
    if (["mean", "worst", "spread"].includes(column)) return derived.get(item)[column];
    return data.values[state.key][column][item];
  }

  // Column and direction; none for the data's own order.
  const orders = () => ({ worst: ["mean", !quantity().higher], best: ["mean", quantity().higher], disagreed: ["spread", true], column: [state.column, state.falling] });

  function sorted(items) {
    const [column, falling] = orders()[state.order] ?? [];
    if (column === undefined) return items;
    const keys = new Map(items.map((item) => [item, valueOf(column, item)]));
    const compare = (one, other) => (one === other ? 0 : one < other ? -1 : 1);
    const known = items.filter((item) => keys.get(item) !== null);
    known.sort((one, other) => (falling ? -1 : 1) * compare(keys.get(one), keys.get(other)) || one - other);
    return [...known, ...items.filter((item) => keys.get(item) === null)];
  }

  function columns() {
    const one = attribute();
    return [
      { key: "item", name: "Item" },
      { key: "slices", name: "Slices" },
      ...(one ? [{ key: "attribute", name: one.label, end: one.numeric }] : []),
      ...data.methods.map((method, index) => ({ key: index, name: page.methodName(method), end: true })).filter(({ key }) => methods.includes(data.methods[key])),
      { key: "mean", name: "Mean", end: true },
      ...(quantity().ranked ? [{ key: "worst", name: "Worst", end: true }] : []),
      { key: "spread", name: "Spread", end: true },
    ];
  }

  function drawHead() {
    const [column, falling] = orders()[state.order] ?? [null, false];
    const cells = columns().map(({ key, name, end }) => {
      const sort = key === column ? (falling ? "descending" : "ascending") : "none";
      const button = element("button", { type: "button", class: "sort", "data-column": key }, name);
      return element("th", { scope: "col", class: end ? "n" : null, "aria-sort": sort }, button);
    });
    head.replaceChildren(element("tr", {}, ...cells));
  }

  function tags(item) {
    const places = slicesOf[item];
    const cell = element("td", { class: "tags", title: places.map((place) => data.slices[place].name).join(", ") });
    for (const place of places.slice(0, MOST_TAGS)) cell.append(element("span", { class: "tag" }, data.slices[place].name));
    if (places.length > MOST_TAGS) cell.append(element("span", { class: "tag more" }, `+${places.length - MOST_TAGS}`));
    return cell;
  }

  function drawRow(item) {
    const { decimals, ranked } = quantity();
    const values = data.values[state.key].map((column) => column[item]);
    const best = isBest(item, state.key);
    const one = attribute();
    const name = element("button", { type: "button", class: "item", "data-item": item }, element("code", {}, page.breakable(data.ids[item])));
    const plays = item in data.shown ? element("span", { class: "plays", title: "has a video" }, "▶", element("span", { class: "visually-hidden" }, "has a video")) : "";
    const cells = [
      element("th", { scope: "row" }, name, plays, data.source_names[item] === null ? "" : element("span", { class: "source" }, page.breakable(data.source_names[item]))),
      tags(item),
      ...(one ? [element("td", { class: one.numeric ? "n" : null }, page.short(word(one, item)))] : []),
      ...values.map((value, place) => [value, place]).filter(([, place]) => methods.includes(data.methods[place])).map(([value, place]) => element("td", { class: "n" }, best[place] ? element("b", {}, number(value, decimals)) : number(value, decimals))),
      ...["mean", ...(ranked ? ["worst"] : []), "spread"].map((key) => element("td", { class: "n derived" }, number(derived.get(item)[key], decimals))),
    ];
    return element("tr", { "aria-current": item === state.item ? "true" : null }, ...cells);
  }

  function drawRows() {
    const pages = Math.max(1, Math.ceil(shown.length / state.rows));
    state.page = Math.max(0, Math.min(state.page, pages - 1));
    const start = state.page * state.rows;
    body.replaceChildren(...shown.slice(start, start + state.rows).map(drawRow));
    if (!shown.length) body.append(element("tr", {}, element("td", { colspan: columns().length, class: "nothing" }, "No item passes these filters.")));
    const [previous, next] = section.querySelectorAll("[data-page]");
    previous.disabled = state.page === 0;
    next.disabled = state.page === pages - 1;
    const words = shown.length ? `${(start + 1).toLocaleString("en")}–${Math.min(start + state.rows, shown.length).toLocaleString("en")} of ${shown.length.toLocaleString("en")}` : "0";
    section.querySelector(".page-words").textContent = words;
  }

  // Means of what is shown, for orientation: the published scores are those of slices.
  function means() {
    return data.values[state.key].map((column) => {
      const known = shown.map((item) => column[item]).filter((value) => value !== null && Number.isFinite(value));
      return { mean: known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null, n: known.length };
    });
  }

  function drawMeans() {
    const { label, where, unit, decimals } = quantity();
    const place = section.querySelector(".shown-means");
    const heading = element("p", { class: "shown-count" }, element("b", {}, `${shown.length.toLocaleString("en")} of ${count(data.ids.length, "item")}`));
    const list = element("ul");
    means().forEach(({ mean, n }, index) => {
      if (!methods.includes(data.methods[index])) return;
      const value = `${number(mean, decimals)}${unit && mean !== null ? ` ${unit}` : ""}`;
      list.append(element("li", {}, page.methodName(data.methods[index]), element("b", {}, value), element("small", {}, `n ${n}`)));
    });
    const note = `Means of ${label} in the ${where} over the items shown, every item the same, without infinite and missing values: not the published scores, which are those of slices above.`;
    place.replaceChildren(heading, list, element("p", { class: "note" }, note));
  }

  function sentence() {
    const { label, unit, decimals } = quantity();
    const words = means().map(({ mean }, index) => `${data.methods[index]} ${number(mean, decimals)}${unit && mean !== null ? ` ${unit}` : ""}`);
    return `${shown.length} of ${count(data.ids.length, "item")}; mean ${label}: ${words.join(", ")}`;
  }

  function update({ told = true } = {}) {
    derived = new Map(data.ids.map((id, item) => [item, derive(item)]));
    shown = sorted(data.ids.map((id, item) => item).filter(passes));
    const { label, where } = quantity();
    caption.textContent = `${label} in the ${where}.${data.bold ? " The best value of a row is bold." : ""}`;
    drawHead();
    drawRows();
    drawMeans();
    if (told) page.announce(sentence(), "items");
    page.tell("filtered", shown);
  }

  function chooseAttribute() {
    const one = attribute();
    section.querySelector("[data-filter=word]").hidden = !one || one.numeric;
    section.querySelector("[data-filter=range]").hidden = !one || !one.numeric;
    if (!one) return;
    if (one.numeric) {
      const known = one.values.filter((value) => value !== null);
      const [low, high] = [Math.min(...known), Math.max(...known)];
      [form.low.value, form.high.value] = ["", ""];
      [form.low.placeholder, form.high.placeholder] = [page.short(low), page.short(high)];
    } else {
      const words = [...one.words, ...(one.values.includes(null) ? [""] : [])];
      // A mark before each word tells "any" from "without".
      form.word.replaceChildren(element("option", { value: "" }, "any"), ...words.map((each) => element("option", { value: `=${each}` }, each || "without")));
    }
  }

  function chooseQuantity(key) {
    if (!quantities.has(key)) return;
    state.key = key;
    form.quantity.value = key;
    const { ranked } = quantity();
    for (const value of ["worst", "best"]) form.order.querySelector(`[value=${value}]`).disabled = !ranked;
    if (!ranked && ["worst", "best"].includes(state.order)) setOrder("disagreed");
  }

  function setOrder(order, column = null, falling = true) {
    Object.assign(state, { order, column, falling, page: 0 });
    form.order.querySelector("[value=column]").hidden = order !== "column";
    form.order.value = order;
  }

  function csv() {
    const keys = [...quantities.keys()];
    const columns = ["item_id", "source", "source_name", "slices", ...data.attributes.map((one) => one.name), ...keys.flatMap((key) => data.methods.map((method) => `${key}/${method}`))];
    const quoted = (value) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
    // A spreadsheet would run such a text as a formula.
    const harmless = (value) => (/^\s*[=+\-@]/.test(value) && Number.isNaN(Number(value)) ? `'${value}` : value);
    const number = (value) => (Number.isFinite(value) ? String(value) : value > 0 ? "inf" : "-inf");
    const cell = (value) => (value === null || value === undefined ? "" : typeof value === "number" ? number(value) : quoted(harmless(String(value))));
    const rows = shown.map((item) => [
      data.ids[item], data.sources[item], data.source_names[item], slicesOf[item].map((place) => data.slices[place].name).join(";"),
      ...data.attributes.map((one) => word(one, item)),
      ...keys.flatMap((key) => data.values[key].map((column) => column[item])),
    ]);
    return [columns, ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n";
  }

  // Filters and order in the address, where they are not the usual ones.
  const FIELDS = { order: "order", of: "slice", attribute: "attribute", word: "word", low: "low", high: "high", find: "text" };

  const usual = () => ({ order: quantity().ranked ? "worst" : "disagreed" });

  const tellAddress = () => page.set(Object.fromEntries(Object.entries(FIELDS).map(([name, field]) => [name, form[field].value === (usual()[name] ?? "") || form[field].value === "column" ? null : form[field].value])));

  function fromAddress() {
    for (const [name, field] of Object.entries(FIELDS)) {
      form[field].value = page.get(name) ?? usual()[name] ?? "";
      if (name === "attribute") chooseAttribute();
      if (name === "order") setOrder(form.order.value || usual().order);
    }
    update({ told: false });
    if (Object.keys(FIELDS).some((name) => page.get(name))) page.unfold(section);
  }

  function select(item) {
    state.item = item;
    drawRows();
    page.tell("item", item);
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => {
    if (event.target.name === "quantity") chooseQuantity(event.target.value);
    if (event.target.name === "order") setOrder(event.target.value);
    if (event.target.name === "attribute") chooseAttribute();
    state.page = 0;
    tellAddress();
    update();
  });
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    for (const name of ["slice", "attribute", "text", "low", "high"]) form[name].value = "";
    chooseAttribute();
    setOrder(usual().order);
    tellAddress();
    update();
  });
  form.querySelector("[data-action=csv]").addEventListener("click", () => {
    page.download("items.csv", csv(), "text/csv");
    page.announce(`CSV of ${count(shown.length, "item")}`, "items");
  });
  head.addEventListener("click", (event) => {
    const button = event.target.closest("button.sort");
    if (!button) return;
    const key = /^\d+$/.test(button.dataset.column) ? Number(button.dataset.column) : button.dataset.column;
    const before = button.closest("th").getAttribute("aria-sort");
    const falling = before === "none" ? !["item", "slices"].includes(key) : before === "ascending";
    setOrder("column", key, falling);
    update({ told: false });
    head.querySelector(`[data-column="${key}"]`).focus();
    page.announce(`Sorted, ${falling ? "largest" : "smallest"} first`, "items");
  });
  body.addEventListener("click", (event) => {
    const button = event.target.closest("button.item");
    if (button) select(Number(button.dataset.item));
  });
  section.querySelector(".pager").addEventListener("click", (event) => {
    const change = event.target.dataset.page;
    if (!change) return;
    state.page += Number(change);
    drawRows();
    page.announce(`Items ${section.querySelector(".page-words").textContent}`, "items");
  });
  section.querySelector(".pager select").addEventListener("change", (event) => {
    state.rows = Number(event.target.value);
    state.page = 0;
    drawRows();
  });
  page.on("chosen", ({ metric, region }) => { chooseQuantity(`${metric}/${region}`); update({ told: false }); });
  page.on("methods", (wanted) => { methods = wanted; drawHead(); drawRows(); drawMeans(); });
  page.on("ready", fromAddress);
  page.on("state", fromAddress);
  page.items = { data, quantities, slicesOf, word, isBest, select, csv };
})();

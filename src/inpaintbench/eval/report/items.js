// The table of all items, as the workbench has it: filters, order, means of what is shown, and its CSV.
(() => {
  const section = document.getElementById("items");
  if (!section) return;
  const { element, count } = page;
  const { number, average } = shared;
  const data = page.data.items;
  const form = section.querySelector(".filters");
  const known = section.querySelector(".shown-means");
  const items = shared.Items.listed({ ...data, names: data.ids, under: data.source_names, styles: structuredClone(page.data.styles), default: form.quantity.value });
  const facts = items.facts.slice(1);
  const state = { column: "item", falling: false, item: null };
  let left = new Int32Array(0);
  let order = left;
  const names = data.methods.map((one) => one.name);
  let methods = names;
  const plays = (item) => (item in data.shown ? element("span", { class: "plays", title: "has a video" }, "▶", element("span", { class: "visually-hidden" }, "has a video")) : null);
  const table = new shared.Table(section.querySelector("[data-table]"), { open: select, sort: sortBy, mark: plays });
  section.querySelector(".scroll").remove(); // the rows that are there without scripts

  const attribute = () => (form.attribute.value === "" ? null : facts[Number(form.attribute.value)]);

  function filters() {
    const one = attribute();
    if (!one) return [];
    if (!one.numeric) return form.word.value === "" ? [] : [{ key: `a|${one.key}`, words: [form.word.value.slice(1)] }];
    const [low, high] = [form.low.value, form.high.value];
    return low === "" && high === "" ? [] : [{ key: `a|${one.key}`, low: low === "" ? -Infinity : Number(low), high: high === "" ? Infinity : Number(high) }];
  }

  // Column and direction.
  const sorting = () => ({ worst: ["mean", !items.quantity.higher], best: ["mean", items.quantity.higher], disagreed: ["spread", true], column: [state.column, state.falling] })[form.order.value] ?? ["", false];

  function update({ told = true } = {}) {
    items.choose(form.quantity.value, methods, "");
    left = items.passing({ filters: filters(), text: form.text.value, slice: data.slices[form.slice.value]?.[0] });
    const [by, falling] = sorting();
    order = items.sorted(left, by, falling);
    const chosen = attribute();
    const columns = ["a|slices", ...(chosen ? [`a|${chosen.key}`] : []), ...items.shown.map((one) => `v|${one.name}`), "mean", "worst", "spread"];
    table.show({ items, order, columns, by, falling, item: state.item, looks: items.styles });
    drawMeans(told);
    page.tell("filtered", left);
  }

  // Means of what is shown, for orientation: the published scores are those of slices.
  function drawMeans(told) {
    const { key, label, where, unit, decimals } = items.quantity;
    const means = items.shown.map(({ name }) => [name, [...left].map((item) => items.held.get(`${key}|${name}`)[item])]).map(([name, values]) => {
      const mean = average(values);
      return { name, n: values.filter(Number.isFinite).length, text: `${number(mean, decimals)}${unit && !Number.isNaN(mean) ? ` ${unit}` : ""}` };
    });
    const note = `Means of ${label} in the ${where} over the items shown, every item the same, without infinite and missing values: not the published scores, which are those of slices above.${data.bold ? " In the table the best value of a row is bold." : ""}`;
    known.replaceChildren(element("p", { class: "shown-count" }, element("b", {}, `${left.length.toLocaleString("en")} of ${count(items.n, "item")}`)),
      element("ul", {}, ...means.map(({ name, n, text }) => element("li", {}, page.methodName(name), element("b", {}, text), element("small", {}, `n ${n}`)))),
      element("p", { class: "note" }, note));
    if (told) page.announce(`${left.length} of ${count(items.n, "item")}; mean ${label}: ${means.map(({ name, text }) => `${name} ${text}`).join(", ")}`, "items");
  }

  function chooseAttribute() {
    const one = attribute();
    section.querySelector("[data-filter=word]").hidden = !one || one.numeric;
    section.querySelector("[data-filter=range]").hidden = !one?.numeric;
    if (one?.numeric) {
      const known = one.values.filter((value) => value !== null);
      [form.low.value, form.high.value] = ["", ""];
      [form.low.placeholder, form.high.placeholder] = [Math.min(...known), Math.max(...known)].map((value) => page.short(value));
    } else if (one) {
      const words = [...one.words, ...(one.values.includes(null) ? [""] : [])];
      // A mark before each word tells "any" from "without".
      form.word.replaceChildren(element("option", { value: "" }, "any"), ...words.map((each) => element("option", { value: `=${each}` }, each || "without")));
    }
  }

  function chooseQuantity(key) {
    const one = items.quantities.find((found) => found.key === key);
    if (!one) return;
    form.quantity.value = key;
    for (const value of ["worst", "best"]) form.order.querySelector(`[value=${value}]`).disabled = !one.ranked;
    if (!one.ranked && ["worst", "best"].includes(form.order.value)) form.order.value = "disagreed";
  }

  function sortBy(key) {
    const [by, falling] = sorting();
    Object.assign(state, { column: key, falling: key === by ? !falling : !["item", "a|slices"].includes(key) });
    form.order.querySelector("[value=column]").hidden = false;
    form.order.value = "column";
    update({ told: false });
    page.announce(`Sorted, ${state.falling ? "largest" : "smallest"} first`, "items");
  }

  // Filters and order in the address, where they are not the usual ones.
  const FIELDS = { order: "order", of: "slice", attribute: "attribute", word: "word", low: "low", high: "high", find: "text" };
  const usual = (name) => (name !== "order" ? "" : items.quantities.find((one) => one.key === form.quantity.value).ranked ? "worst" : "disagreed");

  function changed() {
    page.set(Object.fromEntries(Object.entries(FIELDS).map(([name, field]) => [name, [usual(name), "column"].includes(form[field].value) ? null : form[field].value])));
    update();
  }

  function fromAddress() {
    for (const [name, field] of Object.entries(FIELDS)) {
      form[field].value = page.get(name) ?? usual(name);
      if (form[field].value === "" && name === "order") form.order.value = usual(name); // an address may say anything
      if (name === "attribute") chooseAttribute();
    }
    update({ told: false });
    if (Object.keys(FIELDS).some((name) => page.get(name))) page.unfold(section);
  }

  function select(item) {
    state.item = item;
    update({ told: false });
    page.tell("item", item);
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => {
    if (event.target.name === "quantity") chooseQuantity(event.target.value);
    if (event.target.name === "attribute") chooseAttribute();
    changed();
  });
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    for (const name of ["slice", "attribute", "text", "low", "high"]) form[name].value = "";
    form.order.value = usual("order");
    chooseAttribute();
    changed();
  });
  form.querySelector("[data-action=csv]").addEventListener("click", () => {
    const columns = [...facts.map((one) => [one.key, items.column(`a|${one.key}`)]), ...items.quantities.flatMap(({ key }) => names.map((name) => [`${key}/${name}`, items.column(`s|${key}|${name}`)]))];
    const rows = [...order].map((item) => [data.ids[item], data.sources[item], data.source_names[item], data.slices.filter(([, , own]) => own.includes(item)).map(([name]) => name).join(";"), ...columns.map(([, column]) => items.word(column, item))]);
    page.download("items.csv", shared.csv([["item_id", "source", "source_name", "slices", ...columns.map(([name]) => name)], ...rows]), "text/csv");
    page.announce(`CSV of ${count(order.length, "item")}`, "items");
  });
  page.on("chosen", ({ metric, region }) => { chooseQuantity(`${metric}/${region}`); update({ told: false }); });
  page.on("methods", (wanted) => { methods = wanted; update({ told: false }); });
  page.on("ready", fromAddress);
  page.on("state", fromAddress);
  page.items = { items, facts, data, select, focus: () => table.node.querySelector(`[data-item="${state.item}"] button`)?.focus() };
})();

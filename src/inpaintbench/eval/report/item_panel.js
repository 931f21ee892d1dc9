"use strict";
// Everything of one item: its facts, every number of every method, and where it plays.
(() => {
  const panel = document.querySelector(".item-panel");
  if (!panel) return;
  const { element, number } = page;
  const { data, quantities, slicesOf, word, isBest } = page.items;

  function scores(item) {
    const heads = ["Value", ...data.methods.map((method) => page.methodName(method))];
    const rows = [...quantities.entries()].map(([key, one]) => {
      const values = data.values[key].map((column) => column[item]);
      const best = isBest(item, key);
      const name = `${one.label}${one.ranked ? (one.higher ? " ↑" : " ↓") : ""}${one.unit ? ` (${one.unit})` : ""}`;
      const cells = values.map((value, place) => element("td", { class: "n" }, best[place] ? element("b", {}, number(value, one.decimals)) : number(value, one.decimals)));
      return element("tr", {}, element("th", { scope: "row" }, name, " ", element("small", {}, one.where)), ...cells);
    });
    const top = element("tr", {}, ...heads.map((name, index) => element("th", { scope: "col", class: index ? "n" : null }, name)));
    const table = element("table", { class: "list" }, element("caption", {}, `Every value of the item${data.bold ? "; the best of a row is bold" : ""}.`), element("thead", {}, top), element("tbody", {}, ...rows));
    return element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Values of the item" }, table);
  }

  function facts(item) {
    const list = element("dl", { class: "facts" });
    const add = (name, value) => list.append(element("div", {}, element("dt", {}, name), element("dd", {}, value)));
    if (data.source_names[item] !== null) add("Source", page.breakable(data.source_names[item]));
    add("Source id", page.breakable(data.sources[item]));
    add("Slices", slicesOf[item].map((place) => data.slices[place].name).join(", ") || "none");
    for (const one of data.attributes) {
      const value = word(one, item);
      if (value !== null) add(one.label, one.numeric ? page.short(value) : page.breakable(value));
    }
    return list;
  }

  function media(item) {
    const target = data.shown[item];
    if (target) return element("p", {}, element("a", { class: "show", href: `#${target}` }, "See it in the gallery"));
    const command = `inpaintbench eval report ${page.data.folders} --show ${data.ids[item]}`;
    return element("p", { class: "note" }, "This page has no video of it and no values of its frames. A report with them: ", element("code", {}, command));
  }

  function show(item) {
    const close = element("button", { type: "button", class: "close", "aria-label": "Close the item" }, "×");
    close.addEventListener("click", () => { panel.hidden = true; document.querySelector(`button.item[data-item="${item}"]`)?.focus(); });
    panel.replaceChildren(close, element("h3", {}, "Item ", element("code", {}, page.breakable(data.ids[item]))), media(item), facts(item), scores(item));
    panel.hidden = false;
    page.unfold(panel);
    panel.focus({ preventScroll: true });
    panel.scrollIntoView({ block: "nearest", behavior: page.still ? "auto" : "smooth" });
  }

  page.on("item", show);
})();

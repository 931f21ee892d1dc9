// Everything of one item: its facts, every number of every method, and where it plays.
(() => {
  const panel = document.querySelector(".item-panel");
  if (!panel) return;
  const { element } = page;
  const { number } = shared;
  const { items, facts, data, focus } = page.items;

  function scores(item) {
    const heads = ["Value", ...items.methods.map(({ name }) => page.methodName(name))];
    const rows = items.quantities.map((one) => {
      const best = items.best(one.key, item);
      const name = `${one.label}${one.ranked ? (one.higher ? " ↑" : " ↓") : ""}${one.unit ? ` (${one.unit})` : ""}`;
      const cells = items.methods.map((method) => {
        const value = items.held.get(`${one.key}|${method.name}`)[item];
        const text = number(value, one.decimals);
        return element("td", { class: "n" }, value === best && !method.reference ? element("b", {}, text) : text);
      });
      return element("tr", {}, element("th", { scope: "row" }, name, " ", element("small", {}, one.where)), ...cells);
    });
    const top = element("tr", {}, ...heads.map((name, index) => element("th", { scope: "col", class: index ? "n" : null }, name)));
    const caption = `Every value of the item${items.bold ? "; the best of a row is bold" : ""}.`;
    return [element("caption", {}, caption), element("thead", {}, top), element("tbody", {}, ...rows)];
  }

  function known(item) {
    const rows = [["Source", data.source_names[item]], ["Source id", data.sources[item]], ["Slices", items.word(items.facts[0], item) ?? "none"], ...facts.map((one) => [one.label, items.word(one, item)])];
    const told = (value) => (typeof value === "number" ? page.short(value) : page.breakable(value));
    return rows.filter(([, value]) => value !== null && !Number.isNaN(value)).map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, told(value))));
  }

  function show(item) {
    const [place, target] = [(name) => panel.querySelector(`[data-of=${name}]`), data.shown[item]];
    place("id").replaceChildren(page.breakable(data.ids[item]));
    place("gallery").hidden = !target;
    place("gallery").firstElementChild.href = `#${target}`;
    place("none").hidden = Boolean(target);
    place("command").textContent = data.ids[item];
    place("facts").replaceChildren(...known(item));
    place("scores").replaceChildren(...scores(item));
    panel.hidden = false;
    page.unfold(panel);
    panel.focus({ preventScroll: true });
    panel.scrollIntoView({ block: "nearest", behavior: page.still ? "auto" : "smooth" });
  }

  panel.querySelector(".close").addEventListener("click", () => { panel.hidden = true; focus(); });
  page.on("item", show);
})();

// A metric against an attribute, a dot for each item and method, with Spearman's rank correlation.
(() => {
  const section = document.getElementById("scatter");
  const place = section?.querySelector(".plot");
  if (!place) return;
  const { element } = page;
  const { average, number } = shared;
  const { items, facts, select } = page.items;
  const form = section.querySelector(".filters");
  const table = section.querySelector("table.rho");
  const MOST_DOTS = 6000;
  let methods = items.methods.map((one) => one.name);
  let left = items.ids.map((id, item) => item);

  // Places from 1, equal values at the mean of theirs.
  function ranks(values) {
    const ends = new Map(); // the first and the last place of each
    values.toSorted((one, other) => (one < other ? -1 : Number(one > other))).forEach((value, at) => ends.set(value, [ends.get(value)?.[0] ?? at + 1, at + 1]));
    return values.map((value) => average(ends.get(value)));
  }

  // Null where fewer than three pairs are there or one side never changes. An infinite value ranks above all others.
  function spearman(pairs) {
    if (pairs.length < 3) return null;
    const sides = [0, 1].map((side) => ranks(pairs.map((pair) => pair[side])));
    const middle = (pairs.length + 1) / 2;
    const sum = (left, right) => left.reduce((total, value, at) => total + (value - middle) * (right[at] - middle), 0);
    const scale = Math.sqrt(sum(sides[0], sides[0]) * sum(sides[1], sides[1]));
    return scale ? sum(sides[0], sides[1]) / scale : null;
  }

  function lines() {
    const { column: across } = facts[Number(form.attribute.value)];
    return items.methods.filter(({ name }) => methods.includes(name)).map(({ name: method }) => {
      const column = items.held.get(`${form.quantity.value}|${method}`);
      const known = left.filter((item) => !Number.isNaN(across[item]) && !Number.isNaN(column[item]));
      return { method, known, pairs: Array.from(known, (item) => [across[item], column[item]]) };
    });
  }

  // The mean of each reference as a dashed line; the scale is that of the others, beyond it the line lies at the edge.
  function references(found, one) {
    const finite = ({ pairs }) => pairs.map(([, y]) => y).filter(Number.isFinite);
    const isReference = ({ method }) => page.data.references.includes(method);
    const others = found.filter((line) => !isReference(line)).flatMap(finite);
    const [low, high] = others.length ? [Math.min(...others), Math.max(...others)] : [0, 1];
    return found.filter((line) => isReference(line) && finite(line).length).map((line) => {
      const values = finite(line);
      const mean = average(values);
      const beyond = mean > high ? " ↑" : mean < low ? " ↓" : "";
      return { kind: "reference", y: Math.min(Math.max(mean, low), high), told: `${line.method}, reference: mean ${number(mean, one.decimals)}${beyond}` };
    });
  }

  // Every so many items, so that the plot stays quick; correlations take all.
  const apart = () => Math.ceil((left.length * items.methods.length) / MOST_DOTS);

  function rowsOf(found, attribute, one) {
    const every = Math.max(1, apart());
    const contending = found.filter(({ method }) => !page.data.references.includes(method));
    const dots = contending.flatMap(({ method, known, pairs }) => pairs
      .map(([x, y], at) => ({ kind: "dot", method, x, y, item: known[at], told: `${items.ids[known[at]]}, ${method}: ${page.short(x)}, ${number(y, one.decimals)}` }))
      .filter(({ y }, at) => Number.isFinite(y) && at % every === 0));
    return [...dots, ...references(found, one)];
  }

  async function plot(found, attribute, one) {
    const chart = structuredClone(page.data.charts.scatter);
    for (const { encoding } of chart.layer) {
      if (encoding.x?.field) encoding.x.title = attribute.label;
      encoding.y.title = `${one.label}${one.unit ? ` (${one.unit})` : ""} in the ${one.where}`;
    }
    const view = await page.draw(place, page.fitted(place, chart, 280), rowsOf(found, attribute, one));
    view.addEventListener("click", (event, mark) => { if (mark?.datum?.item !== undefined) select(mark.datum.item); });
    place.dataset.drawn = `${form.quantity.value} ${attribute.key}`;
  }

  function draw() {
    const attribute = facts[Number(form.attribute.value)];
    const one = items.quantities.find(({ key: own }) => own === form.quantity.value);
    const found = lines();
    const rows = found.map(({ method, pairs }) => {
      const rho = spearman(pairs);
      return element("tr", {}, element("th", { scope: "row" }, page.methodName(method)), element("td", { class: "n" }, number(rho, 2)), element("td", { class: "n" }, String(pairs.length)));
    });
    table.caption.textContent = `Spearman's ρ of ${one.label} in the ${one.where} with ${attribute.label}`;
    table.tBodies[0].replaceChildren(...rows);
    const words = found.map(({ method, pairs }) => `${method} ρ ${number(spearman(pairs), 2)} over ${page.count(pairs.length, "item")}`);
    place.setAttribute("aria-label", `Scatter plot of ${one.label} against ${attribute.label}: ${words.join("; ")}. The numbers of each item are in the table of items.`);
    section.querySelector("[data-sampled]").hidden = apart() <= 1;
    section.querySelector("[data-sampled]").textContent = `The plot has one item in ${apart()}, ρ is over all.`;
    plot(found, attribute, one);
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", draw);
  page.on("resized", draw);
  page.on("filtered", (shown) => { left = shown; draw(); });
  page.on("methods", (wanted) => { methods = wanted; draw(); });
  page.on("chosen", ({ metric, region }) => { if (items.quantities.some((one) => one.key === `${metric}/${region}`)) { form.quantity.value = `${metric}/${region}`; draw(); } });
})();

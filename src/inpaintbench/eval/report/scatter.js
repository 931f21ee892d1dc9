"use strict";
// A metric against an attribute, a dot for each item and method, with Spearman's rank correlation.
(() => {
  const section = document.getElementById("scatter");
  const place = section?.querySelector(".plot");
  if (!place) return;
  const { element, number } = report;
  const { data, quantities, select } = report.items;
  const form = section.querySelector(".filters");
  const table = section.querySelector("table.rho");
  const MOST_DOTS = 6000;
  let visible = false;
  let stale = null;
  let items = data.ids.map((id, item) => item);

  // Places from 1, equal values at the mean of theirs.
  function ranks(values) {
    const order = values.map((value, at) => at).sort((one, other) => values[one] - values[other]);
    const found = new Array(values.length);
    for (let start = 0; start < order.length;) {
      let end = start;
      while (end < order.length && values[order[end]] === values[order[start]]) end += 1;
      for (let at = start; at < end; at += 1) found[order[at]] = (start + 1 + end) / 2;
      start = end;
    }
    return found;
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
    const attribute = data.attributes[Number(form.attribute.value)];
    return data.methods.map((method, index) => {
      const column = data.values[form.quantity.value][index];
      const known = items.filter((item) => attribute.values[item] !== null && column[item] !== null);
      return { method, known, pairs: known.map((item) => [attribute.values[item], column[item]]) };
    });
  }

  // The mean of each reference as a dashed line; the scale is that of the others, beyond it the line lies at the edge.
  function references(found, one) {
    const finite = ({ pairs }) => pairs.map(([, y]) => y).filter(Number.isFinite);
    const isReference = ({ method }) => report.data.references.includes(method);
    const others = found.filter((line) => !isReference(line)).flatMap(finite);
    const lines = found.filter((line) => isReference(line) && finite(line).length);
    if (!lines.length) return {};
    const [low, high] = others.length ? [Math.min(...others), Math.max(...others)] : [0, 1];
    const placed = lines.map((line) => {
      const values = finite(line);
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      return { method: line.method, mean, at: Math.min(Math.max(mean, low), high), beyond: mean > high ? " ↑" : mean < low ? " ↓" : "" };
    });
    return {
      shapes: placed.map(({ method, at }) => ({ type: "line", xref: "paper", x0: 0, x1: 1, y0: at, y1: at, line: { color: report.data.colours[method], dash: "dash", width: 1.5 } })),
      annotations: placed.map(({ method, mean, at, beyond }) => ({ xref: "paper", x: 1, xanchor: "right", y: at, yanchor: "bottom", showarrow: false, text: `${method}, reference: mean ${number(mean, one.decimals)}${beyond}`, font: { size: 12 } })),
    };
  }

  // Every so many items, so that the plot stays quick; correlations take all.
  const apart = () => Math.ceil((items.length * data.methods.length) / MOST_DOTS);

  function figure(found, attribute, one) {
    const every = Math.max(1, apart());
    const grid = { gridcolor: "rgba(127,137,150,0.22)", zerolinecolor: "rgba(127,137,150,0.5)", automargin: true };
    const title = `${one.label}${one.unit ? ` (${one.unit})` : ""} in the ${one.where}`;
    const font = { ...report.data.difficulty[Object.keys(report.data.difficulty)[0]].layout.font };
    const contending = found.filter(({ method }) => !report.data.references.includes(method));
    return {
      data: contending.map(({ method, known, pairs }) => {
        const finite = pairs.map(([x, y], at) => ({ x, y, item: known[at] })).filter(({ y }, at) => Number.isFinite(y) && at % every === 0);
        return {
          type: "scatter", mode: "markers", name: method, x: finite.map(({ x }) => x), y: finite.map(({ y }) => y),
          customdata: finite.map(({ item }) => item), text: finite.map(({ item }) => data.ids[item]),
          marker: { color: report.data.colours[method], size: 8, opacity: 0.78, line: { width: 0.75 } },
          hovertemplate: `%{text}<br>%{x:.4g}, %{y:.4g}`,
        };
      }),
      layout: {
        height: 420, autosize: true, showlegend: false, margin: { l: 64, r: 12, t: 12, b: 48 }, font, hoverlabel: { font },
        paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: "closest",
        xaxis: { ...grid, title: { text: attribute.label } }, yaxis: { ...grid, title: { text: title } }, ...references(found, one),
      },
    };
  }

  function draw() {
    const attribute = data.attributes[Number(form.attribute.value)];
    const one = quantities.get(form.quantity.value);
    const found = lines();
    const rows = found.map(({ method, pairs }) => {
      const rho = spearman(pairs);
      return element("tr", {}, element("th", { scope: "row" }, report.methodName(method)), element("td", { class: "n" }, number(rho, 2)), element("td", { class: "n" }, String(pairs.length)));
    });
    table.caption.textContent = `Spearman's ρ of ${one.label} in the ${one.where} with ${attribute.label}`;
    table.tBodies[0].replaceChildren(...rows);
    const words = found.map(({ method, pairs }) => `${method} ρ ${number(spearman(pairs), 2)} over ${report.count(pairs.length, "item")}`);
    place.setAttribute("aria-label", `Scatter plot of ${one.label} against ${attribute.label}: ${words.join("; ")}. The numbers of each item are in the table of items.`);
    section.querySelector("[data-sampled]").hidden = apart() <= 1;
    section.querySelector("[data-sampled]").textContent = `The plot has one item in ${apart()}, ρ is over all.`;
    stale = () => report.draw("scatter", figure(found, attribute, one));
    if (visible) plot();
  }

  // Thousands of dots take a moment: they are drawn when the plot is in sight.
  function plot() {
    if (!stale) return;
    stale();
    stale = null;
    if (!place.listening) {
      place.listening = true;
      place.on("plotly_click", (event) => select(event.points[0].customdata));
    }
  }

  new IntersectionObserver((entries) => {
    visible = entries[0].isIntersecting;
    if (visible) plot();
  }, { rootMargin: "300px" }).observe(section);

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", draw);
  report.on("filtered", (shown) => { items = shown; draw(); });
  report.on("chosen", ({ metric, region }) => { if (quantities.has(`${metric}/${region}`)) { form.quantity.value = `${metric}/${region}`; draw(); } });
})();

// Plots whose data the reader chooses: a Vega-Lite chart over named rows, drawn as SVG in the page's colours.

// As wide as its place, but never narrower than `least`, where names would run into each other: then it scrolls.
page.fitted = (place, chart, least = 560) => ({ ...chart, width: Math.max(least, place.clientWidth), autosize: { type: "fit-x", contains: "padding" } });

page.draw = async (place, chart, rows) => {
  // `ast` interprets expressions instead of building functions from text, which the page's policy forbids.
  // Of messages only errors (level 1): an empty layer is no cause for a warning.
  const made = await window.vegaEmbed(place, { ...chart, datasets: { rows } }, { ast: true, actions: false, renderer: "svg", tooltip: false, logLevel: 1 });
  // An empty layer would be a picture without a name to a screen reader.
  for (const layer of place.querySelectorAll("[role=graphics-symbol]:not([aria-label])")) for (const name of ["role", "aria-roledescription"]) layer.removeAttribute(name);
  page.saving(place, chart, rows);
  return made.view;
};

// The chart for paper: in the colours of white paper and with a legend, which in a page is text above it. So does `for_paper` of plots.py.
page.paper = (chart, methods) => JSON.parse(
  JSON.stringify({ ...chart, config: { ...chart.config, background: "var(--ground)" } }).replace(/var\(--([a-z-]+)\)/g, (_, name) => page.data.paper.colours[name]),
  (key, part) => (part?.field === "method" && "legend" in part ? { ...part, legend: { ...page.data.paper.legend, values: methods } } : part),
);

// Buttons below a plot that give it as a file. Browsers make PDF by printing alone.
page.saving = (place, chart, rows) => {
  const around = place.closest(".scatter-parts") ?? place;
  let line = around.nextElementSibling;
  if (!line?.matches(".copies")) {
    const buttons = ["SVG", "PDF"].map((kind) => page.element("button", { type: "button", "data-kind": kind }, kind));
    line = page.element("p", { class: "copies js-only" }, "Save this figure: ", buttons[0], " ", buttons[1]);
    line.addEventListener("click", (event) => { if (event.target.dataset.kind) line.save(event.target.dataset.kind); });
    around.after(line);
  }
  line.save = async (kind) => {
    const hidden = page.element("div");
    const methods = Object.keys(page.data.styles).filter((name) => rows.some((row) => row.method === name && row.kind !== "reference"));
    const made = await window.vegaEmbed(hidden, { ...page.paper(chart, methods), datasets: { rows } }, { ast: true, actions: false, renderer: "svg", logLevel: 1 });
    const svg = await made.view.toSVG();
    made.finalize();
    if (kind === "SVG") return page.download(`${place.dataset.plot ?? "figure"}.svg`, svg, "image/svg+xml");
    hidden.replaceChildren(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement);
    document.body.append(hidden);
    page.printAlone(hidden, () => hidden.remove());
  };
};

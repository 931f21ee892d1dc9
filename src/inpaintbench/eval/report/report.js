// Choice of metric, region and methods for the whole page, and its two plots. The page reads well without it.
(() => {
  const { data } = page;
  const form = document.querySelector(".choices");
  const chosen = { ...data.default };
  const names = Object.keys(data.styles);
  let wished = chosen.region;
  let methods = names;

  function show() {
    for (const element of document.querySelectorAll("[data-metric], [data-region]")) {
      const { metric, region } = element.dataset;
      element.hidden = (metric !== undefined && metric !== chosen.metric) || (region !== undefined && region !== chosen.region);
      const packed = !element.hidden && element.querySelector(":scope > script");
      if (packed) page.unpack(element, packed).then(hideMethods);
    }
    draw();
    page.tell("chosen", { ...chosen });
  }

  function choose(change) {
    wished = change.region ?? wished;
    Object.assign(chosen, change);
    const regions = data.quantities.filter((one) => one.metric === chosen.metric).map((one) => one.region);
    // A metric without the region that was asked for shows another one, and the next metric the one that was asked for again.
    chosen.region = regions.includes(wished) ? wished : regions[0];
    for (const name of ["metric", "region"]) form.elements[name].value = chosen[name];
    for (const input of form.querySelectorAll("input[name=region]")) input.disabled = !regions.includes(input.value);
    page.set({ metric: chosen.metric === data.default.metric ? null : chosen.metric, region: chosen.region === data.default.region ? null : chosen.region });
    show();
  }

  // Rows, columns and tiles of methods that are not wanted; what is drawn leaves them out too.
  function showMethods(wanted) {
    if (String(wanted) === String(methods)) return;
    methods = wanted;
    hideMethods();
    draw();
    page.tell("methods", methods);
  }

  function hideMethods() {
    for (const element of document.querySelectorAll("[data-key]")) if (names.includes(element.dataset.key)) element.hidden = !methods.includes(element.dataset.key);
  }

  const wanted = ({ metric, region, method }) => metric === chosen.metric && region === chosen.region && (method === undefined || methods.includes(method));

  function draw() {
    drawOne("difficulty", data.charts.difficulty, data.rows.difficulty.filter(wanted));
    for (const name of ["steps", "sensitivity"]) if (data.charts[name]) drawOne(name, ...panelled(name));
  }

  // A row of panels for each metric of the region while these are few, else for the one that is chosen.
  function panelled(name) {
    const rows = data.rows[name].filter((row) => wanted({ ...row, metric: chosen.metric })).map((row) => ({ ...row, key: `${row.metric}/${row.region}` }));
    const keys = [...new Set(rows.map((row) => row.key))];
    const own = `${chosen.metric}/${chosen.region}`;
    const shown = keys.length <= data.most_rows ? keys : keys.filter((key) => key === own);
    const { config, $schema, ...chart } = data.charts[name];
    const place = document.querySelector(`[data-plot=${name}]`);
    const panels = Math.max(1, new Set(rows.map((row) => row.attribute)).size);
    // Panels of steps are as wide as the names of their steps, and stand in as many rows as they need.
    const least = name === "steps" ? chart.spec.width : 64;
    const columns = name === "steps" ? Math.max(1, Math.min(panels, Math.floor((place.clientWidth - 60) / (least + 12)))) : panels;
    const width = Math.max(least, Math.min(320, (place.clientWidth - 80) / columns - 12));
    const look = { ...chart, ...(name === "steps" ? { columns } : {}), spec: { ...chart.spec, width } };
    const parts = shown.map((key) => ({ ...look, transform: [{ filter: `datum.key == '${key}'` }], title: data.titles[key].label }));
    return [parts.length ? { $schema, config, vconcat: parts } : null, rows];
  }

  async function drawOne(name, chart, rows) {
    const place = document.querySelector(`[data-plot="${name}"]`);
    if (!place) return;
    const there = Boolean(chart && rows.length);
    place.hidden = !there;
    const note = document.querySelector(`[data-empty="${name}"]`);
    if (note) note.hidden = there;
    if (!there) return;
    const titled = chart.layer ? page.fitted(place, { ...chart, title: data.titles[`${chosen.metric}/${chosen.region}`].title }) : chart;
    await page.draw(place, titled, rows);
    place.dataset.drawn = `${chosen.metric}/${chosen.region}`;
  }

  form.addEventListener("change", (event) => { if (event.target.name) choose({ [event.target.name]: event.target.value }); });
  // A click on a value shows an item of its slice.
  document.addEventListener("click", ({ target }) => {
    const cell = target.closest("button, a") ? null : target.closest("table.scores td");
    if (cell) page.tell("slice", [...cell.closest("table").tHead.rows].at(-1).cells[cell.cellIndex].dataset.key);
  });
  function fromAddress() {
    const metric = page.get("metric") ?? data.default.metric;
    wished = page.get("region") ?? data.default.region;
    choose(data.quantities.some((one) => one.metric === metric) ? { metric } : {});
  }
  page.on("state", fromAddress);
  // The other scripts listen first.
  page.on("ready", fromAddress);
  page.on("ready", page.pickMethods(form.querySelector("[data-methods]"), names, showMethods));
  let waiting = 0;
  const redraw = (milliseconds) => { clearTimeout(waiting); waiting = setTimeout(() => page.tell("resized"), milliseconds); };
  page.on("resized", draw);
  // What is drawn while it is folded has no width.
  document.addEventListener("toggle", (event) => { if (event.target.open && event.target.querySelector?.("[data-plot]")) redraw(0); }, true);
  window.addEventListener("resize", () => redraw(200));
})();

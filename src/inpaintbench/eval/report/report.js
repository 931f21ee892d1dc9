"use strict";
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
    }
    draw();
    page.tell("chosen", { ...chosen });
  }

  const regionsOf = (metric) => data.quantities.filter((one) => one.metric === metric).map((one) => one.region);

  function choose(change) {
    wished = change.region ?? wished;
    Object.assign(chosen, change);
    const regions = regionsOf(chosen.metric);
    // A metric without the region that was asked for shows another one, and the next metric the one that was asked for again.
    chosen.region = regions.includes(wished) ? wished : regions[0];
    for (const field of form.querySelectorAll("select")) field.value = chosen[field.name];
    for (const input of form.querySelectorAll("input[type=radio]")) {
      input.checked = chosen[input.name] === input.value;
      if (input.name === "region") input.disabled = !regions.includes(input.value);
    }
    page.set({ metric: chosen.metric === data.default.metric ? null : chosen.metric, region: chosen.region === data.default.region ? null : chosen.region });
    show();
  }

  // Rows, columns and tiles of methods that are not wanted; what is drawn leaves them out too.
  function showMethods(wanted) {
    methods = names.filter((name) => wanted.includes(name));
    page.set({ methods: methods.length === names.length ? null : methods.join(",") });
    for (const element of document.querySelectorAll("[data-key]")) if (names.includes(element.dataset.key)) element.hidden = !methods.includes(element.dataset.key);
    for (const table of document.querySelectorAll("table.pairs")) {
      [...table.tHead.rows[0].cells].forEach((head, at) => {
        if (names.includes(head.dataset.key)) for (const row of table.tBodies[0].rows) row.cells[at].hidden = head.hidden;
      });
    }
    draw();
    page.tell("methods", methods);
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
  const picker = page.picker("Methods", names, names, showMethods, (name) => page.methodName(name));
  if (names.length > 2) form.querySelector("[data-methods]").append(picker);
  // A click on a value shows an item of its slice.
  for (const table of document.querySelectorAll("table.scores")) {
    const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    table.addEventListener("click", (event) => {
      const cell = event.target.closest("td");
      if (cell && !event.target.closest("button, a")) page.tell("slice", heads[cell.cellIndex].dataset.key);
    });
  }
  function fromAddress() {
    const metric = page.get("metric") ?? data.default.metric;
    wished = page.get("region") ?? data.default.region;
    choose(data.quantities.some((one) => one.metric === metric) ? { metric } : {});
    const asked = (page.get("methods") ?? "").split(",").filter((name) => names.includes(name));
    if (asked.length || methods.length < names.length) {
      picker.tick(asked.length ? asked : names);
      showMethods(asked.length ? asked : names);
    }
  }
  page.on("state", fromAddress);
  // The other scripts listen first.
  page.on("ready", fromAddress);
  let waiting = 0;
  const redraw = (milliseconds) => { clearTimeout(waiting); waiting = setTimeout(() => page.tell("resized"), milliseconds); };
  page.on("resized", draw);
  // What is drawn while it is folded has no width.
  document.addEventListener("toggle", (event) => { if (event.target.open && event.target.querySelector?.("[data-plot]")) redraw(0); }, true);
  window.addEventListener("resize", () => redraw(200));
})();

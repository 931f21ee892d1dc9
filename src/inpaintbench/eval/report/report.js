"use strict";
// Choice of metric and region, sorting, plots. The page reads well without it.
(() => {
  const data = report.data;
  const form = document.querySelector(".choices");
  const chosen = { ...data.default };
  let wished = chosen.region;

  function show() {
    for (const element of document.querySelectorAll("[data-metric], [data-region]")) {
      const { metric, region } = element.dataset;
      element.hidden = (metric !== undefined && metric !== chosen.metric) || (region !== undefined && region !== chosen.region);
    }
    draw("difficulty", data.difficulty[`${chosen.metric}/${chosen.region}`]);
    draw("sensitivity", data.sensitivity[chosen.region] ?? data.sensitivity[`${chosen.metric}/${chosen.region}`]);
    report.tell("chosen", { ...chosen });
  }

  function regionsOf(metric) {
    return data.quantities.filter((one) => one.metric === metric).map((one) => one.region);
  }

  function choose(change) {
    wished = change.region ?? wished;
    Object.assign(chosen, change);
    const regions = regionsOf(chosen.metric);
    // A metric without the region that was asked for shows another one, and the next metric the one that was asked for again.
    chosen.region = regions.includes(wished) ? wished : regions[0];
    if (form.metric instanceof HTMLSelectElement) form.metric.value = chosen.metric;
    for (const input of form.querySelectorAll("input")) {
      input.checked = chosen[input.name] === input.value;
      if (input.name === "region") input.disabled = !regions.includes(input.value);
    }
    show();
  }

  function draw(name, figure) {
    const place = document.querySelector(`[data-plot="${name}"]`);
    if (!place) return;
    const note = document.querySelector(`[data-empty="${name}"]`);
    place.hidden = !figure;
    if (note) note.hidden = Boolean(figure);
    if (!figure) return;
    const style = getComputedStyle(document.body);
    const layout = structuredClone(figure.layout);
    layout.font.color = style.color;
    layout.hoverlabel = { ...layout.hoverlabel, bgcolor: style.backgroundColor, bordercolor: "rgba(127,137,150,0.6)" };
    layout.hoverlabel.font = { ...layout.hoverlabel.font, color: style.color };
    const traces = structuredClone(figure.data);
    for (const trace of traces) {
      if (trace.error_y) trace.error_y.color = style.color;
      if (trace.marker?.line) trace.marker.line.color = style.backgroundColor;
    }
    window.Plotly.react(place, traces, layout, { responsive: true, displayModeBar: false });
  }

  function sort(button) {
    const head = button.closest("th");
    const body = button.closest("table").tBodies[0];
    const heads = [...head.parentElement.children];
    const falling = head.getAttribute("aria-sort") !== "descending";
    const original = button.classList.contains("reset");
    body.original ??= [...body.rows];
    for (const other of heads) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
    if (!original) head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const last = body.original.filter((row) => row.classList.contains("everything"));
    const rows = body.original.filter((row) => !row.classList.contains("everything"));
    const value = (row) => Number.parseFloat(row.children[heads.indexOf(head)].dataset.value.replace("inf", "Infinity"));
    const known = original ? rows : rows.filter((row) => "value" in row.children[heads.indexOf(head)].dataset);
    if (!original) known.sort((one, other) => (falling ? value(other) - value(one) : value(one) - value(other)) || 0);
    body.append(...known, ...rows.filter((row) => !known.includes(row)), ...last);
    report.announce(original ? "Slices as in the report" : `Sorted by ${button.textContent.trim()}, ${falling ? "largest" : "smallest"} first`);
  }

  async function copyFact(button) {
    const done = await report.copy(document.getElementById(button.dataset.copy).innerText);
    button.textContent = done ? "Copied" : "Not allowed";
    report.announce(done ? "Copied" : "The browser allows no copying here");
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
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
    const links = new Map([...document.querySelectorAll(".bar nav a")].map((link) => [link.hash.slice(1), link]));
    const watcher = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const link = links.get(entry.target.id);
        if (entry.isIntersecting) markLink(links, link);
      }
    }, { rootMargin: "-30% 0px -65% 0px" });
    document.querySelector(".bar nav").addEventListener("focusin", (event) => bringIntoSight(event.target));
    for (const id of links.keys()) if (document.getElementById(id)) watcher.observe(document.getElementById(id));
  }

  form.addEventListener("change", (event) => choose({ [event.target.name]: event.target.value }));
  for (const button of document.querySelectorAll("button.sort")) button.addEventListener("click", () => sort(button));
  for (const button of document.querySelectorAll("button.copy")) button.addEventListener("click", () => copyFact(button));
  report.draw = draw;
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  followSections();
  // The other scripts listen first.
  document.addEventListener("DOMContentLoaded", () => choose({}));
})();

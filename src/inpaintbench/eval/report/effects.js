"use strict";
// Fingerprints and response curves. An effect of an axis shows its clips on top of the page, one of a slice an item of it, one of a
// measured attribute its curve.
(() => {
  const { data, element } = page;
  const figure = document.querySelector("[data-plot=fingerprint]");
  if (!figure || !data.charts.fingerprint) return;
  const curves = document.querySelector("[data-plot=response]");
  const items = page.items?.data;
  const MOST_DOTS = 6000;
  const LETTER = 6.8;
  let chosen = data.default;
  let methods = Object.keys(data.styles);
  let picked = "";

  const wanted = ({ metric, region, method }) => metric === chosen.metric && region === chosen.region && methods.includes(method);
  const key = () => `${chosen.metric}/${chosen.region}`;
  const quantity = () => items?.quantities.find((one) => `${one.metric}/${one.region}` === key());

  // As many panels side by side as there is room for. Worse is to the left, whatever the metric. Many lines have labels of one row
  // where that fits.
  function fitted(rows) {
    const panels = data.charts.fingerprint.facet.sort.filter((name) => methods.includes(name) && rows.some((row) => row.method === name));
    const labels = [...new Set(rows.map((row) => row.line).filter(Boolean))];
    const dense = labels.length > 9 && figure.clientWidth > 900;
    const longest = Math.max(...labels.flatMap((label) => (dense ? label.length : label.split("\n").map((words) => words.length))));
    const limit = dense ? 360 : figure.clientWidth < 560 ? 172 : 240;
    // Long labels go on in a further row, and all lines have the room of the one with the most rows.
    const broken = Object.fromEntries(labels.map((label) => [label, label.split("\n").flatMap((row) => folded(row, Math.floor(limit / LETTER)))]));
    const tall = Math.max(2, ...Object.values(broken).map((rows) => rows.length));
    for (const rows of Object.values(broken)) rows.unshift(...Array(Math.floor((tall - rows.length) / 2)).fill(""));
    const room = figure.clientWidth - Math.min(limit, LETTER * longest) - 24;
    // A panel is no narrower than the name above it, which is bold.
    const least = Math.max(128, ...panels.map((name) => 16 + 1.15 * LETTER * name.length));
    const most = Math.max(1, Math.floor(room / least));
    const columns = Math.ceil(panels.length / Math.ceil(panels.length / most));
    const width = Math.max(110, Math.min(panels.length > 1 ? 340 : 620, room / columns - 16));
    const { config, ...chart } = JSON.parse(JSON.stringify(data.charts.fingerprint), (name, part) => {
      if (part && Object.hasOwn(part, "reverse")) return { ...part, reverse: !data.higher[key()] };
      if (part && Object.hasOwn(part, "labelLineHeight")) return { ...part, labelLimit: limit, ...(dense ? { labelExpr: "replace(datum.label, '\\n', ', ')", labelOffset: 0 } : { labelExpr: `${JSON.stringify(broken)}[datum.label]`, labelOffset: -7 * (tall - 1) }) };
      if (name === "step" && typeof part === "number") return dense ? 26 : part + 14 * (tall - 2);
      return part;
    });
    const apart = columns < panels.length ? { resolve: { axis: { x: "independent" } } } : {};
    return { ...chart, ...apart, config, columns, facet: { ...chart.facet, sort: panels }, spec: { ...chart.spec, width }, title: { text: data.changes[key()], fontSize: 13, fontWeight: 500, color: "var(--soft)", offset: 4 } };
  }

  // Rows of at most so many letters, broken between words.
  function folded(words, most) {
    const rows = [""];
    for (const word of words.split(" ")) {
      if (rows.at(-1) && `${rows.at(-1)} ${word}`.length > most) rows.push(word);
      else rows[rows.length - 1] = `${rows.at(-1)} ${word}`.trim();
    }
    return rows;
  }

  async function drawFingerprints() {
    const rows = data.rows.fingerprint.filter(wanted);
    figure.hidden = !rows.length;
    document.querySelector("[data-empty=fingerprint]").hidden = Boolean(rows.length);
    if (!rows.length) return;
    const view = await page.draw(figure, fitted(rows), rows);
    view.addEventListener("click", (event, mark) => { if (mark?.datum?.step) show(mark.datum); });
    reach();
    figure.dataset.drawn = key();
  }

  const marks = () => [...figure.querySelectorAll(".mark-rect path[aria-label]")].filter((mark) => mark.__data__?.datum?.step);
  const words = (level) => level.replaceAll("_", " ");
  const name = ({ step, method, other }) => `${step} ${method} ${other ?? ""}`;

  // Tab comes to one mark, arrows go to the others.
  function reach() {
    const all = marks();
    all.forEach((mark, at) => { mark.setAttribute("role", "button"); mark.setAttribute("tabindex", at ? "-1" : "0"); });
    mark();
  }

  function mark() {
    for (const one of marks()) one.setAttribute("aria-pressed", String(name(one.__data__.datum) === picked));
    for (const button of document.querySelectorAll("button.effect")) button.setAttribute("aria-pressed", String(name(button.dataset) === picked));
  }

  function neighbour(from, arrow) {
    const middle = (one) => { const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; };
    const [x, y] = middle(from);
    const [axis, sign] = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, -1], ArrowDown: [1, 1] }[arrow];
    const found = marks().map((one) => [one, middle(one)]).map(([one, at]) => [one, sign * (at[axis] - [x, y][axis]), Math.abs(at[1 - axis] - [x, y][1 - axis])]).filter(([, ahead, aside]) => ahead > 2 && aside < 2);
    return found.sort((one, other) => one[1] - other[1])[0]?.[0];
  }

  figure.addEventListener("keydown", (event) => {
    const here = event.target.closest(".mark-rect path");
    if (!here) return;
    if (event.key === "Enter" || event.key === " ") show(here.__data__.datum);
    else if (event.key.startsWith("Arrow")) neighbour(here, event.key)?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  function value(exhibit, method) {
    return document.querySelector(`#${exhibit} [data-key="${CSS.escape(method)}"] .value[data-metric="${chosen.metric}"][data-region="${chosen.region}"]`)?.textContent ?? "–";
  }

  // Puts the clips of an effect of an axis on top of the page.
  function play({ step, method, other }) {
    const [, factor, low, high] = step.split("/");
    const group = data.groups[factor];
    picked = name({ step, method, other });
    mark();
    if (!group) return null;
    const sides = other ? [method, other] : ["truth", method];
    const called = (side) => (side === "truth" ? ["truth"] : [page.methodName(side)]);
    page.showProofs([low, high].map((level) => {
      const values = sides.filter((side) => side !== "truth").map((side) => value(group[level], side)).join(" and ");
      return { of: group[level], tiles: sides, caption: `${data.axes[factor]} ${words(level)}: ${values}`, words: ["left ", ...called(sides[0]), ", right ", ...called(sides[1])] };
    }));
    return `The clips of ${data.axes[factor]}, ${words(low)} and ${words(high)}, with ${sides.join(" and ")}, are on top of the page`;
  }

  function show({ step, method, other }) {
    const [kind, factor, , high] = step.split("/");
    picked = name({ step, method, other });
    mark();
    if (kind === "measured") return page.goTo("response");
    if (kind === "labelled") return page.tell("slice", `${factor}-${high}`);
    const told = play({ step, method, other });
    if (told) document.querySelector(".proofs").scrollIntoView({ block: "nearest", behavior: page.still ? "auto" : "smooth" });
    page.announce(told ?? "This page has no video of these clips");
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.effect");
    if (button) show(button.dataset);
  });

  function responses() {
    const lines = data.curves.lines.filter(wanted);
    const values = items?.values[key()];
    const every = Math.ceil((items?.ids.length ?? 0) * lines.length / MOST_DOTS) || 1;
    const bends = lines.flatMap(({ at, mean, low, high, ...line }) => at.map((x, place) => ({ ...line, kind: "curve", x, y: mean[place], low: low[place], high: high[place] })));
    const dots = lines.flatMap(({ metric, region, method, attribute }) => {
      const column = values?.[items.methods.indexOf(method)] ?? [];
      const known = Object.entries(data.curves.values[attribute]).filter(([item], place) => place % every === 0 && Number.isFinite(column[item]));
      return known.map(([item, x]) => ({ metric, region, method, attribute, kind: "dot", x, y: column[item], item: Number(item), told: `${items.ids[item]}, ${method}: ${page.short(x)}, ${page.number(column[item], quantity().decimals)}` }));
    });
    return [...bends, ...dots];
  }

  async function drawResponses() {
    if (!curves) return;
    const rows = responses();
    curves.hidden = !rows.length;
    document.querySelector("[data-empty=response]").hidden = Boolean(rows.length);
    if (!rows.length) return;
    const panels = new Set(rows.map((row) => row.attribute)).size;
    const columns = Math.max(1, Math.min(panels, Math.floor(curves.clientWidth / 270)));
    const { config, ...chart } = data.charts.response;
    const width = Math.max(180, Math.min(420, curves.clientWidth / columns - 52));
    const view = await page.draw(curves, { ...chart, config, columns, spec: { ...chart.spec, width }, title: data.titles[key()].title }, rows);
    view.addEventListener("click", (event, mark) => { if (mark?.datum?.item !== undefined) page.items.select(mark.datum.item); });
    curves.dataset.drawn = key();
  }

  function draw() {
    drawFingerprints();
    drawResponses();
  }

  // Without a finding the clips of the surest effect of an axis are seen, which the figure shows as what could be chance.
  function begin() {
    const { step, method } = document.querySelector(".headline")?.dataset ?? {};
    if (step) picked = name({ step, method });
    if (!document.querySelector(".headline .untold")) return;
    const shown = data.rows.fingerprint.filter((row) => wanted(row) && row.low !== null && row.step && data.groups[row.step.split("/")[1]]);
    const [surest] = shown.sort((one, other) => Math.abs(other.value / (other.high - other.low)) - Math.abs(one.value / (one.high - one.low)));
    if (surest) play(surest);
  }

  page.on("ready", begin);
  page.on("chosen", (now) => { chosen = now; draw(); });
  page.on("methods", (now) => { methods = now; draw(); });
  page.on("resized", draw);
})();

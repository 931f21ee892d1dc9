// Fingerprints and response curves. An effect of an axis shows its clips on top of the page, one of a slice an item of it, one of a
// measured attribute its curve.
(() => {
  const { data, element } = page;
  const figure = document.querySelector("[data-plot=fingerprint]");
  if (!figure || !data.charts.fingerprint) return;
  const curves = document.querySelector("[data-plot=response]");
  const items = page.items?.items;
  const MOST_DOTS = 6000;
  let chosen = data.default;
  let methods = Object.keys(data.styles);
  let picked = "";

  const wanted = ({ metric, region, method }) => metric === chosen.metric && region === chosen.region && methods.includes(method);
  const key = () => `${chosen.metric}/${chosen.region}`;

  // A line for each step of an attribute, in it all methods on one scale. Worse is to the left, whatever the metric.
  function drawFingerprints() {
    const rows = data.rows.fingerprint.filter((row) => row.kind === "effect" && wanted(row));
    figure.hidden = !rows.length;
    document.querySelector("[data-empty=fingerprint]").hidden = Boolean(rows.length);
    if (!rows.length) return;
    const ends = [0, ...rows.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value])];
    const range = [Math.min(...ends), Math.max(...ends)];
    const scale = `all on one scale, ${range.map(page.short).join(" to ")}`;
    if (!data.higher[key()]) range.reverse();
    const seen = data.charts.fingerprint.facet.sort.filter((method) => rows.some((row) => row.method === method));
    const line = (name) => {
      const marks = seen.map((method) => rows.find((row) => row.line === name && row.method === method)).map((row) => (row ? mark(row, range) : element("span")));
      return element("div", { class: "effect-line" }, element("span", {}, name.replace("\n", ", ")), element("div", { class: "marks", style: `--n: ${seen.length}` }, ...marks));
    };
    figure.replaceChildren(element("p", { class: "note" }, `${data.changes[key()]}, ${scale}: ← worse, better →`), ...data.lines.filter((name) => rows.some((row) => row.line === name)).map(line));
    figure.querySelector(".mark").tabIndex = 0; // Tab comes to one mark, arrows go to the others
    const chart = JSON.parse(JSON.stringify(data.charts.fingerprint), (name, part) => (part && Object.hasOwn(part, "reverse") ? { ...part, reverse: !data.higher[key()] } : part));
    page.saving(figure, { ...chart, title: data.changes[key()] }, data.rows.fingerprint.filter(wanted));
    press();
    figure.dataset.drawn = key();
  }

  function mark(row, range) {
    const { method, sure, text, told } = row;
    const made = element("button", { type: "button", class: sure ? "mark sure" : "mark", tabindex: "-1", title: told, "aria-label": told, "data-step": row.step, "data-method": method },
      element("span", {}, page.methodName(method), element("b", {}, text)), shared.forest(row, range, data.styles[method].colour));
    made.addEventListener("click", () => show(row));
    return made;
  }

  const words = (level) => level.replaceAll("_", " ");
  const name = ({ step, method, other }) => `${step} ${method} ${other ?? ""}`;

  function press() {
    for (const button of document.querySelectorAll("button.effect, button.mark")) button.setAttribute("aria-pressed", String(name(button.dataset) === picked));
  }

  figure.addEventListener("keydown", (event) => {
    const marks = [...figure.querySelectorAll(".mark")];
    const across = marks.filter((one) => one.offsetTop === marks[0].offsetTop).length;
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across }[event.key];
    if (!by) return;
    marks[marks.indexOf(event.target) + by]?.focus();
    event.preventDefault();
    event.stopPropagation();
  });

  // Puts the clips of an effect of an axis on top of the page.
  function play({ step, method, other }) {
    const [, factor, low, high] = step.split("/");
    const group = data.groups[factor];
    picked = name({ step, method, other });
    press();
    if (!group) return null;
    const sides = other ? [method, other] : ["truth", method];
    const called = (side) => (side === "truth" ? ["truth"] : [page.methodName(side)]);
    page.showProofs([low, high].map((level) => {
      const values = sides.filter((side) => side !== "truth").map((side) => page.sheets?.get(group[level])?.values[side]?.[key()] ?? "–").join(" and ");
      return { of: group[level], tiles: sides, caption: `${data.axes[factor]} ${words(level)}: ${values}`, words: ["left ", ...called(sides[0]), ", right ", ...called(sides[1])] };
    }));
    return `The clips of ${data.axes[factor]}, ${words(low)} and ${words(high)}, with ${sides.join(" and ")}, are on top of the page`;
  }

  function show({ step, method, other }) {
    const [kind, factor, , high] = step.split("/");
    picked = name({ step, method, other });
    press();
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
    const every = Math.ceil((items?.ids.length ?? 0) * lines.length / MOST_DOTS) || 1;
    const bends = lines.flatMap(({ at, mean, low, high, ...line }) => at.map((x, place) => ({ ...line, kind: "curve", x, y: mean[place], low: low[place], high: high[place] })));
    const dots = lines.flatMap(({ metric, region, method, attribute }) => {
      const column = items?.held.get(`${key()}|${method}`) ?? [];
      const known = Object.entries(data.curves.values[attribute]).filter(([item], place) => place % every === 0 && Number.isFinite(column[item]));
      return known.map(([item, x]) => ({ metric, region, method, attribute, kind: "dot", x, y: column[item], item: Number(item), told: `${items.ids[item]}, ${method}: ${page.short(x)}, ${shared.number(column[item], items.quantities.find((one) => one.key === key()).decimals)}` }));
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

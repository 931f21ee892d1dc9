// The gallery: which item is shown, in the player that all pages share, with its values of every frame below.
(() => {
  const gallery = document.querySelector(".gallery");
  const figures = [...(gallery?.querySelectorAll(".exhibit") ?? [])];
  if (!figures.length) return;
  const { data, element, numeric } = page;
  const keysDialog = document.querySelector(".keys-dialog");
  const traces = gallery.querySelector(".traces");
  const [asked, note] = [traces.querySelector("select"), traces.querySelector(".trace-note")];
  const thumbs = [...gallery.querySelectorAll(".thumb")];
  const looks = Object.fromEntries(Object.entries(data.styles).map(([name, look]) => [name, { ...look, reference: data.references.includes(name) }]));
  const player = new shared.Player(gallery.querySelector(".comparison"), { drag: true, scrolls: true });
  const curves = new shared.Curves(traces.querySelector(".curves"), (frame) => player.clock.show(frame));
  let current = figures.find((figure) => "first" in figure.dataset);
  let methods = Object.keys(data.styles);
  let chosen = data.default;
  let inView = false;
  player.root.player = player;
  player.view.outlineOn = true;
  player.eager = false;

  // Of each figure what the player takes; the element that plays without scripts goes.
  page.sheets = new Map(figures.map((figure) => {
    const [sheet, video] = [JSON.parse(figure.dataset.sheet), figure.querySelector("video")];
    sheet.media.url = video.getAttribute("src");
    video.remove();
    return [figure.id, sheet];
  }));

  function show() {
    const sheet = page.sheets.get(current.id);
    const { view } = player;
    const { wiping, zoom: { factor } } = view;
    const players = sheet.players.filter(({ role, label }) => role !== "candidate" || methods.includes(label));
    player.show({ ...sheet, players });
    player.shelf.keep(new Set([sheet.media.url]));
    if (wiping) view.toggle("wipe");
    if (factor > 1) view.toggleZoom();
    for (const { caption, player: { label, role } } of view.panes) {
      if (role === "candidate") caption.prepend(shared.dot(looks[label]));
      caption.append(element("span", { class: "value" }, sheet.values[label]?.[`${chosen.metric}/${chosen.region}`] ?? ""));
    }
    view.place();
    trace();
  }

  // Values of every frame: of the metric of the page where it has them, else the error, or what the reader asked for.
  function trace() {
    const kinds = data.frames[current.id] ?? [];
    const key = `${chosen.metric}/${chosen.region}`;
    const kind = kinds.find((one) => one.key === (asked.name || key)) ?? kinds.at(-1);
    traces.classList.toggle("none", !kind);
    if (!kind) return;
    asked.replaceChildren(...kinds.map((one) => element("option", { value: one.key, selected: one === kind }, one.label)));
    note.textContent = asked.name || kind.key === key ? "" : `${data.titles[key]?.label ?? chosen.metric} has no values by frame here.`;
    const lines = Object.entries(kind.lines).filter(([name]) => methods.includes(name));
    curves.show(lines.map(([name, values]) => ({ name, values: values.map(numeric) })), player.shown.media.frames, looks, kind);
    curves.at(player.clock.frame);
  }

  function open(id, slice) {
    if (player.clock.media) player.eager = player.clock.playing;
    current = figures.find((figure) => figure.id === id);
    for (const figure of figures) figure.classList.toggle("open", figure === current);
    const named = thumbs.find((thumb) => thumb.dataset.slice === slice && thumb.hash === `#${id}`);
    const now = named ?? thumbs.find((thumb) => thumb.hash === `#${id}`);
    for (const thumb of thumbs) thumb.setAttribute("aria-current", String(thumb === now));
    const strip = now?.parentElement;
    if (strip) strip.scrollTop = Math.max(0, now.offsetTop - strip.offsetTop - strip.clientHeight / 2);
    show();
  }

  // What the reader opens is told in the address.
  function choose(thumb) {
    const id = thumb.hash.slice(1);
    open(id, thumb.dataset.slice);
    page.set({ item: current.dataset.item, slice: thumb.dataset.slice ?? null });
  }

  function neighbour(change) {
    const index = thumbs.findIndex((thumb) => thumb.getAttribute("aria-current") === "true");
    choose(thumbs[(index + change + thumbs.length) % thumbs.length]);
  }

  // An item by its name, or by the element that shows it, as older addresses have it.
  function fromAddress() {
    const found = figures.find((figure) => figure.dataset.item === page.get("item") || figure.id === page.get("at"));
    open((found ?? current).id, page.get("slice"));
    if (found) document.getElementById("gallery").scrollIntoView();
  }

  // It plays by itself once it is seen, until somebody takes over.
  let untouched = !page.still;
  new IntersectionObserver(([entry]) => {
    inView = entry.isIntersecting;
    if (!inView) player.clock.pause();
    else if (untouched) player.clock.play();
    player.eager = inView && untouched;
    if (inView) untouched = false;
  }, { rootMargin: "-30% 0px -30% 0px" }).observe(gallery.querySelector(".stage"));

  shared.listen((key) => {
    if (key === "?" && !keysDialog.open) keysDialog.showModal();
    if (keysDialog.open || !inView || key === null) return key === "?";
    const change = { ArrowUp: -1, ArrowDown: 1 }[key];
    if (change) neighbour(change);
    return Boolean(change) || player.press(key);
  }, (key) => player.release(key));
  player.clock.addEventListener("frame", () => curves.at(player.clock.frame));
  asked.addEventListener("change", () => { asked.name = asked.value; trace(); });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link || !page.sheets.has(link.hash.slice(1))) return;
    event.preventDefault();
    event.stopPropagation();
    choose(link);
    if (!link.matches(".thumb")) document.getElementById("gallery").scrollIntoView();
  }, true);
  page.on("slice", (name) => {
    const thumb = thumbs.find((one) => one.dataset.slice === name);
    if (!thumb) return;
    choose(thumb);
    document.getElementById("gallery").scrollIntoView();
  });
  page.on("methods", (now) => { methods = now; show(); });
  page.on("chosen", (now) => { chosen = now; asked.name = ""; show(); });
  page.on("ready", () => { if (page.get("item") || page.get("at")) fromAddress(); });
  page.on("state", fromAddress);
  open(current.id);
})();

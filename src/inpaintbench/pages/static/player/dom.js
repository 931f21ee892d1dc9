/* Elements from text: strings only ever become text nodes, so no name or answer can turn into markup. */

const SVG = "http://www.w3.org/2000/svg";
const SHAPES = {
  play: ["fill", "M6 3.5l11 6.5-11 6.5z"],
  pause: ["fill", "M5.5 4h3v12h-3zM11.5 4h3v12h-3z"],
  back: ["fill", "M15 4v12l-8-6zM4 4h2v12H4z"],
  on: ["fill", "M5 4v12l8-6zM14 4h2v12h-2z"],
  loop: ["line", "M4 9a6 6 0 0 1 10.6-3L16 7.4M16 3.4v4h-4M16 11a6 6 0 0 1-10.6 3L4 12.6M4 16.6v-4h4"],
  minus: ["line", "M5 10h10"],
  plus: ["line", "M5 10h10M10 5v10"],
  zoom: ["line", "M8.5 3.5a5 5 0 1 0 0 10 5 5 0 0 0 0-10zM12.2 12.2L17 17M8.5 6.3v4.4M6.3 8.5h4.4"],
  flip: ["line", "M4 7h11l-3-3.2M16 13H5l3 3.2"],
  wipe: ["line", "M3 5h14v10H3zM10 2.5v15M6.8 8.6L5.4 10l1.4 1.4M13.2 8.6l1.4 1.4-1.4 1.4"],
  outline: ["dash", "M10 3a7 7 0 1 0 .01 0z"],
  original: ["line", "M3 4h14v12H3zM3 13.5l4-4 3.5 3.5 2.2-2.2 4.3 4.2M13 7.2h.01"],
  undo: ["line", "M7.5 4.5l-4 4 4 4M3.5 8.5h8.7a4 4 0 0 1 0 8H9"],
  skip: ["line", "M4 5l5 5-5 5M10 5l5 5-5 5M17 4.5v11"],
  light: ["line", "M10 6.8a3.2 3.2 0 1 0 .01 0zM10 2v1.6M10 16.4V18M2 10h1.6M16.4 10H18M4.4 4.4l1.1 1.1M14.5 14.5l1.1 1.1M4.4 15.6l1.1-1.1M14.5 5.5l1.1-1.1"],
  dark: ["line", "M16 12.2A6.8 6.8 0 0 1 7.8 4 6.8 6.8 0 1 0 16 12.2z"],
  auto: ["line", "M10 3a7 7 0 1 0 .01 0zM10 3v14M12 4.2v11.6M14.2 5.6v8.8"],
  leave: ["line", "M8 4H4v12h4M12 6.8l3.2 3.2-3.2 3.2M15 10H8"],
  more: ["fill", "M4.5 8.6a1.4 1.4 0 1 0 .01 0zM10 8.6a1.4 1.4 0 1 0 .01 0zM15.5 8.6a1.4 1.4 0 1 0 .01 0z"],
  tick: ["line", "M4 10.5l4 4 8-9"],
};

/** An element; attributes named `on...` are listeners, false and null ones are left out. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** A drawing of 20 x 20 units. */
export function icon(name) {
  const [manner, shape] = SHAPES[name];
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("viewBox", "0 0 20 20");
  drawing.setAttribute("aria-hidden", "true");
  drawing.setAttribute("class", `icon icon-${manner}`);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", shape);
  drawing.append(path);
  return drawing;
}

/** A key as it stands on a keyboard. */
export const keycap = (key) => el("kbd", { "aria-hidden": "true" }, keyName(key));

const KEY_NAMES = {
  " ": "space", ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Backspace: "⌫", Enter: "↵", Escape: "esc",
};

export const keyName = (key) => KEY_NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key);

/** Values for `aria-keyshortcuts`. */
export const shortcut = (key) => key === " " ? "Space" : key === "+" ? "Plus" : key;

/** A button. Clicked with a pointer it gives the focus away, so that space goes on playing and never repeats the click. */
export function button(attributes, action, ...children) {
  const onclick = (event) => {
    if (event.detail > 0) event.currentTarget.blur();
    action(event);
  };
  return el("button", { type: "button", ...attributes, onclick }, ...children);
}

/** Call back once what is drawn now has been on the screen: the second frame after this one begins when the first is out. */
export const whenPresented = (then) => requestAnimationFrame(() => requestAnimationFrame(then));

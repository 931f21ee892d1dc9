/* Elements from text: strings only ever become text nodes, so no name or answer can turn into markup. */

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

/** A name that may go on in another line behind an underscore or a stroke. */
export function breakable(name) {
  const made = document.createDocumentFragment();
  for (const part of String(name).split(/(?<=[_/])/)) made.append(part, document.createElement("wbr"));
  return made;
}

/** Have the browser keep `data` as a file. */
export function give(name, data) {
  const link = el("a", { href: URL.createObjectURL(data), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

/** A letter or digit as it stands on a keyboard. */
export const keycap = (key) => el("kbd", { "aria-hidden": "true" }, key.toUpperCase());

/** Do `action` when a button is pressed. Clicked with a pointer it gives the focus away, so that space never repeats the click. */
export function onPress(node, action) {
  node.addEventListener("click", (event) => {
    if (event.detail > 0) node.blur();
    action(event);
  });
  return node;
}

export const button = (attributes, action, ...children) => onPress(el("button", { type: "button", ...attributes }, ...children), action);

/** Call back once what is drawn now has been on the screen: the second frame after this one begins when the first is out. */
export const whenPresented = (then) => requestAnimationFrame(() => requestAnimationFrame(then));

"use strict";
// What the page's scripts share: its data, messages between them, numbers as words, and ways out (announce, download, copy).
const report = (() => {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const listeners = new Map();

  function on(name, listener) {
    listeners.set(name, [...(listeners.get(name) ?? []), listener]);
  }

  function tell(name, value) {
    for (const listener of listeners.get(name) ?? []) listener(value);
  }

  // JSON has no infinity: it is the text "inf".
  const numeric = (value) => (value === "inf" ? Infinity : value);

  function number(value, decimals) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (!Number.isFinite(value)) return "∞";
    return value.toFixed(decimals).replace("-", "−");
  }

  function short(value) {
    return typeof value === "number" ? String(Number(value.toPrecision(4))).replace("-", "−") : value ?? "–";
  }

  function count(n, word) {
    const plural = word.endsWith("y") ? `${word.slice(0, -1)}ies` : `${word}s`;
    return `${n.toLocaleString("en")} ${n === 1 ? word : plural}`;
  }

  // element("td", { class: "n" }, "1.20"): text is text, never markup.
  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  function breakable(name) {
    const made = document.createDocumentFragment();
    for (const part of name.split(/(?<=[_/])/)) made.append(part, document.createElement("wbr"));
    return made;
  }

  function methodName(method) {
    const made = element("span", { class: "method", title: method });
    made.style.setProperty("--method", data.colours[method]);
    made.append(element("i", { class: "dot" }), element("span", { class: "name" }, breakable(method)));
    if (data.references.includes(method)) made.classList.add("of-reference");
    return made;
  }

  function announce(words, where = "page") {
    document.querySelector(`[data-live="${where}"]`).textContent = words;
  }

  function download(name, text, type) {
    const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  async function copy(text) {
    if (navigator.clipboard) {
      try {
        await navigator.clipboard.writeText(text);
        return true;
      } catch { /* not allowed here: the old way */ }
    }
    const area = element("textarea", { class: "visually-hidden", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }

  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  return { data, on, tell, numeric, number, short, count, element, breakable, methodName, announce, download, copy, still };
})();

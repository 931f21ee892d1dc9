/* The whole view in the address, so that it can be sent: `#r=RUN&i=ITEM&n=FRAME...`, or a part of the page such as `#scores` alone. */

const read = () => new URLSearchParams(location.hash.length < 2 || location.hash.includes("=") ? location.hash.slice(1) : `at=${location.hash.slice(1)}`);
let [state, latest] = [read(), -Infinity];

export const get = (name, otherwise = "") => state.get(name) ?? otherwise;
export const all = (name) => state.getAll(name);
/** Several words as one value, with "~" between them; one in a word is written "%7E", and no link of before means another thing. */
export const joined = (words) => words.map((word) => String(word).replace(/%(?=25|7E)/g, "%25").replaceAll("~", "%7E")).join("~");
export const parted = (text) => text.split("~").map((word) => word.replace(/%(25|7E)/g, decodeURIComponent));

/** Empty values are usual ones and are not told; lists stand several times. `step`: one can go back from it; what is dragged is one step. */
export function set(changes, { step = Object.keys(changes).some((name) => !["n", "a", "z", "h", "t", "tab"].includes(name)) } = {}) {
  const [before, now] = [String(state), performance.now()];
  for (const [name, value] of Object.entries(changes)) {
    const [first, ...rest] = [value ?? ""].flat().filter((one) => one !== "").map(String);
    if (first === undefined) state.delete(name);
    else state.set(name, first);
    for (const one of rest) state.append(name, one);
  }
  if (before === String(state)) return;
  const [alone, fresh] = [[...state.keys()].join() === "at", step && now - latest > 500];
  if (step) latest = now;
  history[fresh ? "pushState" : "replaceState"](null, "", alone ? `#${state.get("at")}` : state.size ? `#${state}` : location.pathname + location.search);
}

/** Another address was opened in this window. */
export function follow(then) {
  window.addEventListener("popstate", () => {
    if (String(read()) === String(state)) return;
    state = read();
    then();
  });
}

/* The whole view in the address, so that it can be sent: `#r=RUN&i=ITEM&n=FRAME...`. */

let state = new URLSearchParams(location.hash.slice(1));

export const get = (name, otherwise = "") => state.get(name) ?? otherwise;
export const all = (name) => state.getAll(name);

/** Empty values are usual ones and are not told; lists stand several times. `step`: it can be gone back from. */
export function set(changes, { step = false } = {}) {
  for (const [name, value] of Object.entries(changes)) {
    state.delete(name);
    for (const one of Array.isArray(value) ? value : [value ?? ""]) if (one !== "") state.append(name, String(one));
  }
  history[step ? "pushState" : "replaceState"](null, "", state.size ? `#${state}` : location.pathname + location.search);
}

/** Another address was opened in this window. */
export function follow(then) {
  const anew = () => {
    if (location.hash.slice(1) === String(state)) return;
    state = new URLSearchParams(location.hash.slice(1));
    then();
  };
  window.addEventListener("hashchange", anew);
  window.addEventListener("popstate", anew);
}

/* What this browser remembers; without storage (private windows) only until the page is left. */

const PREFIX = "inpaintbench.";
const memory = new Map();

/** What `use` makes of the storage, or `otherwise` where there is none. */
function safely(use, otherwise) {
  try {
    return use(localStorage) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export const remembered = {
  get(name) {
    return safely((storage) => storage.getItem(PREFIX + name), memory.get(name) ?? null);
  },
  set(name, value) {
    memory.set(name, String(value));
    safely((storage) => storage.setItem(PREFIX + name, String(value)));
  },
  remove(name) {
    memory.delete(name);
    safely((storage) => storage.removeItem(PREFIX + name));
  },
  /** Names that begin with `prefix`. */
  names(prefix) {
    const known = safely((storage) => Object.keys(storage), []).filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length));
    return [...new Set([...known, ...memory.keys()])].filter((name) => name.startsWith(prefix));
  },
};

/* What this browser remembers; without storage (private windows) only until the page is left. */

const memory = new Map();
export const remembered = {
  get(name) {
    try {
      return localStorage.getItem(`inpaintbench.${name}`) ?? memory.get(name) ?? null;
    } catch {
      return memory.get(name) ?? null;
    }
  },
  set(name, value) {
    memory.set(name, String(value));
    try {
      localStorage.setItem(`inpaintbench.${name}`, String(value));
    } catch {
      /* kept in memory */
    }
  },
};

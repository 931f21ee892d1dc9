/* Whether somebody answers by keys or by touch: words and marks of keys follow it. */

const TOUCH = matchMedia("(hover: none) and (pointer: coarse)");

/** Touch until a key is pressed; keyboards of tablets show themselves that way. */
let byKeys = !TOUCH.matches;

export const hasKeys = () => byKeys;

/** Say it on `root`, for the stylesheet, and keep it up to date. */
export function followInput(root) {
  const tell = () => (root.dataset.input = byKeys ? "keys" : "touch");
  document.addEventListener("keydown", (event) => {
    // The keyboard on a touch screen says no more than this.
    if (byKeys || event.key === "Unidentified" || event.target instanceof HTMLInputElement) return;
    byKeys = true;
    tell();
  });
  tell();
}

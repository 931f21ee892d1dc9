/* One listener for all keys. Fields keep theirs, but for a player's line of frames; modifiers and repeats are not ours. */

const TEXT_FIELDS = "input:not([type='range']), textarea, select, [contenteditable='true']";
const STEPS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", ",", "."]);

/**
 * Send key presses to `press(key, event)` and `release(key)`. `press` says whether it used the key.
 * A button that the keyboard has focused keeps Enter and space, as people who tab expect.
 */
export function listen(press, release) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
    if (event.target instanceof Element && event.target.closest(TEXT_FIELDS)) return;
    const key = normal(event);
    // Only stepping goes on while a key is held; anything else would answer tasks that nobody has seen.
    if (event.repeat && !STEPS.has(key)) {
      if (key === " " || key === "Backspace") event.preventDefault();
      return;
    }
    if ((key === "Enter" || key === " ") && focusedByKeyboard()) return;
    if (press(key, event) || press(digitOf(event), event)) event.preventDefault();
  });
  document.addEventListener("keyup", (event) => release(normal(event)));
  // A key let go in another window tells nobody.
  window.addEventListener("blur", () => release(null));
}

const normal = (event) => event.key.length === 1 ? event.key.toLowerCase() : event.key;

/** The digit printed on a key whose unshifted sign is another one (French keyboards). */
function digitOf(event) {
  const found = /^(?:Digit|Numpad)(\d)$/.exec(event.code);
  return found && !event.shiftKey ? found[1] : null;
}

function focusedByKeyboard() {
  const focused = document.activeElement;
  return Boolean(focused && focused.matches(":is(button, a, summary, [role='button']):focus-visible"));
}

/* Pointers over the players: they lead the zoomed window and the wipe, or drag them; two fingers and a double tap zoom, a swipe turns over. */

const DOUBLE_TAP = { milliseconds: 300, pixels: 30 };
const GRIP_PIXELS = 16; // from the wipe's line
const SWIPE = { milliseconds: 500, pixels: 60 };

/** Listen on `area`; `view` is led (where `view.drag`: by a button or finger that is held alone) and zoomed; `onswipe(1 or -1)` is called for a stroke to the left or right. */
export function pointers(area, view, { onswipe }) {
  const touches = new Map();
  let pinch = null;
  let tapped = { at: 0, x: 0, y: 0 };
  let stroke = null;
  const inside = (event) => {
    const canvas = event.target.closest?.("canvas");
    return canvas && area.contains(canvas) ? canvas.getBoundingClientRect() : null;
  };
  const follow = (event) => {
    const box = inside(event);
    const [x, y] = box ? [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height] : [];
    if (box && (!view.drag || view.zoom.factor === 1)) view.lead({ x, y, wipe: view.drag ? undefined : x }); // where it will zoom to
    if (view.drag && event.buttons & 1) drag(event, event.type === "pointerdown" ? box : null, x);
  };
  let grip = null;
  /** Begin to drag in `box`, or go on: the wipe's line by its side or where nothing is zoomed, else the picture. */
  const drag = ({ clientX, clientY }, box, at) => {
    const { zoom } = view;
    if (box) grip = { box, line: view.wiping && (zoom.factor === 1 || Math.abs(at - view.wipeAt) * box.width < GRIP_PIXELS) };
    if (grip?.line) view.lead({ wipe: (clientX - grip.box.left) / grip.box.width });
    else if (!box && grip && zoom.factor > 1) {
      Object.assign(zoom, view.window);
      view.following = false;
      view.lead({ x: zoom.x - (clientX - grip.clientX) / grip.box.width / (zoom.factor - 1), y: zoom.y - (clientY - grip.clientY) / grip.box.height / (zoom.factor - 1) });
    }
    Object.assign(grip ?? {}, { clientX, clientY });
  };
  const spread = () => {
    const [one, two] = [...touches.values()];
    return Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY);
  };
  area.addEventListener("pointermove", (event) => {
    if (touches.has(event.pointerId)) touches.set(event.pointerId, event);
    if (touches.size === 2 && pinch) view.zoomTo((pinch.factor * spread()) / pinch.spread);
    else follow(event);
  });
  area.addEventListener("pointerdown", (event) => {
    follow(event);
    if (event.pointerType === "mouse") return;
    touches.set(event.pointerId, event);
    if (touches.size === 2) pinch = { spread: Math.max(spread(), 1), factor: view.zoom.factor };
    stroke = touches.size === 1 ? event : null;
    const near = Math.hypot(event.clientX - tapped.x, event.clientY - tapped.y) < DOUBLE_TAP.pixels;
    const again = near && event.timeStamp - tapped.at < DOUBLE_TAP.milliseconds;
    if (again && touches.size === 1 && inside(event)) view.toggleZoom();
    tapped = { at: again ? 0 : event.timeStamp, x: event.clientX, y: event.clientY };
  });
  for (const name of ["pointerup", "pointercancel"]) {
    window.addEventListener(name, (event) => {
      if (name === "pointerup" && stroke?.pointerId === event.pointerId) {
        const [right, down] = [event.clientX - stroke.clientX, event.clientY - stroke.clientY];
        const quick = event.timeStamp - stroke.timeStamp < SWIPE.milliseconds;
        if (quick && Math.abs(right) > SWIPE.pixels && Math.abs(right) > 2 * Math.abs(down)) onswipe(right < 0 ? 1 : -1);
        // A stroke is no tap: the next touch does not make it a double one.
        if (Math.hypot(right, down) > DOUBLE_TAP.pixels) tapped.at = 0;
      }
      touches.delete(event.pointerId);
      pinch = stroke = grip = null;
    });
  }
  const wheel = (event) => {
    if (!inside(event) || event.ctrlKey || (view.scrolls && view.zoom.factor === 1)) return;
    event.preventDefault();
    follow(event);
    view.zoomTo(view.zoom.factor * Math.exp(-Math.max(-120, Math.min(120, event.deltaY)) / 300));
  };
  area.addEventListener("wheel", wheel, { passive: false });
}

/* Pointers over the players: they lead the zoomed window and the wipe; two fingers and a double tap zoom, a swipe turns over. */

const DOUBLE_TAP = { milliseconds: 300, pixels: 30 };
const SWIPE = { milliseconds: 500, pixels: 60 };

/** Listen on `area`; `view` is followed and zoomed; `onswipe(1 or -1)` is called for a stroke to the left or right. */
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
    if (box) view.follow(share(event.clientX - box.left, box.width), share(event.clientY - box.top, box.height));
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
        turn(stroke, event, onswipe);
        // A stroke is no tap: the next touch does not make it a double one.
        if (Math.hypot(event.clientX - stroke.clientX, event.clientY - stroke.clientY) > DOUBLE_TAP.pixels) tapped.at = 0;
      }
      touches.delete(event.pointerId);
      pinch = stroke = null;
    });
  }
  const wheel = (event) => {
    if (!inside(event) || event.ctrlKey) return;
    event.preventDefault();
    follow(event);
    view.zoomTo(view.zoom.factor * Math.exp(-Math.max(-120, Math.min(120, event.deltaY)) / 300));
  };
  area.addEventListener("wheel", wheel, { passive: false });
}

function turn(from, to, onswipe) {
  const [right, down] = [to.clientX - from.clientX, to.clientY - from.clientY];
  const quick = to.timeStamp - from.timeStamp < SWIPE.milliseconds;
  if (quick && Math.abs(right) > SWIPE.pixels && Math.abs(right) > 2 * Math.abs(down)) onswipe(right < 0 ? 1 : -1);
}

function share(part, whole) {
  return Math.min(Math.max(part / whole, 0), 1);
}

/* Between Gradio and the player: values come in, keys are heard, what was watched goes out. */

import { el } from "./dom.js";
import { listen } from "./keys.js";
import { Player } from "./player.js";

const TELL_MS = 250;
const BROKEN = "This video does not play here.";

/** Make the player of a component, unless the page's own script does. The names are those that Gradio gives to `js_on_load`;
    `tell(event, data)` triggers its events. */
export function mount({ element, props, watch, tell }) {
  if (!props.keys) return;
  const box = element.querySelector(".comparison");
  const pick = (place) => tell("select", { index: place, value: props.value.players.find((one) => one.place === place).label });
  const player = (box.player = new Player(box, { onpick: pick }));
  hear(box, player, pick);
  player.addEventListener("broken", () => player.clear(el("div", { class: "notice", role: "status" }, BROKEN)));
  new Report(player, props, tell);
  const renew = () => {
    if (!props.value) return player.clear();
    // Gradio knows the file's address; a value that says only what was watched is no news.
    const value = { ...props.value, media: { ...props.value.media, url: props.value.file?.url ?? props.value.media.url } };
    if (value.media.url === player.shown?.media.url) return;
    const places = value.players.map((one) => one.place).filter((place) => place !== null);
    const keyOf = new Map(props.choose ? places.slice(0, 9).map((place) => [place, String(place + 1)]) : []);
    player.show(value, { keyOf });
    player.shelf.keep(new Set([value.media.url]));
  };
  watch("value", renew);
  renew();
}

/** A page may have several players, and text fields of its own: keys are those of the player under the pointer, else in focus. */
function hear(box, player, pick) {
  box.tabIndex = 0;
  const ours = () => box === (document.querySelector(".comparison:hover") ?? document.activeElement?.closest(".comparison"));
  const chosen = (key) => [...player.view.keyOf].find(([, itsKey]) => itsKey === key);
  const press = (key) => {
    if (!ours() || !player.shown || key === null) return false;
    if (!chosen(key)) return player.press(key);
    pick(chosen(key)[0]);
    return true;
  };
  listen(press, (key) => player.release(key));
}

/** Keeps `props.value.watched` up to date, so that Python handlers that take the player get it, and says once when all was seen. */
class Report {
  constructor(player, props, tell) {
    Object.assign(this, { player, props, tell, timer: null, whole: null });
    player.addEventListener("start", () => this.#look());
    player.clock.addEventListener("frame", () => (this.timer ??= setTimeout(() => this.#look(), TELL_MS)));
  }

  #look() {
    clearTimeout(this.timer);
    this.timer = null;
    const { player, props } = this;
    if (!player.shown || !player.clock.watched) return;
    const { count, frames, dropped, plays, stuttered, complete } = player.clock.watched;
    const watched = { watched_frames: count, frames, dropped_frames: dropped, plays, stuttered, complete };
    props.value = { ...props.value, watched };
    if (!complete || this.whole === player.shown) return;
    this.whole = player.shown;
    this.tell("watched", watched);
  }
}

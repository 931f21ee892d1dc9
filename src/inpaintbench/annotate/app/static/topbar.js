/* Title, progress, pace, connection, who is here, theme, help, the way out. */

import { onPress } from "./player/dom.js";
import { remembered } from "./remembered.js";
import { said } from "./screens.js";

const THEMES = ["auto", "light", "dark"];
const CALM_MS = 700;

export class TopBar {
  constructor(root, page) {
    this.page = page;
    for (const name of ["title", "tally", "progress", "count", "pace", "link", "name", "retry", "theme", "stop", "leave"]) {
      this[name] = root.querySelector(`.${name}`);
    }
    onPress(this.theme, () => this.#nextTheme());
    this.#setTheme(THEMES.find((one) => one === remembered.get("theme")) ?? "auto");
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#setTheme(this.chosen));
  }

  show({ study, rater, progress, crowd }, unsent) {
    // Strangers come back by the platform's link, and may stop wherever they are.
    this.leave.hidden = Boolean(crowd);
    this.stop.hidden = !crowd || crowd.outcome === "withdrawn" || crowd.stage === "consent";
    this.stop.textContent = said(crowd?.stage === "ended" ? "withdrawing" : "stopping");
    this.page.dataset.stage = crowd?.stage ?? "";
    this.title.textContent = study.title;
    this.title.title = study.title;
    document.title = study.title;
    this.name.textContent = rater.name;
    // Of this part: practice and test are counted by themselves.
    const before = crowd?.before ?? 0;
    const done = progress.answered - before;
    const total = Math.max(progress.total - before, done);
    this.tally.style.visibility = total ? "" : "hidden";
    this.progress.firstElementChild.style.transform = `scaleX(${total ? done / total : 0})`;
    this.progress.setAttribute("aria-valuemax", String(total));
    this.progress.setAttribute("aria-valuenow", String(done));
    const stage = ["training", "testing"].includes(crowd?.stage) ? said(`of-${crowd.stage}`) : "";
    this.count.textContent = `${stage} ${done} / ${total}`.trim();
    this.pace.textContent = stage ? "" : progress.pace;
    this.connect(unsent);
  }

  /** `unsent`: {count, blocked, failing}. */
  connect({ count, blocked, failing }) {
    clearTimeout(this.calm);
    this.retry.hidden = blocked || !count || !failing;
    if (blocked) this.#say(said("link-signed-out"), "lost");
    else if (count && failing) this.#say(said("link-waiting", { count }), "lost");
    // What is saved within a blink is no news.
    else if (count) this.calm = setTimeout(() => this.#say(said("link-saving"), "busy"), CALM_MS);
    else this.#say(said("link-saved"), "saved");
  }

  #say(text, state) {
    if (this.link.textContent !== text) this.link.textContent = text;
    this.link.dataset.state = state;
  }

  #nextTheme() {
    const next = THEMES[(THEMES.indexOf(this.chosen) + 1) % THEMES.length];
    remembered.set("theme", next);
    this.#setTheme(next);
  }

  #setTheme(theme) {
    this.chosen = theme;
    const dark = theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
    this.page.dataset.theme = dark ? "dark" : "light";
    this.theme.value = theme;
    this.theme.ariaLabel = this.theme.dataset.tip = said(`theme-${theme}`);
  }
}

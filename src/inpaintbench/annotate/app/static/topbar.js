/* Title, progress, pace, connection, who is here, theme, help, the way out. */

import { onPress } from "./player/dom.js";
import { remembered } from "./remembered.js";
import { counted } from "./screens.js";

const THEMES = { auto: "Theme: as the system", light: "Theme: light", dark: "Theme: dark" };
const CALM_MS = 700;

export class TopBar {
  constructor(root, page) {
    this.page = page;
    for (const name of ["title", "tally", "progress", "count", "pace", "link", "name", "retry", "theme", "stop", "leave"]) {
      this[name] = root.querySelector(`.${name}`);
    }
    onPress(this.theme, () => this.#nextTheme());
    this.#setTheme(remembered.get("theme") in THEMES ? remembered.get("theme") : "auto");
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#setTheme(this.chosen));
  }

  show({ study, rater, progress, crowd }, unsent) {
    // Strangers come back by the platform's link, and may stop wherever they are.
    this.leave.hidden = Boolean(crowd);
    this.stop.hidden = !crowd || crowd.outcome === "withdrawn" || crowd.stage === "consent";
    this.stop.textContent = crowd?.stage === "ended" ? "Withdraw" : "Stop";
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
    const stage = { training: "Practice: ", testing: "Test: " }[crowd?.stage] ?? "";
    this.count.textContent = `${stage}${done} / ${total}`;
    this.pace.textContent = stage ? "" : progress.pace;
    this.connect(unsent);
  }

  /** `unsent`: {count, blocked, failing}. */
  connect({ count, blocked, failing }) {
    clearTimeout(this.calm);
    this.retry.hidden = blocked || !count || !failing;
    if (blocked) this.#say("Signed out", "lost");
    else if (count && failing) this.#say(`${counted(count, "answer")} waiting for the network`, "lost");
    // What is saved within a blink is no news.
    else if (count) this.calm = setTimeout(() => this.#say("Saving…", "busy"), CALM_MS);
    else this.#say("Saved", "saved");
  }

  #say(text, state) {
    if (this.link.textContent !== text) this.link.textContent = text;
    this.link.dataset.state = state;
  }

  #nextTheme() {
    const names = Object.keys(THEMES);
    const next = names[(names.indexOf(this.chosen) + 1) % names.length];
    remembered.set("theme", next);
    this.#setTheme(next);
  }

  #setTheme(theme) {
    this.chosen = theme;
    const dark = theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
    this.page.dataset.theme = dark ? "dark" : "light";
    this.theme.value = theme;
    this.theme.setAttribute("aria-label", THEMES[theme]);
    this.theme.dataset.tip = THEMES[theme];
  }
}

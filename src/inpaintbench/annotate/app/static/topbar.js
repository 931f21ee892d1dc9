/* Title, progress, pace, connection, who is here, theme, help, the way out. */

import { button, el, icon } from "./player/dom.js";
import { remembered } from "./remembered.js";
import { pace, TEXT, waitingFor } from "./text.js";

const THEMES = ["auto", "light", "dark"];
const THEME_LABEL = { auto: "Theme: as the system", light: "Theme: light", dark: "Theme: dark" };
const CALM_MS = 700;

export class TopBar {
  constructor(root, { page, onhelp, onleave, onstop, onretry }) {
    this.page = page;
    this.title = el("h1", { class: "title" });
    this.bar = el("div", { class: "fill" });
    this.progress = el("div", { class: "progress", role: "progressbar", "aria-label": "Answered", "aria-valuemin": "0" }, this.bar);
    this.count = el("span", { class: "count" });
    this.pace = el("span", { class: "pace" });
    this.link = el("span", { class: "link", role: "status", "aria-live": "polite" });
    this.retry = plain("retry", TEXT.tryNow, onretry, TEXT.tryNow);
    this.retry.hidden = true;
    this.name = el("span", { class: "name" });
    this.theme = plain("theme", "Theme", () => this.#nextTheme());
    const help = plain("help", "Help: all keys", onhelp, "?");
    this.stop = plain("stop", TEXT.stop, onstop, TEXT.stop);
    this.stop.hidden = true;
    this.leave = plain("leave", "Sign out", onleave);
    this.leave.append(icon("leave"));
    this.tally = el("div", { class: "tally" }, this.progress, this.count, this.pace);
    root.append(this.title, this.tally, this.link, this.retry, this.name, this.theme, help, this.stop, this.leave);
    this.#setTheme(THEMES.includes(remembered.get("theme")) ? remembered.get("theme") : "auto");
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#setTheme(this.chosen));
  }

  show({ study, rater, progress, crowd }, unsent) {
    // Strangers come back by the platform's link, and may stop wherever they are.
    this.leave.hidden = Boolean(crowd);
    this.stop.hidden = !crowd || crowd.outcome === "withdrawn" || crowd.stage === "consent";
    const over = crowd?.stage === "ended";
    this.stop.textContent = over ? TEXT.withdraw : TEXT.stop;
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
    this.bar.style.transform = `scaleX(${total ? done / total : 0})`;
    this.progress.setAttribute("aria-valuemax", String(total));
    this.progress.setAttribute("aria-valuenow", String(done));
    const stage = { training: `${TEXT.practice}: `, testing: `${TEXT.test}: ` }[crowd?.stage] ?? "";
    this.count.textContent = `${stage}${done} / ${total}`;
    this.pace.textContent = stage ? "" : pace(progress);
    this.connect(unsent);
  }

  /** `unsent`: {count, blocked, failing}. */
  connect({ count, blocked, failing }) {
    clearTimeout(this.calm);
    this.retry.hidden = blocked || !count || !failing;
    if (blocked) this.#say(TEXT.signedOut, "lost");
    else if (count && failing) this.#say(waitingFor(count), "lost");
    // What is saved within a blink is no news.
    else if (count) this.calm = setTimeout(() => this.#say(TEXT.sending, "busy"), CALM_MS);
    else this.#say(TEXT.saved, "saved");
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
    this.theme.replaceChildren(icon(theme));
    this.theme.setAttribute("aria-label", THEME_LABEL[theme]);
    this.theme.dataset.tip = THEME_LABEL[theme];
  }
}

const plain = (name, label, action, text = "") => button({ class: `plain ${name}`, "aria-label": label, "data-tip": label }, action, text);

/* What raters have done and the server has not confirmed. Kept in this browser, sent in order, each under an id of its own,
   so that sending it twice stores it once. */

import { remembered } from "./remembered.js";

const PREFIX = "outbox.";
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 20000;
const TIMEOUT_MS = 15000;
/* The server may take it later: too busy, or the rater is paused. */
const LATER = new Set([408, 423, 425, 429]);

/** POST JSON. Returns {status, body}; status 0 where no answer came. */
export async function post(path, fields) {
  try {
    const response = await fetch(path, {
      method: "POST",
      credentials: "same-origin",
      headers: { "Content-Type": "application/json", "X-Inpaintbench": "1" },
      body: JSON.stringify(fields),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const body = await response.json().catch(() => null);
    // A 200 without JSON is some gate in between (a hotel's sign-in page), not our server.
    return response.ok && body === null ? { status: 0, body: null } : { status: response.status, body: body ?? {} };
  } catch {
    return { status: 0, body: null };
  }
}

/** Random UUID, version 4; `crypto.randomUUID` is missing on plain http outside this machine. */
function uuid() {
  const hex = [...crypto.getRandomValues(new Uint8Array(16))].map((one) => one.toString(16).padStart(2, "0")).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/** Events: `change`. `listener` hears `stored(entry, body)`, `refused(entry, sentence)`, `signedOut()`, and `somebodyElse()`, who is
    signed in here now. */
export class Outbox extends EventTarget {
  constructor(listener) {
    super();
    Object.assign(this, { listener, owner: null, entries: [], sending: null, failures: 0, blocked: false, timer: null, count: 0 });
    window.addEventListener("online", () => this.retry());
  }

  /** Take up what `owner` (study and rater) left unsent here, and begin to send. */
  open(owner) {
    this.blocked = false;
    if (this.owner !== owner) {
      this.owner = owner;
      this.entries = stored().filter((entry) => entry.owner === owner);
    }
    this.#changed();
    this.retry();
  }

  get size() {
    return this.entries.length;
  }

  /** Leases that were answered or skipped here and are not confirmed. */
  get leases() {
    return new Set(this.entries.map((entry) => entry.fields.lease_id).filter(Boolean));
  }

  /** The newest entry. */
  get last() {
    return this.entries[this.entries.length - 1] ?? null;
  }

  /** Keep and send; returns the entry. `route`: answers, skips or undos. */
  add(route, fields, note = null) {
    this.count += 1;
    const id = uuid();
    const order = `${String(Date.now()).padStart(14, "0")}.${String(this.count).padStart(6, "0")}`;
    const entry = { key: `${PREFIX}${order}.${id}`, owner: this.owner, route, id, fields: { submission_id: id, ...fields }, note, attempted: false };
    this.entries.push(entry);
    remembered.set(entry.key, JSON.stringify(entry));
    this.#changed();
    this.#send();
    return entry;
  }

  /** Take out an entry that was never sent; false when it may have reached the server. */
  withdraw(entry) {
    if (entry.attempted || entry === this.sending) return false;
    this.#drop(entry);
    return true;
  }

  retry() {
    this.failures = 0;
    this.#send();
  }

  async #send() {
    clearTimeout(this.timer);
    if (this.sending || this.blocked || !this.entries.length) return;
    if (navigator.onLine === false) return this.#changed();
    const entry = this.entries[0];
    this.sending = entry;
    entry.attempted = true;
    remembered.set(entry.key, JSON.stringify(entry));
    const { status, body } = await post(`/api/${entry.route}`, entry.fields);
    this.sending = null;
    this.#settle(entry, status, body);
    this.#changed();
  }

  #settle(entry, status, body) {
    if (status === 200) {
      this.failures = 0;
      this.#drop(entry);
      this.listener.stored(entry, body);
    } else if (status === 401) {
      this.blocked = true;
      return this.listener.signedOut();
    } else if (status === 403) {
      // The answer is another rater's than the one who is signed in: it waits for its own.
      this.blocked = true;
      return this.listener.somebodyElse();
    } else if (status === 0 || status >= 500 || LATER.has(status)) {
      this.failures += 1;
      const wait = Math.min(FIRST_WAIT_MS * 2 ** (this.failures - 1), LONGEST_WAIT_MS);
      this.timer = setTimeout(() => this.#send(), wait * (0.75 + Math.random() / 2));
      return;
    } else {
      this.#drop(entry);
      this.listener.refused(entry, String(body?.error ?? status));
    }
    this.#send();
  }

  #drop(entry) {
    this.entries = this.entries.filter((one) => one !== entry);
    remembered.remove(entry.key);
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}

/** What earlier pages left here; what is no entry goes. */
function stored() {
  const entries = [];
  for (const key of remembered.names(PREFIX).sort()) {
    try {
      entries.push({ ...JSON.parse(remembered.get(key)), key });
    } catch {
      remembered.remove(key);
    }
  }
  return entries;
}

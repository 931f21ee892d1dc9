/* Which card is next. The server's lists arrive late and may hold what was answered here meanwhile. */

export class Queue {
  constructor() {
    Object.assign(this, { cards: [], done: new Set() });
  }

  /** Leases that are answered or skipped here: never shown again, unless `reopen` names them. */
  finish(lease) {
    this.done.add(lease);
    this.cards = this.cards.filter((card) => card.lease_id !== lease);
  }

  reopen(lease) {
    this.done.delete(lease);
  }

  /** Take the server's list; the card `current` is shown and stays out. */
  renew(cards, current) {
    this.cards = cards.filter((card) => !this.done.has(card.lease_id) && card.lease_id !== current?.lease_id);
  }

  putFirst(card) {
    this.reopen(card.lease_id);
    this.cards = [card, ...this.cards.filter((one) => one.lease_id !== card.lease_id)];
  }

  next() {
    return this.cards.shift() ?? null;
  }
}

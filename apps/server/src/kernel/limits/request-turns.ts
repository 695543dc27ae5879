/** Maximum requests of one user that begin in one turn of the event loop while others have requests too. */
const maxATurn = 4;
/** Time for which a user counts as present after a request. */
const requestPresenceMs = 250;

type Begin = () => void;

/**
 * Orders the beginning of requests: a few of each user in every turn of the event loop, so that nobody waits behind all
 * requests that another user sends at once. Requests begin as they come while no other user is present.
 */
export class RequestTurns {
  readonly #waiting = new Map<string, Begin[]>();
  /** Number of requests that have begun in this turn, by user. */
  readonly #begun = new Map<string, number>();
  #newest = { user: '', at: -Infinity };
  /** The newest request of another user than that one. */
  #other = { user: '', at: -Infinity };
  #isTurnWatched = false;

  /** Calls `begin` at once, or in a later turn. `user`: who it is for, or the address of a stranger. */
  pass(user: string, begin: Begin): void {
    this.#note(user);
    const mine = this.#waiting.get(user);
    if (mine !== undefined) return void mine.push(begin);
    const begun = this.#begun.get(user) ?? 0;
    if (performance.now() - this.#other.at > requestPresenceMs) return begin();
    this.#watchTurn();
    if (begun >= maxATurn) return void this.#waiting.set(user, [begin]);
    this.#begun.set(user, begun + 1);
    begin();
  }

  #note(user: string): void {
    const at = performance.now();
    if (this.#newest.user === user) this.#newest.at = at;
    else [this.#other, this.#newest] = [this.#newest, { user, at }];
  }

  #watchTurn(): void {
    if (this.#isTurnWatched) return;
    this.#isTurnWatched = true;
    setImmediate(() => this.#nextTurn());
  }

  #nextTurn(): void {
    this.#isTurnWatched = false;
    this.#begun.clear();
    if (this.#waiting.size > 0) this.#watchTurn();
    for (const [user, mine] of this.#waiting) {
      const some = mine.splice(0, maxATurn);
      if (mine.length === 0) this.#waiting.delete(user);
      this.#begun.set(user, some.length);
      for (const begin of some) begin();
    }
  }
}

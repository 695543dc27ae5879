import { type ChangedThing, changedThings } from '../db/shared-change.ts';
import type { FaultMonitor } from '../faults/fault-monitor.ts';
import { periodically } from '../periodically.ts';
import type { Others } from './others.ts';
import { keptMs, type SharedChange, type SharedChangeStore } from './shared-change-store.ts';

interface Options {
  store: SharedChangeStore;
  others: Others;
  faults: FaultMonitor;
}

type Reload = () => Promise<void> | void;

const lookEveryMs = 500;
/** What was known longer ago decides about nothing. */
const freshMs = 1000;
const deleteEveryMs = 10_000;
const topic = 'look';

/**
 * Tells what this server knows by heart that another one has changed it: within a second, and at once when that other
 * one asks for it. A server that stood still looks before it does anything. Rows are not numbered in the order in which
 * they become visible, so all of the last minute are read, and those that are new count.
 */
export class SharedChanges {
  readonly #options: Options;
  readonly #reloads: [ChangedThing, Reload][] = [];
  readonly #ends: (() => unknown)[];
  #known = new Set<number>();
  #readAt = performance.now();
  #reading: Promise<void> = Promise.resolve();
  #catchingUp: Promise<void> | undefined;

  constructor(options: Options) {
    this.#options = options;
    const { store, others, faults } = options;
    this.#ends = [
      others.answer(topic, () => this.look()),
      periodically(faults, lookEveryMs, () => this.look()),
      periodically(faults, deleteEveryMs, () => store.deleteOld()),
    ];
  }

  /** How long ago this server has last looked. */
  get ageMs(): number {
    return performance.now() - this.#readAt;
  }

  on(thing: ChangedThing, reload: Reload): void {
    this.#reloads.push([thing, reload]);
  }

  /** Resolves when everything is known that was stored before. */
  look(): Promise<void> {
    const read = (): Promise<void> => this.#read();
    this.#reading = this.#reading.then(read, read);
    return this.#reading;
  }

  /** Undefined: what is known is not older than a second. Rejects when the database does not answer. */
  catchUp(): Promise<void> | undefined {
    if (this.ageMs <= freshMs) return undefined;
    this.#catchingUp ??= this.look().finally(() => (this.#catchingUp = undefined));
    return this.#catchingUp;
  }

  /** Resolves when the others have looked that are there. */
  tellOthers(): Promise<void> {
    return this.#options.others.tellAll(topic);
  }

  async close(): Promise<void> {
    for (const end of this.#ends) await end();
    await this.#reading.catch(() => undefined);
  }

  async #read(): Promise<void> {
    const askedAt = performance.now();
    const rows = await this.#options.store.list();
    const changed = this.#select(rows);
    for (const [thing, reload] of this.#reloads) if (changed.has(thing)) await reload();
    // Not before: what failed is done again.
    this.#known = new Set(rows.map(({ id }) => id));
    this.#readAt = askedAt;
  }

  #select(rows: readonly SharedChange[]): ReadonlySet<ChangedThing> {
    // Some may have been deleted unread.
    if (performance.now() - this.#readAt > keptMs / 2) return new Set(changedThings);
    return new Set(rows.filter(({ id }) => !this.#known.has(id)).map(({ name }) => name));
  }
}

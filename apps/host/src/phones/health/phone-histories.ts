import { errorText } from '@phalanx/settings';
import { PhoneEvent } from '@phalanx/protocol';
import type { Logger } from 'pino';
import { Type } from 'typebox';
import type { HostStore } from '../../store/host-store.ts';
import type { JsonTable } from '../../store/json-table.ts';

const shape = Type.Array(PhoneEvent);

/** Maximum number of events per phone. It covers a day of a normal phone; a flapping phone loses its older events. */
const keptEvents = 200;

/** Histories of all phones, which survive a restart of the host. */
export class PhoneHistories {
  readonly #table: JsonTable<typeof shape>;
  readonly #log: Logger;
  readonly #before = new Map<string, readonly PhoneEvent[] | undefined>();
  #unwritten = new Map<string, readonly PhoneEvent[]>();
  #writing: Promise<void> | undefined;
  #isFailing = false;

  constructor(store: HostStore, log: Logger) {
    this.#table = store.table('phone_history', shape);
    this.#log = log;
  }

  /** Loads the histories. Call it before the first phone connects. */
  async load(): Promise<void> {
    for await (const [serial, events] of this.#table.entries()) this.#before.set(serial, events);
  }

  /** Whether the host knew a phone with this serial number before it started. */
  knows(serial: string): boolean {
    return this.#before.has(serial);
  }

  historyOf(serial: string): PhoneHistory {
    return new PhoneHistory(this.#before.get(serial), (events) => {
      this.#unwritten.set(serial, events);
      this.#writing ??= this.#write();
    });
  }

  /** Resolves when all pending writes are done. */
  async close(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#unwritten.size > 0) {
      const histories = this.#unwritten;
      this.#unwritten = new Map();
      await this.#table.putAll([...histories].map(([serial, events]) => [serial, [...events]])).then(
        () => (this.#isFailing = false),
        (error: unknown) => this.#tellFailure(error),
      );
    }
    this.#writing = undefined;
  }

  /** Logs a write failure once, until a write succeeds again. */
  #tellFailure(error: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    const reason = errorText(error);
    this.#log.error({ reason }, 'The histories of phones can not be written. Is the disk full?');
  }
}

/** History of a phone, newest event last. */
export class PhoneHistory {
  readonly #onChange: (events: readonly PhoneEvent[]) => void;
  #events: readonly PhoneEvent[];

  /** `before` holds earlier events. */
  constructor(
    before: readonly PhoneEvent[] = [],
    onChange: (events: readonly PhoneEvent[]) => void = () => {},
  ) {
    this.#events = before.slice(-keptEvents);
    this.#onChange = onChange;
  }

  get lastRepair(): PhoneEvent | null {
    return this.#events.findLast(({ kind }) => kind === 'repair') ?? null;
  }

  list(): readonly PhoneEvent[] {
    return this.#events;
  }

  add(event: PhoneEvent): void {
    this.#events = [...this.#events, event].slice(-keptEvents);
    this.#onChange(this.#events);
  }
}

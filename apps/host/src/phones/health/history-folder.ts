import { join } from 'node:path';
import { PhoneEvent } from '@phalanx/protocol';
import type { Logger } from 'pino';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { phoneFileName, readPhoneFiles } from '../../disk/phone-files.ts';
import { replaceFile } from '../../disk/replace-file.ts';

const shape = Compile(Type.Array(PhoneEvent));

/** Maximum number of events per phone. It covers a day of a normal phone; a flapping phone loses its older events. */
const keptEvents = 200;

/** Stores the history of each phone in its own file, so that it survives a restart of the host. */
export class HistoryFolder {
  readonly #dir: string;
  readonly #log: Logger;
  #before = new Map<string, readonly PhoneEvent[]>();
  readonly #unwritten = new Map<string, readonly PhoneEvent[]>();
  #writing: Promise<void> | undefined;
  #isFailing = false;

  constructor(dir: string, log: Logger) {
    this.#dir = dir;
    this.#log = log;
  }

  /** Loads the files. Call it before the first phone connects. */
  async load(): Promise<void> {
    this.#before = await readPhoneFiles<readonly PhoneEvent[]>({
      dir: this.#dir,
      log: this.#log,
      unreadable: 'The history of a phone can not be read',
      parse: (json) => shape.Parse(json),
    });
  }

  /** Whether the host knew a phone with this serial number before it started. */
  knows(serial: string): boolean {
    return this.#before.has(phoneFileName(serial));
  }

  historyOf(serial: string): PhoneHistory {
    const name = phoneFileName(serial);
    return new PhoneHistory(this.#before.get(name), (events) => {
      this.#unwritten.set(name, events);
      this.#writing ??= this.#write();
    });
  }

  /** Resolves when all pending writes are done. */
  async close(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    for (
      let next = this.#unwritten.entries().next().value;
      next;
      next = this.#unwritten.entries().next().value
    ) {
      const [name, events] = next;
      this.#unwritten.delete(name);
      await replaceFile(join(this.#dir, name), JSON.stringify(events)).then(
        () => (this.#isFailing = false),
        (error: unknown) => this.#tellFailure(error),
      );
    }
    this.#writing = undefined;
  }

  /**
   * Logs a write failure once for all phones, until a write succeeds again: they share the folder that is full or
   * missing.
   */
  #tellFailure(error: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    const reason = error instanceof Error ? error.message : String(error);
    this.#log.error({ reason }, `The histories of phones in ${this.#dir} can not be written`);
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

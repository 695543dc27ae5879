import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PhoneEvent } from '@phalanx/protocol';
import type { Logger } from 'pino';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { PhoneHistory } from './phone-history.ts';

const shape = Compile(Type.Array(PhoneEvent));

/** Keeps what each phone went through in a file of its own, so that it is known after a restart of the host, too. */
export class HistoryFolder {
  readonly #dir: string;
  readonly #log: Logger;
  readonly #before = new Map<string, readonly PhoneEvent[]>();
  readonly #unwritten = new Map<string, readonly PhoneEvent[]>();
  #writing: Promise<void> | undefined;
  #isFailing = false;

  constructor(dir: string, log: Logger) {
    this.#dir = dir;
    this.#log = log;
  }

  /** Before the first phone. A file that can't be read is left out. */
  async load(): Promise<void> {
    await mkdir(this.#dir, { recursive: true });
    const names = await readdir(this.#dir);
    for (const name of names.filter((one) => one.endsWith('.json'))) {
      try {
        const events: unknown = JSON.parse(await readFile(join(this.#dir, name), 'utf8'));
        this.#before.set(name, shape.Parse(events));
      } catch (error) {
        this.#log.warn({ err: error, file: name }, 'The history of a phone can not be read');
      }
    }
  }

  /** Whether the host had a phone with this serial number before it started. */
  knows(serial: string): boolean {
    return this.#before.has(nameOf(serial));
  }

  historyOf(serial: string): PhoneHistory {
    const name = nameOf(serial);
    return new PhoneHistory(this.#before.get(name), (events) => {
      this.#unwritten.set(name, events);
      this.#writing ??= this.#write();
    });
  }

  /** Resolves when all is written. */
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
      await this.#writeOne(join(this.#dir, name), events).then(
        () => (this.#isFailing = false),
        (error: unknown) => this.#tellFailure(error),
      );
    }
    this.#writing = undefined;
  }

  /** Once for all phones, until one can be written again: they share the folder that is full or gone. */
  #tellFailure(error: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    const reason = error instanceof Error ? error.message : String(error);
    this.#log.error({ reason }, `The histories of phones in ${this.#dir} can not be written`);
  }

  /** Written beside and renamed, so that a crash leaves no half of it. */
  async #writeOne(path: string, events: readonly PhoneEvent[]): Promise<void> {
    await writeFile(`${path}.tmp`, JSON.stringify(events));
    await rename(`${path}.tmp`, path);
  }
}

const nameOf = (serial: string): string =>
  `${createHash('sha256').update(serial).digest('hex').slice(0, 32)}.json`;

import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import type { EarlierValues } from '../driver/settings/change-settings.ts';
import { isPlace } from '../driver/settings/setting-ways.ts';

const shape = Compile(Type.Record(Type.String(), Type.String({ maxLength: 300 })));

/** Keeps how phones were before runs changed them, a file for each phone, until they are put back. */
export class EarlierSettings {
  readonly #dir: string;
  readonly #log: Logger;
  readonly #values = new Map<string, ReadonlyMap<string, string>>();

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
        const values = shape.Parse(JSON.parse(await readFile(join(this.#dir, name), 'utf8')));
        this.#values.set(name, new Map(Object.entries(values).filter(([place]) => isPlace(place))));
      } catch (error) {
        this.#log.warn({ err: error, file: name }, 'The earlier settings of a phone can not be read');
      }
    }
  }

  valuesOf(serial: string): EarlierValues {
    const name = `${createHash('sha256').update(serial).digest('hex').slice(0, 32)}.json`;
    const valuesOf = (): ReadonlyMap<string, string> => this.#values.get(name) ?? new Map();
    return {
      get values() {
        return valuesOf();
      },
      save: async (values) => {
        await this.#write(join(this.#dir, name), values);
        this.#values.set(name, values);
      },
    };
  }

  /** Written beside and renamed, so that a crash leaves no half of it. */
  async #write(path: string, values: ReadonlyMap<string, string>): Promise<void> {
    if (values.size === 0) return rm(path, { force: true });
    const file = await open(`${path}.tmp`, 'w');
    try {
      await file.writeFile(JSON.stringify(Object.fromEntries(values)));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.tmp`, path);
  }
}

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { phoneFileName, readPhoneFiles } from '../../disk/phone-files.ts';
import { replaceDurably } from '../../disk/replace-file.ts';
import type { EarlierValues } from './change-settings.ts';
import { isPlace } from './setting-ways.ts';

const shape = Compile(Type.Record(Type.String(), Type.String({ maxLength: 300 })));
type Values = ReadonlyMap<string, string>;

/** Keeps how phones were before runs changed them, a file for each phone, until they are put back. */
export class EarlierSettings {
  readonly #dir: string;
  readonly #log: Logger;
  #values = new Map<string, Values>();

  constructor(dir: string, log: Logger) {
    this.#dir = dir;
    this.#log = log;
  }

  /** Before the first phone. */
  async load(): Promise<void> {
    this.#values = await readPhoneFiles<Values>({
      ...{ dir: this.#dir, log: this.#log, unreadable: 'The earlier settings of a phone can not be read' },
      parse: (json) => new Map(Object.entries(shape.Parse(json)).filter(([place]) => isPlace(place))),
    });
  }

  valuesOf(serial: string): EarlierValues {
    const name = phoneFileName(serial);
    const valuesOf = (): Values => this.#values.get(name) ?? new Map();
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

  async #write(path: string, values: Values): Promise<void> {
    if (values.size === 0) await rm(path, { force: true });
    else await replaceDurably(path, JSON.stringify(Object.fromEntries(values)));
  }
}

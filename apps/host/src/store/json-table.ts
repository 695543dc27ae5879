import type { SqliteThread } from '@phalanx/sqlite-thread';
import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import type { JsonTableName } from './tables.ts';

/** Number of rows that are read at a time. */
const pageRows = 50;

interface Row {
  readonly key: string;
  readonly value: string;
}

/** Table of a host's store with a JSON value of one shape per key. */
export class JsonTable<Shape extends TSchema> {
  readonly #thread: SqliteThread;
  readonly #name: JsonTableName;
  readonly #validator: Validator;

  constructor(thread: SqliteThread, name: JsonTableName, shape: Shape) {
    this.#thread = thread;
    this.#name = name;
    this.#validator = Compile(shape);
  }

  /**
   * Yields all values in the order of their keys, and reads some at a time. A value of another shape, as another version
   * wrote it, is undefined.
   */
  async *entries(): AsyncGenerator<readonly [key: string, value: Static<Shape> | undefined]> {
    const text = `SELECT key, value FROM ${this.#name} WHERE key > ? ORDER BY key LIMIT ${pageRows}`;
    for (let after: string | undefined = ''; after !== undefined;) {
      const rows: Row[] = await this.#thread.run<Row>({ text, parameters: [after] });
      for (const { key, value } of rows) yield [key, this.#parse(value)];
      after = rows.at(pageRows - 1)?.key;
    }
  }

  /** Undefined also for a value of another shape. */
  async get(key: string): Promise<Static<Shape> | undefined> {
    const text = `SELECT key, value FROM ${this.#name} WHERE key = ?`;
    const [row] = await this.#thread.run<Row>({ text, parameters: [key] });
    return row === undefined ? undefined : this.#parse(row.value);
  }

  /** Writes a value. `isDurable`: it survives a power loss. Default: false. */
  put(key: string, value: Static<Shape>, { isDurable = false } = {}): Promise<void> {
    return this.putAll([[key, value]], { isDurable });
  }

  /** Writes all values, or none of them. */
  putAll(values: Iterable<readonly [string, Static<Shape>]>, { isDurable = false } = {}): Promise<void> {
    const text = `INSERT OR REPLACE INTO ${this.#name} (key, value) VALUES (?, ?)`;
    const statements = [...values].map(([key, value]) => ({
      text,
      parameters: [key, JSON.stringify(value)],
    }));
    return this.#thread.transact(statements, { isDurable });
  }

  async remove(key: string): Promise<void> {
    await this.#thread.run({ text: `DELETE FROM ${this.#name} WHERE key = ?`, parameters: [key] });
  }

  #parse(text: string): Static<Shape> | undefined {
    try {
      const value: unknown = JSON.parse(text);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the validator has checked it
      return this.#validator.Check(value) ? (value as Static<Shape>) : undefined;
    } catch {
      return undefined;
    }
  }
}

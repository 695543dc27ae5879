import type { LogLevel } from '@phalanx/protocol';

import { idOfEntry, messageOfEntry } from '../log-batch.ts';
import { pageBytes } from '../log-query.ts';

/** So much is looked through for one reply, in characters; the cursor goes on from there. */
const maxExaminedLength = 16 * 1024 * 1024;

export interface PageQuery {
  /** Only entries after this one; empty for all. */
  from: string;
  /** `null`: all. */
  levels: readonly LogLevel[] | null;
  /** Text that messages must hold, in either letter case; empty for all. */
  search: string;
  limit: number;
}

/** Takes entries in their order until a reply is full. */
export class RunLogPage {
  readonly #query: PageQuery;
  readonly #levels: readonly string[] | null;
  readonly #search: string;
  readonly #entries: string[] = [];
  #length = 0;
  #examinedLength = 0;
  #after: string;
  #hasMore = false;

  constructor(query: PageQuery) {
    this.#query = query;
    this.#after = query.from;
    // No message can hold this text: the quotes in it are escaped.
    this.#levels = query.levels && query.levels.map((level) => `"messageLevel":"${level}"`);
    this.#search = query.search.toLowerCase();
  }

  /** ID of the last entry that was looked at. */
  get after(): string {
    return this.#after;
  }

  get isFull(): boolean {
    return this.#hasMore;
  }

  /** `entry`: its JSON. One that was looked at before is left out. */
  offer(entry: string): void {
    const id = idOfEntry(entry);
    if (this.#hasMore || id <= this.#after) return;
    const isMatch = this.#matches(entry);
    if (this.#isFullFor(isMatch)) {
      this.#hasMore = true;
      return;
    }
    this.#after = id;
    this.#examinedLength += entry.length;
    if (!isMatch) return;
    this.#entries.push(entry);
    this.#length += entry.length;
  }

  /** The body of the reply. */
  body(truncated: boolean): string {
    const cursor = this.#hasMore ? `"${this.#after}"` : 'null';
    return `{"success":true,"logs":[${this.#entries.join(',')}],"next_cursor":${cursor},"truncated":${truncated}}`;
  }

  #isFullFor(isMatch: boolean): boolean {
    if (this.#examinedLength >= maxExaminedLength || this.#length >= pageBytes) return true;
    return isMatch && this.#entries.length >= this.#query.limit;
  }

  #matches(entry: string): boolean {
    if (this.#levels !== null && !this.#levels.some((level) => entry.includes(level))) return false;
    return this.#search === '' || messageOfEntry(entry).toLowerCase().includes(this.#search);
  }
}

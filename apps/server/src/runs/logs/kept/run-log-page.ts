import type { LogLevel } from '@phalanx/protocol';
import { TimeSlice } from '../../../kernel/limits/time-slice.ts';
import { entrySeparator, idOfEntry, messageOfEntry } from '../log-batch.ts';
import { pageBytes } from '../log-query.ts';

/** Maximum length of the entries examined for one reply, in characters. The cursor continues from there. */
const maxExaminedLength = 16 * 1024 * 1024;

export interface PageQuery {
  /** Cursor: ID of the entry after which to read; empty for all. */
  from: string;
  /** Null matches all levels. */
  levels: readonly LogLevel[] | null;
  /** Text that messages must contain, case-insensitive; empty for all. */
  search: string;
  limit: number;
}

/** Collects entries in order until a reply is full. */
export class RunLogPage {
  readonly #query: PageQuery;
  readonly #name: 'logs' | 'steps';
  readonly #levels: readonly string[] | null;
  readonly #search: string;
  /** Whether the search text is unchanged by JSON escaping. */
  readonly #isPlain: boolean;
  readonly #slice = new TimeSlice();
  readonly #entries: string[] = [];
  #length = 0;
  #examinedLength = 0;
  #after: string;
  #hasMore = false;

  /** `name`: name of the list of entries in the reply. */
  constructor(query: PageQuery, name: 'logs' | 'steps') {
    this.#query = query;
    this.#name = name;
    this.#after = query.from;
    // No message can contain this text, because its quotes would be escaped.
    this.#levels = query.levels && query.levels.map((level) => `"messageLevel":"${level}"`);
    this.#search = query.search.toLowerCase();
    this.#isPlain = JSON.stringify(this.#search) === `"${this.#search}"`;
  }

  /** ID of the last examined entry. */
  get after(): string {
    return this.#after;
  }

  get isFull(): boolean {
    return this.#hasMore;
  }

  /** Offers entries. `text` is their JSON, joined by `entrySeparator`. Yields to other requests at intervals. */
  async offerAll(text: string): Promise<void> {
    if (this.#slice.isOver) await this.#slice.next();
    if (this.#leaveOut(text)) return;
    for (const entry of text.split(entrySeparator)) {
      this.offer(entry);
      if (this.#hasMore) return;
      if (this.#slice.isOver) await this.#slice.next();
    }
  }

  /** Offers an entry as JSON. Skips an entry that was already examined. */
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

  /** Returns the body of the reply. */
  body(truncated: boolean): string {
    const cursor = this.#hasMore ? `"${this.#after}"` : 'null';
    return `{"success":true,"${this.#name}":[${this.#entries.join(',')}],"next_cursor":${cursor},"truncated":${truncated}}`;
  }

  /** Skips entries when none of them matches. Returns false when some may match, or not all of them may be examined. */
  #leaveOut(text: string): boolean {
    if (this.#search === '' || !this.#isPlain || this.#hasMore) return false;
    if (this.#examinedLength + text.length > maxExaminedLength || this.#isFullFor(false)) return false;
    if (text.toLowerCase().includes(this.#search)) return false;
    const last = idOfEntry(text.slice(text.lastIndexOf(entrySeparator) + entrySeparator.length));
    if (last > this.#after) this.#after = last;
    this.#examinedLength += text.length;
    return true;
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

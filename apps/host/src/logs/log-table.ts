import { WireLogEntry } from '@phalanx/protocol';
import type { SqliteThread } from '@phalanx/sqlite-thread';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

const areEntries = Compile(Type.Array(WireLogEntry));

interface Chunk {
  readonly first_seq: number;
  readonly entries: string;
}

/** Change of a run's log on disk. */
export interface LogChange {
  readonly runId: string;
  /** Number of the first of the new entries. */
  readonly firstSeq: number;
  /** New entries, as JSON texts. */
  readonly entries: readonly string[];
  /** Number of the last entry that the server has stored. Entries up to it are deleted. */
  readonly storedSeq: number;
}

/** Table of the log entries that the server has not stored yet. A row holds the entries that were written together. */
export class LogTable {
  readonly #thread: SqliteThread;

  constructor(thread: SqliteThread) {
    this.#thread = thread;
  }

  /** Writes all changes, or none of them. */
  write(changes: readonly LogChange[]): Promise<void> {
    return this.#thread.transact(
      changes.flatMap(({ runId, firstSeq, entries, storedSeq }) => {
        const trim = {
          text: 'DELETE FROM log_chunk WHERE run_id = ? AND last_seq <= ?',
          parameters: [runId, storedSeq],
        };
        if (entries.length === 0) return [trim];
        const lastSeq = firstSeq + entries.length - 1;
        const insert = {
          text: 'INSERT OR REPLACE INTO log_chunk (run_id, first_seq, last_seq, entries) VALUES (?, ?, ?, ?)',
          parameters: [runId, firstSeq, lastSeq, entries.join(',')],
        };
        return [insert, trim];
      }),
    );
  }

  async runIds(): Promise<string[]> {
    const rows = await this.#thread.run<{ run_id: string }>({
      text: 'SELECT DISTINCT run_id FROM log_chunk',
    });
    return rows.map(({ run_id }) => run_id);
  }

  /** Returns the entries of a run up to the first gap, and the number of the first one. */
  async read(runId: string): Promise<{ firstSeq: number; entries: string[] }> {
    const chunks = await this.#thread.run<Chunk>({
      text: 'SELECT first_seq, entries FROM log_chunk WHERE run_id = ? ORDER BY first_seq',
      parameters: [runId],
    });
    const firstSeq = chunks[0]?.first_seq ?? 1;
    const entries: string[] = [];
    for (const chunk of chunks) {
      const read = entriesOf(chunk);
      if (chunk.first_seq !== firstSeq + entries.length || read === undefined) break;
      for (const entry of read) entries.push(JSON.stringify(entry));
    }
    return { firstSeq, entries };
  }

  async remove(runId: string): Promise<void> {
    await this.#thread.run({ text: 'DELETE FROM log_chunk WHERE run_id = ?', parameters: [runId] });
  }
}

/** Undefined for a chunk that another version of the host wrote in another form. */
function entriesOf({ entries }: Chunk): WireLogEntry[] | undefined {
  try {
    const read: unknown = JSON.parse(`[${entries}]`);
    return areEntries.Check(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

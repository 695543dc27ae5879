import { AsyncLocalStorage } from 'node:async_hooks';
import type { Db } from './tables/tables.ts';
import { transact } from './transactions.ts';
import type { Write } from './group-commit.ts';

/** Note about a change, stored in its transaction. */
export interface ChangeNote {
  /** Whether the note is not stored yet. */
  readonly isPending: boolean;
  /** Stores the note. It is executed again when the transaction is retried. */
  readonly write: Write<void>;
}

const notes = new AsyncLocalStorage<ChangeNote>();

/** Runs `work`, whose first change (`noted`, `change`) stores the note in its transaction. */
export const withNote = <Result>(note: ChangeNote, work: () => Result): Result => notes.run(note, work);

const hasChanged = (result: unknown): boolean => result !== undefined && result !== false;

/**
 * Makes a change that stores the note of its context. A result of false or undefined means that nothing was changed.
 */
export function noted<Result>(
  work: Write<Result>,
  isChange: (result: Result) => boolean = hasChanged,
): Write<Result> {
  const note = notes.getStore();
  if (note === undefined) return work;
  let isMine = false;
  return async (transaction) => {
    const result = await work(transaction);
    if (!isChange(result)) return result;
    // Store it again if an earlier attempt of this transaction was rolled back.
    isMine ||= note.isPending;
    if (isMine) await note.write(transaction);
    return result;
  };
}

/** Makes a change in a transaction of its own, with the note of its context. */
export const change = <Result>(
  db: Db,
  work: Write<Result>,
  isChange?: (result: Result) => boolean,
): Promise<Result> => transact(db, noted(work, isChange));

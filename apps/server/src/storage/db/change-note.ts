import { AsyncLocalStorage } from 'node:async_hooks';
import type { Db } from './tables/tables.ts';
import { transact } from './transactions.ts';
import type { Write } from './writes.ts';

/** Note that is stored in the transaction of the change that it tells of. */
export interface ChangeNote {
  /** Whether there is something to tell that is not stored yet. */
  readonly isPending: boolean;
  /** Stores the note. It may be executed again, when the transaction is. */
  readonly write: Write<void>;
}

const notes = new AsyncLocalStorage<ChangeNote>();

/** The first change that `work` makes (`noted`, `change`) takes the note into its transaction. */
export const withNote = <Result>(note: ChangeNote, work: () => Result): Result => notes.run(note, work);

const hasChanged = (result: unknown): boolean => result !== undefined && result !== false;

/** A change with the note of its context. A result of false or undefined says that nothing was changed. */
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
    // Again, when an earlier try of this transaction was undone.
    isMine ||= note.isPending;
    if (isMine) await note.write(transaction);
    return result;
  };
}

/** A change that is a transaction of its own, with the note of its context. */
export const change = <Result>(
  db: Db,
  work: Write<Result>,
  isChange?: (result: Result) => boolean,
): Promise<Result> => transact(db, noted(work, isChange));

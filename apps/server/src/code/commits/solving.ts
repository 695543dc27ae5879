import type { Transaction } from '../../storage/db/database.ts';
import type { Principal } from '../../http/requests/principal.ts';

/** Commit whose message states that it solves a group. */
export interface Solution {
  hash: string;
  groupId: string;
}

interface OfProject {
  principal: Principal;
  projectId: string;
}

/** Finds and marks the groups that commits solve according to lines such as `Solves 0197c6a4-…`. */
export interface Solving {
  /** Finds the stated solutions of groups that belong to the project and that the caller may mark. */
  find(question: OfProject, commits: readonly { hash: string; message: string }[]): Promise<Solution[]>;
  /** Enqueues the marks in the transaction that stores the commits. */
  note(transaction: Transaction, of: OfProject, solutions: readonly Solution[]): Promise<void>;
  /** Resolves when this server has finished its enqueued marks. Marking starts without this call. */
  mark(): Promise<void>;
}

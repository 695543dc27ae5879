import type { Transaction } from '../../storage/db/database.ts';
import type { Principal } from '../../http/requests/principal.ts';

/** A commit that says that it solves a group. */
export interface Solution {
  hash: string;
  groupId: string;
}

interface OfProject {
  principal: Principal;
  projectId: string;
}

/** Solutions that commits state by lines such as `Solves 0197c6a4-…`. */
export interface Solving {
  /** Finds the solutions of those groups of the project that the caller may mark. */
  find(question: OfProject, commits: readonly { hash: string; message: string }[]): Promise<Solution[]>;
  /** Enqueues the marks in the transaction that stores the commits. */
  note(transaction: Transaction, of: OfProject, solutions: readonly Solution[]): Promise<void>;
  /** Resolves when the groups are marked that this server marks; the marks begin by themselves. */
  mark(): Promise<void>;
}

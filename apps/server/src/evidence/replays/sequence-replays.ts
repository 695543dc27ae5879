import type { SequenceResult, SequenceOutcome } from '@phalanx/protocol';
import { isAncestor } from '../../code/git/git-objects.ts';
import type { ProjectRepositories } from '../../code/projects/repositories/project-repositories.ts';
import { emptyTree } from '../../code/projects/saved-state.ts';
import type { ReadSequence, SavedSequence } from '../records/saved-sequence.ts';
import { parametersOf, type StoredRunDetail } from '../../runs/runs/stored-run.ts';
import type { ReplayHosts, HostCode } from './replay-hosts.ts';

interface Options {
  hosts: ReplayHosts;
  repositories: Pick<ProjectRepositories, 'read'>;
  readSequence: ReadSequence;
  findRun: (runId: string) => Promise<StoredRunDetail | undefined>;
}

type ReadableSequence = Exclude<SavedSequence, { problem: string }>;

interface SequenceOrder {
  read: ReadableSequence;
  projectId: string;
  /** Tree of the code that is replayed. */
  treeId: string;
  /** Users whose hosts may see the screens. */
  hostOwners: readonly string[];
  codeOf: (treeId: string, parameters: Record<string, unknown>) => Promise<HostCode>;
  goesOn: () => Promise<boolean>;
}

/** Replays the screens of records in their order. */
export class SequenceReplays {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async read(recordId: string): Promise<SavedSequence> {
    return (await this.#options.readSequence(recordId)) ?? { problem: 'was deleted' };
  }

  /**
   * Replays a sequence. When the result diverges, replays it with the code of its run, too. Returns undefined when
   * `goesOn` returns false.
   */
  async replay(order: SequenceOrder): Promise<SequenceOutcome | undefined> {
    const run = await this.#options.findRun(order.read.runId);
    const result = await this.#follow(order, order.treeId, run);
    if (result === null) return undefined;
    if (result.kind === 'same') return { result, own_code: null };
    const ownTree = await this.#treeOf(order.projectId, run);
    if (ownTree === undefined) return { result, own_code: 'not_known' };
    if (ownTree === order.treeId) return { result, own_code: 'not_reproducible' };
    const own = await this.#follow(order, ownTree, run);
    if (own === null) return undefined;
    return { result, own_code: own.kind === 'same' ? 'same' : 'not_reproducible' };
  }

  /** Replays the sequence with the parameters of its run, as far as they are known. */
  async #follow(
    { read: { sequence }, hostOwners, codeOf, goesOn }: SequenceOrder,
    treeId: string,
    run: StoredRunDetail | undefined,
  ): Promise<SequenceResult | null> {
    const given = run === undefined ? null : parametersOf(run);
    const code = await codeOf(treeId, given?.automation_parameters ?? {});
    const job_variables = given?.job_variables ?? {};
    return this.#options.hosts.follow(hostOwners, { code: { ...code, job_variables }, sequence }, goesOn);
  }

  /** Finds the tree that the run used, if its commit determines it and is in the history. */
  #treeOf(projectId: string, run: StoredRunDetail | undefined): Promise<string | undefined> {
    const commit = run?.dirty === 0 ? run.commit : null;
    if (commit === null) return Promise.resolve(undefined);
    return this.#options.repositories.read(projectId, async (repository, { head }) => {
      if (!(await isAncestor(repository, { older: commit, newer: head }))) return undefined;
      return (await repository.findInfo(`${commit}^{tree}`))?.id ?? emptyTree;
    });
  }
}

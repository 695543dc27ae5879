import { access, mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';

import { errorCodeOf } from '../error-code.ts';
import { findFault, folderMissing, PartFailed } from '../faults/fault.ts';
import { BatchProcessEnded } from '../git/batch-process.ts';
import { type GitProgram, pruneExpiry } from '../git/git-program.ts';
import type { GitRepository } from '../git/git-repository.ts';
import { measureRepository } from '../git/measure-repository.ts';
import { probeGit } from '../git/prepare-git.ts';
import { RepositoryPool } from '../git/repository-pool.ts';
import { GitFailure, runGit } from '../git/run-git.ts';
import { removeStaleFiles } from '../git/stale-files.ts';
import { ApiError } from '../http/api-error.ts';
import { syncFolder } from '../sync-folder.ts';
import { publishHead, SavedStateMoved } from './saved-state.ts';
import { Upkeep, writesBetweenLooks } from './upkeep.ts';

interface RepositoriesOptions {
  git: GitProgram;
  /** Holds one bare repository a project. */
  folder: string;
  log: Logger;
  /** Told what a repository takes after git has tidied up. */
  onTidied?: (id: string, bytes: number) => Promise<void>;
}

const suffix = '.git';

/** The repositories of all projects: who may touch one when, from its creation to its deletion. */
export class ProjectRepositories {
  readonly git: GitProgram;
  readonly #folder: string;
  readonly #log: Logger;
  readonly #pool: RepositoryPool;
  readonly #locks = new Map<string, QueueLock>();
  /** What has to end at once when a project is deleted, such as a clone. */
  readonly #guests = new Map<string, Set<() => void>>();
  readonly #upkeep: Upkeep;
  /** The repositories that were looked at for what a crash left behind. */
  readonly #mended = new Set<string>();
  #removals: Promise<unknown> = Promise.resolve();

  constructor({ git, folder, log, onTidied }: RepositoriesOptions) {
    this.git = git;
    this.#folder = folder;
    this.#log = log;
    this.#pool = new RepositoryPool({
      git,
      folder,
      prepare: (id, repository) => this.#prepare(id, repository),
    });
    this.#upkeep = new Upkeep({
      log,
      run: async (id, signal) => {
        await this.#collectGarbage(id, signal);
        await onTidied?.(id, await measureRepository(git, this.gitDirOf(id)));
      },
    });
  }

  /** Anyone may read at any time: what is written appears as a whole. */
  async read<Result>(id: string, work: (repository: GitRepository) => Promise<Result>): Promise<Result> {
    try {
      return await this.#pool.use(id, work);
    } catch (error) {
      throw await this.#explain(id, error);
    }
  }

  /** One writer at a time a project, in the order of asking. */
  async write<Result>(id: string, work: (repository: GitRepository) => Promise<Result>): Promise<Result> {
    const release = await this.lock(id);
    try {
      return await this.read(id, (repository) => untilItFits(() => work(repository)));
    } finally {
      release();
      this.#upkeep.noteWrite(id);
    }
  }

  /** For writers that are not one function, such as a push. Call the result when it is over, on every path. */
  async lock(id: string): Promise<() => void> {
    const lock = this.#locks.get(id) ?? new QueueLock();
    this.#locks.set(id, lock);
    const release = await lock.acquire();
    return () => {
      release();
      if (lock.isFree && this.#locks.get(id) === lock) this.#locks.delete(id);
    };
  }

  /** For writes that did not go through `write`, or weigh more than one. */
  noteWrite(id: string, weight?: number): void {
    this.#upkeep.noteWrite(id, weight);
  }

  /** Lets git tidy up without waiting for more writes. */
  tidySoon(id: string): void {
    this.#upkeep.noteWrite(id, writesBetweenLooks);
  }

  gitDirOf(id: string): string {
    return this.#pool.gitDirOf(id);
  }

  /** Calls `leave` when the project is deleted; the result takes that back. */
  addGuest(id: string, leave: () => void): () => void {
    const guests = this.#guests.get(id) ?? new Set();
    this.#guests.set(id, guests.add(leave));
    return () => {
      guests.delete(leave);
      if (guests.size === 0 && this.#guests.get(id) === guests) this.#guests.delete(id);
    };
  }

  async create(id: string): Promise<void> {
    const staged = path.join(this.git.stagingFolder, id);
    const args = ['init', '--bare', '--quiet', '--template=', staged];
    await runGit(this.git, args, {}).catch(async (error: unknown) => {
      throw await this.#blameGit(error);
    });
    // The private refs have a folder from the first day, so that it can be synced after each write.
    await mkdir(path.join(staged, 'refs', 'phalanx'), { recursive: true });
    await rename(staged, this.gitDirOf(id));
    await syncFolder(this.#folder);
  }

  /** Call it after the project's row is gone: from then on nobody finds the project, even if this is cut short. */
  async remove(id: string): Promise<void> {
    // A push holds the lock until it has ended.
    this.#sendGuestsAway(id);
    const release = await this.lock(id);
    try {
      this.#upkeep.forget(id);
      this.#sendGuestsAway(id);
      await this.#discard(id);
    } finally {
      release();
    }
  }

  /** Removes what a crash between row and folder has left behind. */
  async sweep(isKnown: (id: string) => boolean): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.#folder)) {
      const id = name.slice(0, -suffix.length);
      if (name.endsWith(suffix) && !isKnown(id)) await this.#discard(id);
    }
  }

  async close(): Promise<void> {
    for (const id of this.#guests.keys()) this.#sendGuestsAway(id);
    await this.#upkeep.close();
    await this.#pool.close();
    await this.#removals;
  }

  #sendGuestsAway(id: string): void {
    for (const leave of this.#guests.get(id) ?? []) leave();
  }

  async #prepare(id: string, repository: GitRepository): Promise<void> {
    await access(repository.gitDir);
    if (!this.#mended.has(id)) await removeStaleFiles(repository.gitDir);
    this.#mended.add(id);
    await publishHead(repository);
  }

  async #discard(id: string): Promise<void> {
    this.#pool.retire(id, true);
    this.#mended.delete(id);
    const doomed = path.join(this.git.stagingFolder, `${id}.deleted`);
    await rename(this.gitDirOf(id), doomed);
    await syncFolder(this.#folder);
    // A large repository takes its time; at worst the next start empties the staging folder.
    this.#removals = this.#removals
      .then(() => rm(doomed, { recursive: true, force: true, maxRetries: 3 }))
      .catch((error: unknown) => this.#log.warn({ err: error }, 'a deleted project left files behind'));
  }

  async #collectGarbage(id: string, signal: AbortSignal): Promise<void> {
    const gitDir = this.gitDirOf(id);
    const limits = { gitDir, signal, timeoutMs: 30 * 60_000 };
    await runGit(this.git, ['gc', '--auto', '--quiet'], limits);
    await runGit(this.git, ['prune', `--expire=${pruneExpiry}`], limits);
    // Open processes know the packs as they were.
    this.#pool.retire(id);
  }

  /**
   * A deletion pulls the repository from under those who read it: to them, the project is not found. Otherwise it is
   * told apart whether this repository does not work, or the folder of all of them, or git.
   */
  async #explain(id: string, error: unknown): Promise<unknown> {
    if (error instanceof ApiError || findFault(error) !== undefined) return error;
    try {
      if (await exists(this.gitDirOf(id))) return await this.#blameGit(error);
      if (await exists(this.#folder))
        return ApiError.of('project_not_found', { project_id: id }, { cause: error });
      return new PartFailed(folderMissing, { cause: error });
    } catch (fault) {
      return fault;
    }
  }

  /** Throws `PartFailed` when it is git as such that fails. */
  async #blameGit(error: unknown): Promise<unknown> {
    const isOfGit = error instanceof GitFailure || error instanceof BatchProcessEnded;
    if (isOfGit && findFault(error) === undefined) await probeGit(this.git);
    return error;
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Each attempt reads the state again. */
async function untilItFits<Result>(work: () => Promise<Result>, attempts = 3): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SavedStateMoved) || attempts === 1) throw error;
    return untilItFits(work, attempts - 1);
  }
}

/** One at a time, in the order of asking. */
class QueueLock {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  get isFree(): boolean {
    return this.#waiting === 0;
  }

  /** Resolves when it is this one's turn, with the function that ends it. */
  async acquire(): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    this.#waiting += 1;
    await before;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#waiting -= 1;
      resolve();
    };
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const release = await this.acquire();
    try {
      return await work();
    } finally {
      release();
    }
  }
}

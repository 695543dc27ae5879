import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { backoffMs } from '@phalanx/timing/backoff';
import type { Clock } from '../../../kernel/clock.ts';
import { SerialQueues } from '../../../kernel/serial-queues.ts';
import type { Transaction } from '../../../storage/db/tables/tables.ts';
import { errorCodeOf, ApiError } from '../../../kernel/errors/api-error.ts';
import { findFault } from '../../../kernel/faults/fault-monitor.ts';
import { type GitProgram, GitFailure } from '../../git/git-process.ts';
import { BatchProcessEnded } from '../../git/batch-process.ts';
import { Draft, NewObjects, dropKnown } from '../../git/draft.ts';
import { ObjectMissing, type GitRepository } from '../../git/git-repository.ts';
import { RepositoryPool } from '../../git/repository-pool.ts';
import { packObjects } from '../../git/pack.ts';
import { probeGit } from '../../git/prepare-git.ts';
import { CacheFollower } from './cache-follower.ts';
import { RepositoryCache } from './repository-cache.ts';
import { Change, type NoteSaved, type SavedState } from '../saved-state.ts';
import { type LargePacks, packOfFile, packOfObjects } from '../packs/large-packs.ts';
import type { ListedPack, LoggedPack, PackLogStore, Ref } from '../packs/pack-log-store.ts';
import { Upkeep } from './upkeep.ts';

export type { LoggedPack } from '../packs/pack-log-store.ts';

type Read<Result> = (repository: GitRepository, state: SavedState) => Promise<Result>;
type Write<Result> = (draft: Draft, change: Change) => Promise<Result>;

/** Additions to a change besides what its work writes. */
interface Brought {
  /** New objects built before the work, to which the work can refer. They are stored with the change. */
  objects?: NewObjects;
  packs?: readonly LoggedPack[];
  /** First version that the log must still contain. The change is not stored if the log was repacked since. */
  firstVersion?: number | undefined;
  /** Called in the transaction of the change. */
  note?: ((transaction: Transaction) => Promise<void>) | undefined;
}

/** Error when the project has changed since the writer read it, because another server was faster. */
class SavedStateMoved extends Error {
  override readonly name = 'SavedStateMoved';
}

/** Number of packs from which the log is repacked, because more packs make reading slow. */
const maxPacks = 200;
/** Total size of all packs after the first one above which the log is repacked, if they also exceed the first one. */
const maxLaterBytes = 64 * 1024 * 1024;

interface Options {
  git: GitProgram;
  /** Folder of the repositories that git works on. Its content is a cache that can be rebuilt. */
  cacheFolder: string;
  store: PackLogStore;
  large: LargePacks;
  clock: Clock;
  log: Logger;
  /** Called with the size of a project after its log was repacked. */
  onTidied?: (id: string, bytes: number) => Promise<void>;
  /** Called in the transaction of each change of files or commits. */
  onSaved?: NoteSaved | undefined;
}

/** Repositories of all projects, from the first change to the deletion. Coordinates their readers and writers. */
export class ProjectRepositories {
  readonly git: GitProgram;
  readonly #store: PackLogStore;
  readonly #large: LargePacks;
  readonly #clock: Clock;
  readonly #cache: RepositoryCache;
  readonly #pool: RepositoryPool;
  readonly #writes = new SerialQueues();
  /** Callbacks that abort transfers, such as a clone, when their project is deleted. */
  readonly #openTransfers = new Map<string, Set<() => void>>();
  readonly #onSaved: NoteSaved | undefined;
  readonly #upkeep: Upkeep;
  readonly #follower: CacheFollower;

  constructor({ git, cacheFolder, store, large, clock, log, onTidied, onSaved }: Options) {
    this.git = git;
    this.#onSaved = onSaved;
    this.#store = store;
    this.#large = large;
    this.#clock = clock;
    this.#cache = new RepositoryCache({ folder: cacheFolder, store, large });
    this.#follower = new CacheFollower({
      cache: this.#cache,
      getVersion: async (id) => (await this.#getState(id)).version,
      onComplete: async (id, packs) => {
        if (!this.#openTransfers.has(id)) await this.#cache.sweep(id, packs);
        this.#tidyWhenLarge(id, packs);
      },
    });
    this.#pool = new RepositoryPool({ git, gitDirOf: (id) => this.gitDirOf(id) });
    this.#upkeep = new Upkeep({
      log,
      run: async (id, signal) => {
        await this.#packAnew(id, signal);
        const packs = await store.listPacks(id);
        await onTidied?.(id, bytesOf(packs));
      },
    });
  }

  /** Opens the cache. Call it before anything else. */
  async open(isKnown: (id: string) => boolean): Promise<void> {
    await this.#cache.open(isKnown);
  }

  /** Enqueues the removal of large packs that a killed server left behind. */
  async noteStrays(): Promise<void> {
    for await (const keys of this.#large.list()) await this.#store.noteStrays(keys, this.#clock.now());
  }

  /** Removes a large pack, unless it belongs to a project. */
  async removeLarge(key: string): Promise<void> {
    if (!(await this.#store.isUsed(key))) await this.#large.remove(key);
  }

  /**
   * Reads a project concurrently with readers and writers. `state` is the newest state; later writes do not change it.
   */
  async read<Result>(id: string, work: Read<Result>): Promise<Result> {
    const use = async (): Promise<Result> => {
      // Reads the state for each attempt, because another server may have repacked the log without the files of the old
      // state.
      const state = await this.#getState(id);
      await this.#follower.follow(id, state.version);
      return this.#pool.use(id, (repository) => work(repository, state));
    };
    try {
      return await use();
    } catch (error) {
      if (!mayBeOfCache(error)) throw error;
      await this.#mend(id);
    }
    try {
      return await use();
    } catch (error) {
      throw await this.#blameGit(error);
    }
  }

  /**
   * Writes a project, one writer at a time, in the order of the calls. The changes of the work are durable when the
   * promise resolves.
   */
  write<Result>(id: string, work: Write<Result>, brought: Brought = {}): Promise<Result> {
    return this.#writes.run(id, () => untilItFits(() => this.#attempt(id, work, brought)));
  }

  /** Prepares the repository for a git command that serves a client, with the current branches and tags. */
  async prepareForGit(id: string): Promise<string> {
    await this.#follower.complete(id);
    await this.#cache.publishRefs(id, (await this.#getState(id)).head);
    return this.gitDirOf(id);
  }

  /** Finds the first version of the project's log. It changes when the log is repacked. */
  findFirstVersion(id: string): Promise<number | undefined> {
    return this.#store.findFirstVersion(id);
  }

  /** Lists the branches other than `main`, the tags, and the private refs of the service. */
  listRefs(id: string): Promise<Ref[]> {
    return this.#store.listRefs(id);
  }

  /** Whether a kept run of the project used this tree. */
  hasRunTree(id: string, tree: string): Promise<boolean> {
    return this.#store.hasRunTree(id, tree);
  }

  /** Stores a pack that git has written, for a later change. */
  storePack(id: string, file: string): Promise<LoggedPack> {
    return packOfFile(this.#large, id, file);
  }

  /** Enqueues the removal of large packs that were stored for a change which did not happen. */
  async dropPacks(packs: readonly LoggedPack[]): Promise<void> {
    const keys = packs.flatMap(({ large_key: key }) => (key === null ? [] : [key]));
    await this.#store.noteStrays(keys, this.#clock.now());
  }

  /** Enqueues repacking of the log without waiting for more writes. */
  tidySoon(id: string): void {
    this.#upkeep.add(id);
  }

  gitDirOf(id: string): string {
    return this.#cache.gitDirOf(id);
  }

  /** Calls `leave` when the project is deleted or the repositories close. Returns a function that cancels this. */
  addGuest(id: string, leave: () => void): () => void {
    const transfers = this.#openTransfers.get(id) ?? new Set();
    this.#openTransfers.set(id, transfers.add(leave));
    return () => {
      transfers.delete(leave);
      if (transfers.size === 0 && this.#openTransfers.get(id) === transfers) this.#openTransfers.delete(id);
    };
  }

  /** Deletes a project with its files and commits. False when it was already deleted. */
  async delete(id: string): Promise<boolean> {
    if (!(await this.#store.deleteProject(id, this.#clock.now()))) return false;
    this.#upkeep.forget(id);
    this.#abortTransfers(id);
    this.#pool.retire(id, true);
    this.#follower.forget(id);
    await this.#cache.remove(id);
    return true;
  }

  async close(): Promise<void> {
    for (const id of this.#openTransfers.keys()) this.#abortTransfers(id);
    await this.#upkeep.close();
    await this.#pool.close();
    await this.#follower.settle();
  }

  #abortTransfers(id: string): void {
    for (const leave of this.#openTransfers.get(id) ?? []) leave();
  }

  async #getState(id: string): Promise<SavedState> {
    const state = await this.#store.findState(id);
    if (state === undefined) throw ApiError.of('project_not_found', { project_id: id });
    return state;
  }

  #attempt<Result>(id: string, work: Write<Result>, { objects, packs = [], firstVersion, note }: Brought) {
    return this.read(id, async (repository, state): Promise<Result> => {
      const added = new NewObjects(objects);
      const change = new Change(state, (name) => this.#store.findRef(id, name));
      const result = await work(new Draft(repository, added), change);
      if (change.isEmpty) return result;
      for (const part of ['files', 'compiled'] as const)
        await dropKnown(repository, added, { before: state[part], after: change.saved[part] });
      const own = await packOfObjects(this.#large, id, added);
      const all = own === undefined ? packs : [...packs, own];
      const { saved, refs } = change;
      const now = this.#clock.now();
      const noteAll = async (transaction: Transaction): Promise<void> => {
        await this.#onSaved?.(transaction, { projectId: id, before: state, saved, now });
        await note?.(transaction);
      };
      const logged = { before: state.version, saved, now, refs, packs: all, firstVersion, note: noteAll };
      const version = await this.#store.append(id, logged);
      if (version === undefined) {
        await this.dropPacks(own === undefined ? [] : [own]);
        throw new SavedStateMoved(`project ${id} is not at version ${state.version} any more`);
      }
      repository.remember(added.trees);
      await this.#follower.takeIn(id, version, all);
      if (version % maxPacks === 0) this.#upkeep.add(id);
      if (all.some(({ large_key: key }) => key !== null))
        this.#tidyWhenLarge(id, await this.#store.listPacks(id));
      return result;
    });
  }

  async #mend(id: string): Promise<void> {
    await this.#follower.complete(id, true);
    // Retires the open process, because it knows the old files.
    this.#pool.retire(id);
  }

  #tidyWhenLarge(id: string, packs: readonly ListedPack[]): void {
    const [first, ...later] = packs;
    const bytes = bytesOf(later);
    const isLarge = bytes > maxLaterBytes && bytes > (first?.size_bytes ?? 0);
    if (packs.length >= maxPacks || isLarge) this.#upkeep.add(id);
  }

  /** Replaces all packs by one without unreferenced objects. Readers in progress continue with the old packs. */
  async #packAnew(id: string, signal: AbortSignal): Promise<void> {
    const found = await this.#store.findTips(id);
    if (found === undefined) return;
    const { version, tips } = found;
    await this.#follower.follow(id, version);
    const packs = (await this.#store.listPacks(id)).filter((pack) => pack.version <= version);
    if (packs.length < 2) return;
    const names = new Set([...tips, ...(await this.#listRunTrees(id))]);
    const packing = { gitDir: this.gitDirOf(id), names, isDeep: true, signal };
    const pack =
      names.size === 0
        ? undefined
        : await packObjects(this.git, packing, (file) => packOfFile(this.#large, id, file));
    if (pack !== undefined) await this.#cache.install(id, pack);
    if (await this.#store.replacePacks(id, { version, pack, now: this.#clock.now() })) {
      await this.#cache.retire(id, packs);
      // Retires the open process, because it knows the old packs.
      this.#pool.retire(id);
      await this.#follower.complete(id);
    } else if (pack !== undefined) await this.dropPacks([pack]);
  }

  /** Lists the run trees that the repository still has. Trees from before the service kept them are missing. */
  async #listRunTrees(id: string): Promise<string[]> {
    const trees = await this.#store.listRunTrees(id);
    return this.#pool.use(id, async (repository) => {
      const kept: string[] = [];
      for (const tree of trees) if ((await repository.findInfo(tree)) !== undefined) kept.push(tree);
      return kept;
    });
  }

  /** Returns the error. Throws `PartFailed` instead when git itself does not work. */
  async #blameGit(error: unknown): Promise<unknown> {
    const isOfGit = error instanceof GitFailure || error instanceof BatchProcessEnded;
    if (isOfGit && findFault(error) === undefined) await probeGit(this.git);
    return error;
  }
}

const bytesOf = (packs: readonly ListedPack[]): number =>
  packs.reduce((sum, { size_bytes: bytes }) => sum + bytes, 0);

/** Whether an error may come from a repository that is incomplete, or is being deleted. */
const mayBeOfCache = (error: unknown): boolean =>
  findFault(error) === undefined &&
  (error instanceof GitFailure ||
    error instanceof BatchProcessEnded ||
    error instanceof ObjectMissing ||
    errorCodeOf(error) === 'ENOENT');

const maxAttempts = 50;
/** Constant backoff with full jitter, so that no writer starves. */
const backoff = { firstMs: 10, factor: 1, jitter: 1 };

/** Retries while another writer was faster, each time with the newest state. */
async function untilItFits<Result>(work: () => Promise<Result>, attempt = 1): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SavedStateMoved) || attempt === maxAttempts) throw error;
    await pause(backoffMs(backoff, attempt));
    return untilItFits(work, attempt + 1);
  }
}

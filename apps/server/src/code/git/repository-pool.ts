import { minuteMs } from '@phalanx/timing/durations';
import type { GitProgram } from './git-process.ts';
import { GitRepository } from './git-repository.ts';

interface OpenRepository {
  readonly repository: GitRepository;
  users: number;
  lastUsedAt: number;
  isRetired: boolean;
}

interface PoolOptions {
  git: GitProgram;
  gitDirOf: (id: string) => string;
  maxOpen?: number;
}

/** Maximum number of open repositories. Each has one process. */
const defaultMaxOpen = 96;
/** Age at which an open process is replaced, because its knowledge of packs becomes stale. */
const maxAgeMs = 30 * minuteMs;
/** Idle time after which a process is closed, because it costs more memory than it saves time. */
const maxIdleMs = 5 * minuteMs;
const idleCheckMs = minuteMs;

/** Keeps repositories open for the next request. Evicts the least recently used one to make room. */
export class RepositoryPool {
  readonly #options: PoolOptions;
  readonly #maxOpen: number;
  readonly #open = new Map<string, OpenRepository>();
  readonly #closing = new Set<Promise<void>>();
  readonly #waiters: (() => void)[] = [];
  readonly #idleTimer = setInterval(() => this.#retireUnused(), idleCheckMs).unref();

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#maxOpen = options.maxOpen ?? defaultMaxOpen;
  }

  async use<Result>(id: string, work: (repository: GitRepository) => Promise<Result>): Promise<Result> {
    const entry = await this.#enter(id);
    try {
      return await work(entry.repository);
    } finally {
      this.#leave(id, entry);
    }
  }

  /** Makes the next request start a new process. `kill`: also kills a busy process. */
  retire(id: string, kill = false): void {
    const entry = this.#open.get(id);
    if (entry === undefined) return;
    entry.isRetired = true;
    this.#open.delete(id);
    if (kill) entry.repository.kill();
    if (entry.users === 0) this.#close(entry);
    this.#wake();
  }

  async close(): Promise<void> {
    clearInterval(this.#idleTimer);
    for (const id of this.#open.keys()) this.retire(id);
    await Promise.all(this.#closing);
  }

  async #enter(id: string): Promise<OpenRepository> {
    for (;;) {
      const known = this.#open.get(id);
      if (known !== undefined && !isOutdated(known)) {
        known.users += 1;
        this.#open.delete(id);
        this.#open.set(id, known);
        return known;
      }
      if (known !== undefined) this.retire(id);
      if (this.#open.size >= this.#maxOpen) this.#retireIdle();
      if (this.#open.size < this.#maxOpen) return this.#add(id);
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  #add(id: string): OpenRepository {
    const repository = new GitRepository(this.#options.git, this.#options.gitDirOf(id));
    const entry = { repository, users: 1, lastUsedAt: performance.now(), isRetired: false };
    this.#open.set(id, entry);
    return entry;
  }

  #leave(id: string, entry: OpenRepository): void {
    entry.users -= 1;
    entry.lastUsedAt = performance.now();
    if (entry.users > 0) return;
    if (entry.isRetired) this.#close(entry);
    else if (this.#waiters.length > 0) this.retire(id);
  }

  #retireUnused(): void {
    const limit = performance.now() - maxIdleMs;
    for (const [id, entry] of this.#open) if (entry.users === 0 && entry.lastUsedAt < limit) this.retire(id);
  }

  #retireIdle(): void {
    for (const [id, entry] of this.#open) {
      if (entry.users > 0) continue;
      this.retire(id);
      return;
    }
  }

  #close(entry: OpenRepository): void {
    const closing = entry.repository.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  #wake(): void {
    this.#waiters.shift()?.();
  }
}

function isOutdated({ users, repository }: OpenRepository): boolean {
  return users === 0 && performance.now() - repository.openedAt > maxAgeMs;
}

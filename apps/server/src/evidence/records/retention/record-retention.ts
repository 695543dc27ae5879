import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../kernel/clock.ts';
import type { StoredRecord } from '../stored-record.ts';
import type { RetentionLimits, RetentionStore } from './retention-store.ts';

interface Options {
  store: RetentionStore;
  clock: Clock;
  limits: RetentionLimits;
  /** Told how many records were deleted; their captures are still there. */
  onDeleted: (count: number) => void;
}

const recordsPerStep = 100;

/** Deletes records whose time has come, beyond what each new one pushes out at once. */
export class RecordRetention {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Applies the limits to saved records that have lost their protection, and deletes records of deleted projects. */
  async sweep(): Promise<void> {
    await this.#deleteLost();
    for (let after: string | undefined = ''; after !== undefined;) {
      after = await this.#step(after);
      // The database answers without a turn of the event loop.
      await nextTurn();
    }
  }

  /** Deletes all records of a project. Call it after the project is gone. */
  deleteProject(projectId: string): Promise<void> {
    return this.#deleteAll('project_id', projectId);
  }

  /** Deletes what a user who goes has left: records of direct code. */
  deleteOwner(userId: string): Promise<void> {
    return this.#deleteAll('owner_id', userId);
  }

  async #deleteAll(of: 'project_id' | 'owner_id', id: string): Promise<void> {
    for (;;) {
      const count = await this.#options.store.deleteSome(of, id, recordsPerStep);
      if (count === undefined) return;
      this.#options.onDeleted(count);
      await nextTurn();
    }
  }

  /** Deletes records of no project. A crash leaves them, or a record that came while its project was deleted. */
  async #deleteLost(): Promise<void> {
    const projectId = await this.#options.store.findLostProject();
    if (projectId === undefined) return;
    await this.deleteProject(projectId);
    await this.#deleteLost();
  }

  /** Trims the groups of some saved records. Returns the last one's ID, undefined after the last. */
  async #step(after: string): Promise<string | undefined> {
    const { store, clock, limits } = this.#options;
    const saved = await store.listSaved(after, recordsPerStep);
    const groups = new Map(saved.map((record) => [groupKey(record), record]));
    for (const group of groups.values()) {
      const deleted = await store.trim(group, { limits, nowMs: clock.now() });
      if (deleted > 0) this.#options.onDeleted(deleted);
    }
    return saved.length < recordsPerStep ? undefined : saved.at(-1)?.id;
  }
}

const groupKey = (record: StoredRecord): string =>
  `${record.owner_id}/${record.automation_id}/${record.retention_group}`;

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../kernel/clock.ts';
import type { StoredRecord } from '../stored-record.ts';
import type { RetentionLimits, RetentionStore } from './retention-store.ts';

interface Options {
  store: RetentionStore;
  clock: Clock;
  limits: RetentionLimits;
  /** Called with the number of deleted records, whose captures still exist. */
  onDeleted: (count: number) => void;
}

const recordsPerStep = 100;

/** Deletes expired records, in addition to those that each new record displaces at once. */
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
      // A database call may complete without yielding to the event loop.
      await nextTurn();
    }
  }

  /** Deletes all records of a project. Call it after the project is deleted. */
  deleteProject(projectId: string): Promise<void> {
    return this.#deleteAll('project_id', projectId);
  }

  /** Deletes the records of direct code that a deleted user leaves behind. */
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

  /**
   * Deletes records of deleted projects. Such records remain after a crash, or arrive while their project is being
   * deleted.
   */
  async #deleteLost(): Promise<void> {
    const projectId = await this.#options.store.findLostProject();
    if (projectId === undefined) return;
    await this.deleteProject(projectId);
    await this.#deleteLost();
  }

  /**
   * Trims the groups of a batch of saved records. Returns the ID of the last record, or undefined after the last batch.
   */
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

import type { TaskStore } from './task-store.ts';

/** Time after a task becomes due again during which the phone on which it failed leaves it to others. */
export const othersFirstMs = 1500;
const readAtOnce = 100;
/**
 * Number of due tasks from which one is chosen at random: servers that read the same rows seldom choose the same one.
 */
const choice = 16;

type Task = Awaited<ReturnType<TaskStore['listDue']>>[number];

interface TaskBatch {
  rows: Task[];
  /** IDs of tasks that are being started. */
  readonly taken: Set<string>;
}

/** Hands out due tasks. It reads them in batches and hands out each task once. */
export class DueTasks {
  readonly #store: Pick<TaskStore, 'listDue'>;
  readonly #ofJob = new Map<string, TaskBatch>();

  constructor(store: Pick<TaskStore, 'listDue'>) {
    this.#store = store;
  }

  /**
   * Takes a due task. Returns undefined when no task is due that is not already taken. Returns `others first` when the
   * due tasks failed on this phone and are left to others for a moment.
   */
  async take(jobId: string, now: number, deviceId: string): Promise<Task | 'others first' | undefined> {
    const batch = this.#ofJob.get(jobId) ?? { rows: [], taken: new Set<string>() };
    this.#ofJob.set(jobId, batch);
    if (batch.rows.length === 0) {
      const rows = await this.#store.listDue(jobId, now, readAtOnce + batch.taken.size);
      batch.rows = rows.filter(({ id }) => !batch.taken.has(id));
    }
    const first = batch.rows.slice(0, choice);
    const candidates = first.filter(
      (task) => task.device_id !== deviceId || task.due_at + othersFirstMs <= now,
    );
    const task = candidates[Math.floor(Math.random() * candidates.length)];
    if (task === undefined) {
      const isLeft = first.length > 0;
      if (batch.taken.size === 0) this.#ofJob.delete(jobId);
      return isLeft ? 'others first' : undefined;
    }
    batch.rows = batch.rows.filter(({ id }) => id !== task.id);
    batch.taken.add(task.id);
    return task;
  }

  /** Releases a task, whether or not it has started. `isStale`: the rows have changed since they were read. */
  release(jobId: string, taskId: string, isStale: boolean): void {
    const batch = this.#ofJob.get(jobId);
    if (batch === undefined) return;
    batch.taken.delete(taskId);
    if (isStale) batch.rows = [];
    if (batch.taken.size === 0 && batch.rows.length === 0) this.#ofJob.delete(jobId);
  }
}

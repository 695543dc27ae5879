import type { TaskStore } from './task-store.ts';

type Task = Awaited<ReturnType<TaskStore['listDue']>>[number];

interface Shelf {
  rows: Task[];
  /** Under way at this moment. */
  readonly taken: Set<string>;
}

/** So long after a task is due again, the phone on which it has failed leaves it to others. */
export const othersFirstMs = 1500;
const readAtOnce = 100;
/** Servers that read the same rows seldom choose the same one. */
const choice = 16;

/** Tasks that are due, read some at a time, each given out once. */
export class TaskShelf {
  readonly #store: Pick<TaskStore, 'listDue'>;
  readonly #ofJob = new Map<string, Shelf>();

  constructor(store: Pick<TaskStore, 'listDue'>) {
    this.#store = store;
  }

  /** Undefined: none is due that is not under way. One that failed on this phone is left to others for a moment. */
  async take(jobId: string, now: number, deviceId: string): Promise<Task | 'others first' | undefined> {
    const shelf = this.#ofJob.get(jobId) ?? { rows: [], taken: new Set<string>() };
    this.#ofJob.set(jobId, shelf);
    if (shelf.rows.length === 0) {
      const rows = await this.#store.listDue(jobId, now, readAtOnce + shelf.taken.size);
      shelf.rows = rows.filter(({ id }) => !shelf.taken.has(id));
    }
    const first = shelf.rows.slice(0, choice);
    const candidates = first.filter(
      (task) => task.device_id !== deviceId || task.due_at + othersFirstMs <= now,
    );
    const task = candidates[Math.floor(Math.random() * candidates.length)];
    if (task === undefined) {
      const isLeft = first.length > 0;
      if (shelf.taken.size === 0) this.#ofJob.delete(jobId);
      return isLeft ? 'others first' : undefined;
    }
    shelf.rows = shelf.rows.filter(({ id }) => id !== task.id);
    shelf.taken.add(task.id);
    return task;
  }

  /** It has begun, or has not; `isStale`: the rows have changed since they were read. */
  release(jobId: string, taskId: string, isStale: boolean): void {
    const shelf = this.#ofJob.get(jobId);
    if (shelf === undefined) return;
    shelf.taken.delete(taskId);
    if (isStale) shelf.rows = [];
    if (shelf.taken.size === 0 && shelf.rows.length === 0) this.#ofJob.delete(jobId);
  }
}

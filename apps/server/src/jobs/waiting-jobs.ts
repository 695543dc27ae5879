import type { StoredJob } from './store.ts';

/** A job of which tasks wait, as the choice of the next one needs it. */
export interface WaitingJob {
  readonly row: StoredJob;
  /** The only phones; undefined: those of the selector. */
  readonly deviceIds: ReadonlySet<string> | undefined;
  /** How many tasks wait, as far as it is known: what other phones take at this moment may be counted, or counted twice. */
  left: number;
  /** Phones that leave its tasks to others for a moment. */
  readonly leftToOthers: Set<string>;
  /** Nothing of it can begin at this moment; see `WaitingJobs.rouse`. */
  isAsleep: boolean;
}

interface UsersJobs {
  /** In the order in which they begin. */
  jobs: WaitingJob[];
  /** The turn in which a task of the user last began. */
  servedAt: number;
}

const order = (one: StoredJob, other: StoredJob): number =>
  other.priority - one.priority || (one.id < other.id ? -1 : 1);

/** The jobs of which tasks wait, cached from the rows, and whose turn it is. */
export class WaitingJobs {
  readonly #byId = new Map<string, WaitingJob>();
  readonly #byUser = new Map<string, UsersJobs>();
  #turn = 0;

  get size(): number {
    return this.#byId.size;
  }

  /** Of these jobs tasks wait, as the rows say now. */
  add(rows: readonly StoredJob[]): void {
    for (const [userId, ofUser] of Map.groupBy(rows, ({ user_id }) => user_id)) {
      const users = this.#byUser.get(userId) ?? { jobs: [], servedAt: 0 };
      this.#byUser.set(userId, users);
      for (const row of ofUser) this.#addOne(users, row);
      if (users.jobs.some(({ row }, at) => at > 0 && order(users.jobs[at - 1]?.row ?? row, row) > 0))
        users.jobs.sort((one, other) => order(one.row, other.row));
    }
  }

  #addOne({ jobs }: UsersJobs, row: StoredJob): void {
    const known = this.#byId.get(row.id);
    if (known !== undefined) {
      known.left = row.waiting;
      known.isAsleep = false;
      return;
    }
    const job = waitingJobOf(row);
    this.#byId.set(row.id, job);
    jobs.push(job);
  }

  /** Nothing of it waits any more. */
  remove(id: string): void {
    const job = this.#byId.get(id);
    if (job === undefined) return;
    this.#byId.delete(id);
    const users = this.#byUser.get(job.row.user_id);
    if (users === undefined) return;
    users.jobs.splice(users.jobs.indexOf(job), 1);
  }

  /** Something has changed that kept tasks of these users waiting; of all without a list. */
  rouse(userIds?: Iterable<string>): void {
    for (const userId of userIds ?? this.#byUser.keys())
      for (const job of this.#byUser.get(userId)?.jobs ?? []) job.isAsleep = false;
  }

  /** It is the turn of the job's user. */
  noteTurn({ row }: WaitingJob): void {
    const users = this.#byUser.get(row.user_id);
    this.#turn += 1;
    if (users !== undefined) users.servedAt = this.#turn;
  }

  /**
   * The first job that fits. The user with the fewest runs is asked first, and of those with the same number, the one
   * who has waited longest for a turn; a user's own jobs are in the order of priority and age.
   */
  choose(countRuns: (userId: string) => number, fits: (job: WaitingJob) => boolean): WaitingJob | undefined {
    const users = [...this.#byUser]
      .filter(([, { jobs }]) => jobs.length > 0)
      .map(([userId, { jobs, servedAt }]) => ({ jobs, servedAt, runs: countRuns(userId) }))
      .toSorted((one, other) => one.runs - other.runs || one.servedAt - other.servedAt);
    for (const { jobs } of users) {
      const job = jobs.find((one) => !one.isAsleep && fits(one));
      if (job !== undefined) return job;
    }
    return undefined;
  }
}

function waitingJobOf(row: StoredJob): WaitingJob {
  const { device_ids: ids } = row;
  // Only `createJob` writes the column.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const deviceIds = ids === null ? undefined : new Set(JSON.parse(ids) as string[]);
  return { row, deviceIds, left: row.waiting, leftToOthers: new Set(), isAsleep: false };
}

import { limitsTextOf } from '../../http/requests/kept-token.ts';
import type { TimeSlice } from '../../kernel/limits/time-slice.ts';
import type { StoredJob } from './store.ts';
import { limitedSelector } from './work-access.ts';

/** Job with waiting tasks, in the form that the choice of the next job needs. */
export interface WaitingJob {
  readonly row: StoredJob;
  /** IDs of the only phones for the job; undefined when its selector decides. */
  readonly deviceIds: ReadonlySet<string> | undefined;
  /** Terms of the job and of the token that made it; null when neither has a selector. */
  readonly selector: string | null;
  /** Estimated number of waiting tasks. Tasks that other phones are taking may still be counted, or counted twice. */
  left: number;
  /** Phones that leave its tasks to others for a moment. */
  readonly leftToOthers: Set<string>;
  /** Whether none of its tasks can start now; see `WaitingJobs.retryWaiting`. */
  isBlocked: boolean;
}

/** Rules that decide which jobs a phone takes. */
interface PhoneRules {
  /** Whether the phone fits the job. Called once for all jobs of a kind. */
  readonly fits: (job: WaitingJob) => boolean;
  /**
   * Whether the phone's host gets no secrets of the job's project. Called for each job, because jobs of one kind belong
   * to several projects.
   */
  readonly isWithheld: (job: WaitingJob) => boolean;
}

interface UsersJobs {
  /**
   * Jobs by kind, in the order in which they start. Any phone fits all jobs of a kind or none, so it is checked once
   * for all of them.
   */
  readonly kinds: Map<string, WaitingJob[]>;
  /** Turn in which a task of the user last started. */
  servedAt: number;
}

interface ChoiceOptions extends PhoneRules {
  readonly countRuns: (userId: string) => number;
  readonly slice: TimeSlice;
}

const order = (one: StoredJob, other: StoredJob): number =>
  other.priority - one.priority || (one.id < other.id ? -1 : 1);

const kindOf = ({ selector, token_phones, device_ids, is_exclusive, project_id }: StoredJob): string =>
  JSON.stringify([selector, token_phones, device_ids, is_exclusive === 1 ? null : project_id]);

/** Whether both rows run as the same user, within the same limits. */
const isSameMaker = (one: StoredJob, other: StoredJob): boolean =>
  one.user_id === other.user_id && limitsTextOf(one) === limitsTextOf(other);

/** Cache of the rows of jobs with waiting tasks, and of whose turn it is. */
export class WaitingJobs {
  readonly #byId = new Map<string, WaitingJob>();
  readonly #byUser = new Map<string, UsersJobs>();
  #turn = 0;

  get size(): number {
    return this.#byId.size;
  }

  /** Adds or updates jobs with waiting tasks from their current rows. */
  add(rows: readonly StoredJob[]): void {
    for (const [userId, ofUser] of Map.groupBy(rows, ({ user_id }) => user_id)) {
      const users: UsersJobs = this.#byUser.get(userId) ?? { kinds: new Map(), servedAt: 0 };
      this.#byUser.set(userId, users);
      const toSort = new Set(ofUser.flatMap((row) => this.#addOne(users, row) ?? []));
      for (const kind of toSort) users.kinds.get(kind)?.sort((one, other) => order(one.row, other.row));
    }
  }

  /** Adds a job. Returns its kind when the jobs of that kind must be sorted. */
  #addOne({ kinds }: UsersJobs, row: StoredJob): string | undefined {
    const known = this.#byId.get(row.id);
    if (known !== undefined && !isSameMaker(known.row, row)) {
      this.remove(row.id);
    } else if (known !== undefined) {
      known.left = row.waiting;
      known.isBlocked = false;
      return undefined;
    }
    const kind = kindOf(row);
    const jobs = kinds.get(kind) ?? [];
    kinds.set(kind, jobs);
    const last = jobs.at(-1);
    const job = waitingJobOf(row);
    this.#byId.set(row.id, job);
    jobs.push(job);
    return last !== undefined && order(last.row, row) > 0 ? kind : undefined;
  }

  /** Removes a job without waiting tasks. */
  remove(id: string): void {
    const job = this.#byId.get(id);
    if (job === undefined) return;
    this.#byId.delete(id);
    const kinds = this.#byUser.get(job.row.user_id)?.kinds;
    const kind = kindOf(job.row);
    const jobs = kinds?.get(kind) ?? [];
    jobs.splice(jobs.indexOf(job), 1);
    if (jobs.length === 0) kinds?.delete(kind);
  }

  /** Unblocks the jobs of these users, or of all, because a reason for their waiting has changed. */
  retryWaiting(userIds?: Iterable<string>): void {
    for (const userId of userIds ?? this.#byUser.keys())
      for (const jobs of this.#byUser.get(userId)?.kinds.values() ?? [])
        for (const job of jobs) job.isBlocked = false;
  }

  /** Records the turn of the job's user. */
  noteTurn({ row }: WaitingJob): void {
    const users = this.#byUser.get(row.user_id);
    this.#turn += 1;
    if (users !== undefined) users.servedAt = this.#turn;
  }

  /**
   * Chooses the first job for a phone. Calls `fits` once for all jobs of a kind, and yields after each time slice: a
   * job may end in the meantime. The user with the fewest runs comes first, and of users with the same number, the one
   * who has waited longest for a turn. A user's own jobs are ordered by priority and age.
   */
  async choose(
    deviceId: string,
    { countRuns, slice, ...rules }: ChoiceOptions,
  ): Promise<WaitingJob | undefined> {
    const users = [...this.#byUser]
      .filter(([, { kinds }]) => kinds.size > 0)
      .map(([userId, { kinds, servedAt }]) => ({ kinds, servedAt, runs: countRuns(userId) }))
      .toSorted((one, other) => one.runs - other.runs || one.servedAt - other.servedAt);
    for (const { kinds } of users) {
      let first: WaitingJob | undefined;
      for (const jobs of kinds.values()) {
        if (slice.isOver) await slice.next();
        const job = firstOf(jobs, deviceId, rules);
        if (job !== undefined && (first === undefined || order(job.row, first.row) < 0)) first = job;
      }
      if (first !== undefined) return first;
    }
    return undefined;
  }
}

/** Returns the first startable job of one kind, provided that the phone fits it. */
function firstOf(
  jobs: readonly WaitingJob[],
  deviceId: string,
  { fits, isWithheld }: PhoneRules,
): WaitingJob | undefined {
  const first = jobs.find((job) => !job.isBlocked && !job.leftToOthers.has(deviceId) && !isWithheld(job));
  return first !== undefined && fits(first) ? first : undefined;
}

function waitingJobOf(row: StoredJob): WaitingJob {
  const { device_ids: ids } = row;
  // `createJob` alone writes this column.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const deviceIds = ids === null ? undefined : new Set(JSON.parse(ids) as string[]);
  const selector = limitedSelector(row);
  return { row, deviceIds, selector, left: row.waiting, leftToOthers: new Set(), isBlocked: false };
}

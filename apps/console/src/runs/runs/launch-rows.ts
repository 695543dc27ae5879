import type { Job, ListedRun, RunLauncher } from '@phalanx/protocol';

/** Row of the list of runs: a run, or a launch or job with several runs, which expands. */
export type RunRow =
  | {
      readonly kind: 'launch';
      readonly id: string;
      readonly runs: readonly ListedRun[];
      readonly isOpen: boolean;
      /** Whether the service may have further runs of this launch. */
      readonly hasMore: boolean;
    }
  | { readonly kind: 'run'; readonly id: string; readonly run: ListedRun; readonly isPart: boolean };

/** Returns the ID that groups a run: its job's, or else its launch's. */
const originOf = ({ launch, launched_by: { job } }: ListedRun): string => job?.job_id ?? launch;

/**
 * Groups runs into rows. `runs` are sorted by ID, which keeps the runs of a launch together. `hasMore` says whether
 * older runs exist.
 */
export function launchRows(runs: readonly ListedRun[], open: ReadonlySet<string>, hasMore = false): RunRow[] {
  const lastRun = runs.at(-1);
  const last = lastRun && originOf(lastRun);
  const launches = Map.groupBy(runs, originOf);
  return [...launches].flatMap(([launch, own]): RunRow[] => {
    if (own.length === 1) return own.map((run) => ({ kind: 'run', id: run.run_id, run, isPart: false }));
    const isOpen = open.has(launch);
    const parts = isOpen
      ? own.map((run): RunRow => ({ kind: 'run', id: run.run_id, run, isPart: true }))
      : [];
    // A job's runs start one by one, mixed with runs of others.
    const mayHaveMore = hasMore && (launch === last || own[0]?.launched_by.job !== null);
    return [{ kind: 'launch', id: launch, runs: own, isOpen, hasMore: mayHaveMore }, ...parts];
  });
}

/** Returns the most informative run of a launch: an active one, or else one that did not succeed. */
export const tellingRun = (runs: readonly ListedRun[]): ListedRun | undefined =>
  runs.find(({ outcome }) => outcome === null) ??
  runs.find(({ outcome }) => outcome !== 'succeeded') ??
  runs[0];

/**
 * Returns words such as `3 phones`, `7 runs` if phones repeat, or `100+ phones` if the launch may have further runs.
 */
export function phonesWords(runs: readonly ListedRun[], hasMore: boolean): string {
  const phones = new Set(runs.map((run) => run.device_id)).size;
  return `${runs.length}${hasMore ? '+' : ''} ${phones === runs.length ? 'phones' : 'runs'}`;
}

/** Counts outcomes, such as `2 succeeded, 1 failed`. */
export function outcomeWords(runs: readonly ListedRun[]): string {
  const counts = Map.groupBy(runs, ({ outcome }) => (outcome ?? 'running').replaceAll('_', ' '));
  return [...counts].map(([word, own]) => `${own.length} ${word}`).join(', ');
}

/** Describes the tasks of a job, such as `1,000 runs · 20 failed`. */
export function jobWords({ tasks }: Pick<Job, 'tasks'>): string {
  const { waiting, running, completed, failed, cancelled } = tasks;
  const runs = waiting + running + completed + failed + cancelled;
  const more = Object.entries({ failed, cancelled, running, waiting }).flatMap(([word, count]) =>
    count === 0 ? [] : [`${count.toLocaleString('en')} ${word}`],
  );
  return [`${runs.toLocaleString('en')} ${runs === 1 ? 'run' : 'runs'}`, ...more].join(' · ');
}

/** Describes the launcher, such as `ada`, `ada · nightly token`, `Job`, `Schedule "Nightly"`. */
export function launcherWords({ user_id: id, user_name: name, token_name: token, job }: RunLauncher): string {
  if (job !== null) {
    if (job.schedule_name !== null) return `Schedule “${job.schedule_name}”`;
    return job.schedule_id === null ? 'Job' : 'Deleted schedule';
  }
  return token === null ? (name ?? id) : `${name ?? id} · ${token}`;
}

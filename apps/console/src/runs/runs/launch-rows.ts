import type { Job, ListedRun, RunLauncher } from '@phalanx/protocol';

/** A row of the list of runs: a run, or a launch or a job of several, which opens into them. */
export type RunRow =
  | {
      readonly kind: 'launch';
      readonly id: string;
      readonly runs: readonly ListedRun[];
      readonly isOpen: boolean;
      /** Whether there may be further runs of it. */
      readonly hasMore: boolean;
    }
  | { readonly kind: 'run'; readonly id: string; readonly run: ListedRun; readonly isPart: boolean };

/** Gives what its row is about: its job, or else its launch. */
const originOf = ({ launch, launched_by: { job } }: ListedRun): string => job?.job_id ?? launch;

/** `runs` stand in the order of their IDs, in which those of one launch follow each other. `hasMore`: there are older ones. */
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
    // Jobs launch their runs one after the other, between those of others.
    const mayHaveMore = hasMore && (launch === last || own[0]?.launched_by.job !== null);
    return [{ kind: 'launch', id: launch, runs: own, isOpen, hasMore: mayHaveMore }, ...parts];
  });
}

/** The run that says most of a launch: one that goes on, or else one that did not succeed. */
export const tellingRun = (runs: readonly ListedRun[]): ListedRun | undefined =>
  runs.find(({ outcome }) => outcome === null) ??
  runs.find(({ outcome }) => outcome !== 'succeeded') ??
  runs[0];

/** Words such as `3 phones`, `7 runs` on them, or `100+ phones` of a launch that may have more than these runs. */
export function phonesWords(runs: readonly ListedRun[], hasMore: boolean): string {
  const phones = new Set(runs.map((run) => run.device_id)).size;
  return `${runs.length}${hasMore ? '+' : ''} ${phones === runs.length ? 'phones' : 'runs'}`;
}

/** Counts of outcomes, such as `2 succeeded, 1 failed`. */
export function outcomeWords(runs: readonly ListedRun[]): string {
  const counts = Map.groupBy(runs, ({ outcome }) => (outcome ?? 'running').replaceAll('_', ' '));
  return [...counts].map(([word, own]) => `${own.length} ${word}`).join(', ');
}

/** Words such as `1,000 runs · 20 failed` of the tasks of a job. */
export function jobWords({ tasks }: Pick<Job, 'tasks'>): string {
  const { waiting, running, completed, failed, cancelled } = tasks;
  const runs = waiting + running + completed + failed + cancelled;
  const more = Object.entries({ failed, cancelled, running, waiting }).flatMap(([word, count]) =>
    count === 0 ? [] : [`${count.toLocaleString('en')} ${word}`],
  );
  return [`${runs.toLocaleString('en')} ${runs === 1 ? 'run' : 'runs'}`, ...more].join(' · ');
}

/** Launcher in words, such as `ada`, `ada · nightly token`, `Job`, `Schedule "Nightly"`. */
export function launcherWords({ user_id: id, user_name: name, token_name: token, job }: RunLauncher): string {
  if (job !== null) {
    if (job.schedule_name !== null) return `Schedule “${job.schedule_name}”`;
    return job.schedule_id === null ? 'Job' : 'Deleted schedule';
  }
  return token === null ? (name ?? id) : `${name ?? id} · ${token}`;
}

import type { ListedRun, Run } from '@phalanx/protocol';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useState, type ReactNode } from 'react';

import { distinctNames, useDevicesById } from '../../fleet/devices/device.tsx';
import { jobQuery } from '../../work/jobs/job.tsx';
import { keep, keptValue } from '../../parts/kept.ts';
import { LongTable } from '../../parts/long-table.tsx';
import { Failure, Loading } from '../../parts/states.tsx';
import type { Column } from '../../parts/table.tsx';
import { Age, Elapsed, Moment } from '../../parts/time.tsx';
import { useProjectNames } from '../../code/projects/project.tsx';
import {
  jobWords,
  launchRows,
  outcomeWords,
  phonesWords,
  type RunRow,
  tellingRun,
  launcherWords,
} from './launch-rows.ts';
import { runsQuery, RunStatusMark, type RunsSearch, StageAndStateOfRun } from './run.tsx';
import styles from './run-list.module.css';

interface RunListProps {
  search: RunsSearch;
  /** Content shown when there are no runs. */
  empty: ReactNode;
}

export function RunList({ search, empty }: RunListProps) {
  const query = useInfiniteQuery(runsQuery(search));
  const runs = useMemo(() => query.data?.pages.flatMap((page) => page.runs) ?? [], [query.data]);
  const readOn = (): void => {
    if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage();
  };
  /** A page of search results may be empty although later pages are not. */
  const goesOn = query.hasNextPage && runs.length === 0 && !query.isFetchNextPageError;
  useEffect(() => {
    if (goesOn) readOn();
  });
  if (query.data === undefined)
    return query.error === null ? (
      <Loading rows={12} />
    ) : (
      <Failure error={query.error} onRetry={() => void query.refetch()} />
    );
  if (runs.length === 0 && !goesOn) return empty;
  if (runs.length === 0) return <Loading rows={12} />;
  return <RunTable runs={runs} hasMore={query.hasNextPage} onEnd={readOn} />;
}

interface RunTableProps {
  runs: readonly ListedRun[];
  /** Whether older runs exist. */
  hasMore: boolean;
  onEnd: () => void;
}

function RunTable({ runs, hasMore, onEnd }: RunTableProps) {
  const navigate = useNavigate();
  const [open, toggle] = useOpenLaunches();
  const shown = useMemo(() => launchRows(runs, open, hasMore), [runs, open, hasMore]);
  const names = useProjectNames();
  const devices = useDevicesById();
  const phones = useMemo(() => distinctNames(devices.values()), [devices]);
  const columns = useMemo(() => columnsOf(names, phones, toggle), [names, phones, toggle]);
  const openRow = useCallback(
    (row: RunRow) =>
      row.kind === 'launch'
        ? toggle(row.id)
        : void navigate({ to: '/runs/$runId', params: { runId: row.run.run_id } }),
    [navigate, toggle],
  );
  return (
    <LongTable
      label="Runs"
      columns={columns}
      rows={shown}
      keyOf={keyOf}
      onOpen={openRow}
      hasMore={hasMore}
      onEnd={onEnd}
    />
  );
}

const keyOf = (row: RunRow): string => `${row.kind} ${row.id}`;
const openLaunches = 'open launches';

/** Expanded launches. They stay expanded when the user comes back to the page. */
function useOpenLaunches(): [open: ReadonlySet<string>, toggle: (launch: string) => void] {
  const [open, setOpen] = useState<ReadonlySet<string>>(() => {
    const kept = keptValue(openLaunches);
    return new Set(kept instanceof Set ? kept : []);
  });
  const toggle = useCallback(
    (launch: string) =>
      setOpen((known) => {
        const next = new Set(known);
        if (!next.delete(launch)) next.add(launch);
        return next;
      }),
    [],
  );
  useEffect(() => {
    keep(openLaunches, open);
  }, [open]);
  return [open, toggle];
}

/** Returns the current name of the project, or the name of the file. */
const nameOf = (run: ListedRun, projects: ReadonlyMap<string, string>): string =>
  projects.get(run.automation_id) ?? run.name ?? (run.launch_id === null ? 'Project' : 'Direct code');

/** Returns the run that represents a row. A launch is represented by its most informative run. */
const runOf = (row: RunRow): ListedRun | undefined => (row.kind === 'run' ? row.run : tellingRun(row.runs));

const startOf = (run: ListedRun): number => run.started_at ?? run.created_at;

/** Returns the time from the first start of a launch to its last end. */
function timesOf(row: RunRow): { from: number | null; to: number | null } {
  if (row.kind === 'run') return { from: row.run.started_at, to: row.run.ended_at };
  const ends = row.runs.map((one) => one.ended_at);
  return {
    from: Math.min(...row.runs.map(startOf)),
    to: ends.some((end) => end === null) ? null : Math.max(...ends.map((end) => end ?? 0)),
  };
}

/** Describes the outcome of a row; empty while there is none. */
function outcomeOf(row: RunRow): string {
  const message = runOf(row)?.error?.message;
  if (row.kind === 'run') return message ?? '';
  return [outcomeWords(row.runs), ...(message === undefined ? [] : [message])].join(' · ');
}

function columnsOf(
  names: ReadonlyMap<string, string>,
  phones: ReadonlyMap<string, string>,
  toggle: (launch: string) => void,
): Column<RunRow>[] {
  const phoneOf = (run: ListedRun): string => phones.get(run.device_id) ?? run.device_id;
  const titleOf = (row: RunRow): string => {
    const run = runOf(row);
    if (run === undefined) return '';
    return row.kind === 'run' && row.isPart ? phoneOf(run) : nameOf(run, names);
  };
  return [
    {
      header: 'State',
      width: 'fit',
      minimum: 96,
      speaksForItself: true,
      content: (row) => {
        const run = runOf(row);
        return run === undefined ? null : <RunStatusMark run={run} />;
      },
    },
    {
      header: 'Automation',
      width: 'grow',
      minimum: 130,
      isMain: true,
      text: titleOf,
      content: (row) =>
        row.kind === 'launch' ? (
          <button
            type="button"
            className={styles['launch']}
            aria-expanded={row.isOpen}
            onClick={() => toggle(row.id)}
          >
            {row.isOpen ? '▾' : '▸'} {titleOf(row)}
          </button>
        ) : (
          <Link
            to="/runs/$runId"
            params={{ runId: row.run.run_id }}
            className={row.isPart ? styles['part'] : undefined}
          >
            {titleOf(row)}
          </Link>
        ),
    },
    {
      header: 'Phone',
      width: 'grow',
      minimum: 110,
      // A run inside of its launch is named by its phone.
      text: (row) =>
        row.kind === 'launch' ? phonesWords(row.runs, row.hasMore) : row.isPart ? '' : phoneOf(row.run),
    },
    {
      header: 'What happened',
      width: 'grow',
      minimum: 150,
      speaksForItself: true,
      text: outcomeOf,
      content: (row) =>
        row.kind === 'run' && row.run.outcome === 'out_of_steps' && row.run.error === null ? (
          <StageAndStateOfRun runId={row.run.run_id} />
        ) : (
          <Outcome row={row} />
        ),
    },
    { header: 'By', width: 'grow', minimum: 90, text: launcherOf, content: (row) => <Launcher row={row} /> },
    {
      header: 'Version',
      width: 'fit',
      minimum: 90,
      content: (row) => {
        const run = runOf(row);
        return run === undefined ? null : <RunVersion run={run} />;
      },
    },
    {
      header: 'Started',
      width: 'fit',
      minimum: 150,
      content: (row) => {
        const run = runOf(row);
        if (run === undefined) return null;
        const at = row.kind === 'run' ? startOf(run) : Math.min(...row.runs.map(startOf));
        return (
          <>
            <Moment at={at} /> · <Age since={at} /> ago
          </>
        );
      },
    },
    {
      header: 'Took',
      width: 'fit',
      minimum: 60,
      isNumber: true,
      content: (row) => {
        const { from, to } = timesOf(row);
        return from === null ? '–' : <Elapsed from={from} to={to} />;
      },
    },
  ];
}

/** Outcome of a row. For a job, it covers all tasks, including those whose runs are not loaded. */
function Outcome({ row }: { row: RunRow }) {
  const job = row.kind === 'launch' ? row.runs[0]?.launched_by.job : undefined;
  const { data } = useQuery({ ...jobQuery(job?.job_id ?? ''), enabled: job !== undefined && job !== null });
  return data === undefined ? outcomeOf(row) : jobWords(data);
}

function Launcher({ row }: { row: RunRow }) {
  const job = runOf(row)?.launched_by.job;
  if (job === undefined || job === null) return launcherOf(row);
  return (
    <Link to="/jobs/$jobId" params={{ jobId: job.job_id }}>
      {launcherOf(row)}
    </Link>
  );
}

function launcherOf(row: RunRow): string {
  const run = runOf(row);
  return run === undefined ? '' : launcherWords(run.launched_by);
}

/** Commit of the code that ran, and whether it had uncommitted changes; nothing for direct code. */
function RunVersion({ run: { launch_id, commit, dirty } }: { run: Run }) {
  if (launch_id !== null) return null;
  if (commit === null) return <>uncommitted</>;
  const short = commit.slice(0, 8);
  return dirty === true ? (
    <span title={`Commit ${short} with uncommitted changes`}>
      <code>{short}</code> + changes
    </span>
  ) : (
    <code title={`Commit ${commit}`}>{short}</code>
  );
}

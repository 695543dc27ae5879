import type { ListedRun, Run } from '@phalanx/protocol';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';

import { distinctName, useDevicesById } from '../devices/device.tsx';
import { rowHeight, openRow } from '../parts/row.ts';
import { classNames } from '../parts/class-names.ts';
import { useKeys } from '../parts/keys.tsx';
import { Failure, Loading } from '../parts/states.tsx';
import { Age, Elapsed, Moment } from '../parts/time.tsx';
import { useProjectNames } from '../projects/project.tsx';
import {
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
  /** Shown when there is none. */
  empty: ReactNode;
}

const columns = ['State', 'Automation', 'Phone', 'By', 'Version', 'Started', 'Took', 'What happened'];

export function RunList({ search, empty }: RunListProps) {
  const query = useInfiniteQuery(runsQuery(search));
  const runs = useMemo(() => query.data?.pages.flatMap((page) => page.runs) ?? [], [query.data]);
  const readOn = (): void => {
    if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage();
  };
  /** A page of a search may be empty before the last one. */
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
  /** Whether there are older ones. */
  hasMore: boolean;
  onEnd: () => void;
}

function RunTable({ runs, hasMore, onEnd }: RunTableProps) {
  const scroll = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (launch: string): void =>
    setOpen((known) => {
      const next = new Set(known);
      if (!next.delete(launch)) next.add(launch);
      return next;
    });
  const shown = useMemo(() => launchRows(runs, open, hasMore), [runs, open, hasMore]);
  const current = useListKeys(shown, toggle);
  const rows = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroll.current,
    estimateSize: rowHeight,
    overscan: 12,
  });
  const items = rows.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= shown.length - 1) onEnd();
  }, [last, shown.length, onEnd]);
  useEffect(() => {
    if (current >= 0) rows.scrollToIndex(current);
  }, [rows, current]);
  return (
    <div ref={scroll} className={styles['scroll']}>
      <div role="table" aria-label="Runs" aria-rowcount={-1}>
        <div role="row" className={classNames(styles['row'], styles['head'])}>
          {columns.map((column) => (
            <span key={column} role="columnheader">
              {column}
            </span>
          ))}
        </div>
        <div role="rowgroup" className={styles['virtual']} style={{ height: rows.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const row = shown[index];
            const place = { start, isCurrent: index === current };
            if (row === undefined) return null;
            return row.kind === 'run' ? (
              <Row key={row.id} run={row.run} isPart={row.isPart} {...place} />
            ) : (
              <LaunchRow key={row.id} row={row} onToggle={() => toggle(row.id)} {...place} />
            );
          })}
        </div>
      </div>
    </div>
  );
}

function useListKeys(rows: readonly RunRow[], toggle: (launch: string) => void): number {
  const navigate = useNavigate();
  const [current, setCurrent] = useState(-1);
  const at = Math.min(current, rows.length - 1);
  const row = rows[at];
  const openCurrent = (): void => {
    if (row?.kind === 'launch') toggle(row.id);
    else if (row !== undefined) void navigate({ to: '/runs/$runId', params: { runId: row.run.run_id } });
  };
  useKeys({
    j: () => setCurrent(Math.min(at + 1, rows.length - 1)),
    k: () => setCurrent(Math.max(at - 1, 0)),
    Enter: openCurrent,
  });
  return at;
}

/** Of the project as it is called now, or of the file. */
const nameOf = (run: ListedRun, projects: ReadonlyMap<string, string>): string =>
  projects.get(run.automation_id) ?? run.name ?? (run.launch_id === null ? 'Project' : 'Direct code');

/** Who launched it, and which code. */
function Origin({ run }: { run: ListedRun }) {
  const by = launcherWords(run.launched_by);
  return (
    <>
      <span role="cell" className={styles['quiet']} title={by}>
        {by}
      </span>
      <span role="cell" className={styles['quiet']}>
        <RunVersion run={run} />
      </span>
    </>
  );
}

interface RowPlace {
  start: number;
  isCurrent: boolean;
}

interface LaunchRowProps extends RowPlace {
  row: Extract<RunRow, { kind: 'launch' }>;
  onToggle: () => void;
}

/** The runs that one request started, as one row. */
function LaunchRow({ row: { runs, isOpen, hasMore }, onToggle, start, isCurrent }: LaunchRowProps) {
  const names = useProjectNames();
  const run = tellingRun(runs);
  if (run === undefined) return null;
  const phones = phonesWords(runs, hasMore);
  const startedAt = Math.min(...runs.map((one) => one.started_at ?? one.created_at));
  const ends = runs.map((one) => one.ended_at);
  const endedAt = ends.some((end) => end === null) ? null : Math.max(...ends.map((end) => end ?? 0));
  return (
    // The button is for the keyboard.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
    <div
      role="row"
      onClick={openRow(onToggle)}
      className={classNames(styles['row'], styles['placed'])}
      data-current={isCurrent}
      style={{ transform: `translateY(${start}px)` }}
    >
      <span role="cell">
        <RunStatusMark run={run} />
      </span>
      <span role="cell">
        <button type="button" className={styles['name']} aria-expanded={isOpen} onClick={onToggle}>
          {isOpen ? '▾' : '▸'} {nameOf(run, names)}
        </button>
        <span className={styles['where']}>
          {phones}: {outcomeWords(runs)}
        </span>
      </span>
      <span role="cell" className={styles['quiet']}>
        {phones}
      </span>
      <Origin run={run} />
      <span role="cell" className={styles['quiet']}>
        <Moment at={startedAt} /> · <Age since={startedAt} /> ago
      </span>
      <span role="cell" className={styles['quiet']}>
        <Elapsed from={startedAt} to={endedAt} />
      </span>
      <span role="cell" className={styles['quiet']} title={run.error?.message}>
        {outcomeWords(runs)}
        {run.error !== null && ` · ${run.error.message}`}
      </span>
    </div>
  );
}

interface RowProps extends RowPlace {
  run: ListedRun;
  /** Whether its launch stands above it. */
  isPart: boolean;
}

function Row({ run, isPart, start, isCurrent }: RowProps) {
  const devices = useDevicesById();
  const device = devices.get(run.device_id);
  const navigate = useNavigate();
  const names = useProjectNames();
  const phone = device === undefined ? run.device_id : distinctName(device, devices.values());
  return (
    // The name is the link for the keyboard.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
    <div
      role="row"
      onClick={openRow(() => void navigate({ to: '/runs/$runId', params: { runId: run.run_id } }))}
      className={classNames(styles['row'], styles['placed'])}
      data-current={isCurrent}
      style={{ transform: `translateY(${start}px)` }}
    >
      <span role="cell">
        <RunStatusMark run={run} />
      </span>
      <span role="cell">
        <Link
          to="/runs/$runId"
          params={{ runId: run.run_id }}
          className={classNames(styles['name'], isPart && styles['part'])}
        >
          {isPart ? phone : nameOf(run, names)}
        </Link>
        <span className={styles['where']}>{phone}</span>
      </span>
      <span role="cell" className={styles['quiet']}>
        {phone}
      </span>
      <Origin run={run} />
      <span role="cell" className={styles['quiet']}>
        <Moment at={run.started_at ?? run.created_at} /> · <Age since={run.started_at ?? run.created_at} />{' '}
        ago
      </span>
      <span role="cell" className={styles['quiet']}>
        {run.started_at === null ? '–' : <Elapsed from={run.started_at} to={run.ended_at} />}
      </span>
      <span role="cell" className={styles['quiet']} title={run.error?.message}>
        {run.outcome === 'out_of_steps' && run.error === null ? (
          <StageAndStateOfRun runId={run.run_id} />
        ) : (
          run.error?.message
        )}
      </span>
    </div>
  );
}

/** The commit of the code that ran, and whether it had uncommitted changes; nothing for direct code. */
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

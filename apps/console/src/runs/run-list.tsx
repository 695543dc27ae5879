import type { Run } from '@phalanx/protocol';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';

import { deviceName } from '../devices/device-name.ts';
import { useDevicesById } from '../devices/queries.ts';
import { rowHeight } from '../devices/row-height.ts';
import { classNames } from '../parts/class-names.ts';
import { useKeys } from '../parts/keys.ts';
import { Failure, Loading } from '../parts/states.tsx';
import { Elapsed, Moment } from '../parts/time.tsx';
import { useProjectNames } from '../projects/queries.ts';
import { runsQuery } from './queries.ts';
import styles from './run-list.module.css';
import { RunStatusMark } from './run-status.tsx';
import type { RunsSearch } from './runs-search.ts';

interface RunListProps {
  search: RunsSearch;
  /** Shown when there is none. */
  empty: ReactNode;
}

const columns = ['State', 'Automation', 'Phone', 'Started', 'Took', 'What happened'];

export function RunList({ search, empty }: RunListProps) {
  const query = useInfiniteQuery(runsQuery(search));
  const runs = useMemo(() => query.data?.pages.flatMap((page) => page.runs) ?? [], [query.data]);
  if (query.data === undefined)
    return query.error === null ? (
      <Loading rows={12} />
    ) : (
      <Failure error={query.error} onRetry={() => void query.refetch()} />
    );
  if (runs.length === 0) return empty;
  const readOn = (): void => {
    if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage();
  };
  return <RunTable runs={runs} onEnd={readOn} />;
}

function RunTable({ runs, onEnd }: { runs: readonly Run[]; onEnd: () => void }) {
  const scroll = useRef<HTMLDivElement>(null);
  const current = useListKeys(runs);
  const rows = useVirtualizer({
    count: runs.length,
    getScrollElement: () => scroll.current,
    estimateSize: rowHeight,
    overscan: 12,
  });
  const items = rows.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= runs.length - 1) onEnd();
  }, [last, runs.length, onEnd]);
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
            const run = runs[index];
            return (
              run !== undefined && (
                <Row key={run.run_id} run={run} start={start} isCurrent={index === current} />
              )
            );
          })}
        </div>
      </div>
    </div>
  );
}

function useListKeys(runs: readonly Run[]): number {
  const navigate = useNavigate();
  const [current, setCurrent] = useState(-1);
  const at = Math.min(current, runs.length - 1);
  const run = runs[at];
  useKeys({
    j: () => setCurrent(Math.min(at + 1, runs.length - 1)),
    k: () => setCurrent(Math.max(at - 1, 0)),
    Enter: () => run !== undefined && void navigate({ to: '/runs/$runId', params: { runId: run.run_id } }),
  });
  return at;
}

function Row({ run, start, isCurrent }: { run: Run; start: number; isCurrent: boolean }) {
  const device = useDevicesById().get(run.device_id);
  const names = useProjectNames();
  const phone = device === undefined ? run.device_id : deviceName(device);
  const isDirect = run.launch_id !== null;
  return (
    <div
      role="row"
      className={classNames(styles['row'], styles['placed'])}
      data-current={isCurrent}
      style={{ transform: `translateY(${start}px)` }}
    >
      <span role="cell">
        <RunStatusMark run={run} />
      </span>
      <span role="cell">
        <Link to="/runs/$runId" params={{ runId: run.run_id }} className={styles['name']}>
          {isDirect ? 'Direct code' : (names.get(run.automation_id) ?? 'Project')}
        </Link>
        <span className={styles['where']}>{phone}</span>
      </span>
      <span role="cell" className={styles['quiet']}>
        {phone}
      </span>
      <span role="cell" className={styles['quiet']}>
        <Moment at={run.started_at ?? run.created_at} />
      </span>
      <span role="cell" className={styles['quiet']}>
        {run.started_at === null ? '–' : <Elapsed from={run.started_at} to={run.ended_at} />}
      </span>
      <span role="cell" className={styles['quiet']} title={run.error?.message}>
        {run.error?.message ?? ''}
      </span>
    </div>
  );
}

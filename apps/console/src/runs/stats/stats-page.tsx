import type { Stat, StatsGrouping } from '@phalanx/protocol';
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';

import { call } from '../../api/call.ts';
import { poolsQuery } from '../../fleet/devices/device.tsx';
import { buttonClass } from '../../parts/button.tsx';
import { FilterSelect, Select } from '../../parts/field.tsx';
import { Page } from '../../parts/page.tsx';
import { Failure, Loading } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { exactDuration } from '../../parts/time.tsx';
import { ProjectSelect } from '../../code/projects/project.tsx';
import { failureWords } from '../runs/failure-words.ts';
import { runLooks, type RunsSearch } from '../runs/run.tsx';
import { groupings, periods, statsSearch, type StatsSearch } from './stats-search.ts';
import { DayChart } from './day-chart.tsx';
import styles from './stats.module.css';

/** Refetch interval in ms, because no events report statistics. */
const refreshMs = 60_000;
const route = getRouteApi('/stats');

const statsQuery = (search: StatsSearch, by: StatsGrouping) => {
  const query = questionOf(search, by);
  return queryOptions({
    queryKey: ['stats', query],
    refetchInterval: refreshMs,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => call('GET /api/v2/stats', { query }, { signal }),
  });
};

const questionOf = ({ days, automation, pool }: StatsSearch, by: StatsGrouping) => ({
  by,
  days: Number(days ?? '30'),
  ...(automation === undefined ? {} : { automation_id: automation }),
  ...(pool === undefined ? {} : { selector: `pool=${pool}` }),
});

/** Statistics of outcomes and of phone usage. */
export function StatsPage() {
  const search = route.useSearch();
  const by = search.by ?? 'automation';
  const days = useQuery(statsQuery(search, 'day'));
  const rows = useQuery(statsQuery(search, by));
  const failed = days.error === null ? rows : days;
  const question = new URLSearchParams(
    Object.entries(questionOf(search, by)).map(([name, value]) => [name, String(value)]),
  );
  return (
    <Page
      title="Statistics"
      parents={[{ label: 'Runs', link: { to: '/runs' } }]}
      bar={<Filters search={search} />}
      actions={
        <a className={buttonClass('quiet')} href={`/api/v2/stats/export?${question.toString()}`} download>
          Table as CSV
        </a>
      }
    >
      <div className={styles['page']}>
        {days.data === undefined || rows.data === undefined ? (
          <Pending error={failed.error} onRetry={() => void failed.refetch()} />
        ) : (
          <>
            <p>{summary(days.data.total)}</p>
            <DayChart days={days.data.stats} />
            {rows.data.stats.length > 0 && <StatTable by={by} search={search} stats={rows.data.stats} />}
            <p className={styles['quiet']}>
              A run counts when it has ended. Days begin at midnight UTC. Success excludes runs that a user
              stopped. Busy is the share of the time that phones spent in runs.
            </p>
          </>
        )}
      </div>
    </Page>
  );
}

const Pending = ({ error, onRetry }: { error: Error | null; onRetry: () => void }) =>
  error === null ? <Loading rows={6} /> : <Failure error={error} onRetry={onRetry} />;

function Filters({ search }: { search: StatsSearch }) {
  const navigate = route.useNavigate();
  const { data: pools = [] } = useQuery(poolsQuery);
  /** Changes the filters. An empty value removes a filter. */
  const set = (changes: Record<string, string>): void =>
    void navigate({ search: (known) => statsSearch({ ...known, ...changes }), replace: true });
  return (
    <>
      <Select
        label="Period"
        value={search.days ?? '30'}
        options={periods}
        onChange={(days) => set({ days })}
      />
      <Select
        label="Rows"
        value={search.by ?? 'automation'}
        options={groupings}
        onChange={(by) => set({ by })}
      />
      <ProjectSelect value={search.automation} onChange={(automation) => set({ automation })} />
      <FilterSelect
        label="Pool"
        value={search.pool}
        options={pools.map(({ name }) => ({ value: name, label: name }))}
        onChange={(pool) => set({ pool })}
      />
    </>
  );
}

function percent(share: number | null): string {
  if (share === null) return '–';
  return share > 0 && share < 0.005 ? '< 1 %' : `${Math.round(share * 100)} %`;
}

const duration = (ms: number | null): string => (ms === null ? '–' : exactDuration(ms));

function summary({ runs, success_share, average_run_ms, average_wait_ms, busy_share }: Stat): string {
  if (runs === 0) return 'No run ended in this period.';
  return [
    `${runs.toLocaleString('en')} runs, ${percent(success_share)} successful.`,
    `On average a run took ${duration(average_run_ms)} and waited ${duration(average_wait_ms)}.`,
    busy_share === null ? '' : `The phones were busy ${percent(busy_share)} of the time.`,
  ].join(' ');
}

const figureColumns: readonly Column<Stat>[] = [
  { header: 'Runs', width: 'fit', isNumber: true, text: ({ runs }) => runs.toLocaleString('en') },
  { header: 'Success', width: 'fit', isNumber: true, text: (stat) => percent(stat.success_share) },
  { header: 'Duration', width: 'fit', isNumber: true, text: (stat) => duration(stat.average_run_ms) },
  { header: 'Waiting', width: 'fit', isNumber: true, text: (stat) => duration(stat.average_wait_ms) },
  { header: 'Busy', width: 'fit', isNumber: true, text: (stat) => percent(stat.busy_share) },
];
const maxReasons = 3;

interface StatTableProps {
  by: StatsGrouping;
  stats: readonly Stat[];
  search: StatsSearch;
}

function StatTable({ by, stats, search }: StatTableProps) {
  const columns: Column<Stat>[] = [
    {
      header: groupings.find(({ value }) => value === by)?.label ?? by,
      width: 'grow',
      minimum: 140,
      isMain: true,
      text: ({ key, name }) => (by === 'reason' ? failureWords(key) : name),
    },
    ...figureColumns,
    {
      header: 'Failure reasons',
      width: 'grow',
      minimum: 200,
      content: (stat) => <Reasons stat={stat} search={{ ...runsOf(search), ...runsOfRow(by, stat) }} />,
    },
  ];
  return <Table label="Statistics by row" rows={stats} keyOf={({ key }) => key} columns={columns} />;
}

const runsOf = ({ automation }: StatsSearch): RunsSearch => (automation === undefined ? {} : { automation });

/** Returns the search for the runs of a row, as far as the list of runs supports its filters. */
function runsOfRow(by: StatsGrouping, { key }: Stat): RunsSearch {
  if (by === 'automation' && key !== 'direct') return { automation: key };
  return by === 'device' ? { device: key } : {};
}

/**
 * Returns the search for runs with an outcome: some reasons are states, the others are error codes, which the text
 * search finds.
 */
function runsWith(reason: string): RunsSearch {
  const status = Object.keys(runLooks).find((one): one is keyof typeof runLooks => one === reason);
  return status === undefined ? { q: reason } : { status };
}

const Reasons = ({ stat: { reasons }, search }: { stat: Stat; search: RunsSearch }) =>
  reasons.slice(0, maxReasons).map(({ reason, runs }) => (
    <span key={reason} className={styles['reason']}>
      {reason === 'out_of_steps' ? (
        failureWords(reason)
      ) : (
        <Link to="/runs" search={{ ...search, ...runsWith(reason) }}>
          {failureWords(reason)}
        </Link>
      )}{' '}
      {runs.toLocaleString('en')}
    </span>
  ));

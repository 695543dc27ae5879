import type { Stat, StatsGrouping } from '@phalanx/protocol';
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';

import { SettingsTable } from '../access/settings-table.tsx';
import { call } from '../api/call.ts';
import { poolsQuery } from '../devices/device.tsx';
import styles from '../jobs/jobs.module.css';
import { buttonClass } from '../parts/button.tsx';
import { FilterSelect, Select } from '../parts/field.tsx';
import { Page } from '../parts/page.tsx';
import { Failure, Loading } from '../parts/states.tsx';
import { exactDuration } from '../parts/time.tsx';
import { ProjectSelect } from '../projects/project.tsx';
import { groupings, periods, statsSearch, type StatsSearch } from './stats-search.ts';
import chartStyles from './day-chart.module.css';

/** The service has no events of them. */
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
  ...{ by, days: Number(days ?? '30') },
  ...(automation === undefined ? {} : { automation_id: automation }),
  ...(pool === undefined ? {} : { selector: `pool=${pool}` }),
});

/** How runs ended, and how busy the phones were. */
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
            {rows.data.stats.length > 0 && <StatTable by={by} stats={rows.data.stats} />}
            <p className={styles['quiet']}>
              A run counts when it has ended. Days begin at midnight UTC. Success leaves out runs that
              somebody stopped; busy is the part of the time that phones spent in runs.
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
  /** An empty value takes the filter away. */
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

const percent = (share: number | null): string => (share === null ? '–' : `${Math.round(share * 100)} %`);
const duration = (ms: number | null): string => (ms === null ? '–' : exactDuration(ms));

function summary({ runs, success_share, average_run_ms, average_wait_ms, busy_share }: Stat): string {
  if (runs === 0) return 'No run has ended in this time.';
  return [
    `${runs.toLocaleString('en')} runs, ${percent(success_share)} successful.`,
    `On average a run took ${duration(average_run_ms)} and waited ${duration(average_wait_ms)}.`,
    busy_share === null ? '' : `The phones were busy ${percent(busy_share)} of the time.`,
  ].join(' ');
}

const StatTable = ({ by, stats }: { by: StatsGrouping; stats: readonly Stat[] }) => (
  <SettingsTable
    label="Statistics by row"
    columns={[
      groupings.find(({ value }) => value === by)?.label ?? by,
      ...['Runs', 'Success', 'Duration', 'Waiting', 'Busy', 'Reasons of failure'],
    ]}
  >
    {stats.map((stat) => (
      <tr key={stat.key}>
        <td>{stat.name}</td>
        <td>{stat.runs.toLocaleString('en')}</td>
        <td>{percent(stat.success_share)}</td>
        <td>{duration(stat.average_run_ms)}</td>
        <td>{duration(stat.average_wait_ms)}</td>
        <td>{percent(stat.busy_share)}</td>
        <td className={styles['quiet']}>
          {stat.reasons
            .slice(0, 3)
            .map(({ reason, runs }) => `${reason} ${runs}`)
            .join(', ')}
        </td>
      </tr>
    ))}
  </SettingsTable>
);

const [width, base] = [720, 120];

const succeededOf = ({ outcomes }: Stat): number =>
  outcomes.find(({ outcome }) => outcome === 'succeeded')?.runs ?? 0;

/** Runs by day: those that succeeded are filled, the others above them hatched. The table by day says the same in numbers. */
function DayChart({ days }: { days: readonly Stat[] }) {
  const most = Math.max(1, ...days.map(({ runs }) => runs));
  const step = width / Math.max(1, days.length);
  const barWidth = Math.max(1, Math.min(28, step * 0.75));
  const scale = base / most;
  const succeeded = days.reduce((sum, day) => sum + succeededOf(day), 0);
  const runs = days.reduce((sum, day) => sum + day.runs, 0);
  return (
    <figure className={chartStyles['figure']}>
      <div className={chartStyles['ends']}>{most}</div>
      <svg
        viewBox={`0 0 ${width} ${base + 1}`}
        role="img"
        aria-label={`Runs by day: ${runs} runs, ${succeeded} of them succeeded; at most ${most} a day`}
      >
        <defs>
          <pattern
            id="not-succeeded"
            width="5"
            height="5"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <rect width="2" height="5" className={chartStyles['hatch']} />
          </pattern>
        </defs>
        <line x1="0" x2={width} y1={base + 0.5} y2={base + 0.5} className={chartStyles['axis']} />
        {days.map((day, index) => {
          const good = succeededOf(day) * scale;
          const bad = day.runs * scale - good;
          const x = index * step + (step - barWidth) / 2;
          return (
            <g key={day.key}>
              <title>{`${day.key}: ${day.runs} runs, ${succeededOf(day)} succeeded`}</title>
              <rect
                x={x}
                y={base - good}
                width={barWidth}
                height={good}
                className={chartStyles['succeeded']}
              />
              {bad > 0 && (
                <rect
                  x={x}
                  y={base - good - bad}
                  width={barWidth}
                  height={bad}
                  fill="url(#not-succeeded)"
                  className={chartStyles['failed']}
                />
              )}
            </g>
          );
        })}
      </svg>
      <div className={chartStyles['ends']}>
        <span>{days[0]?.key}</span>
        <span>{days.at(-1)?.key}</span>
      </div>
      <figcaption>
        <span className={chartStyles['key']} data-kind="succeeded" aria-hidden="true" /> succeeded
        <span className={chartStyles['key']} data-kind="failed" aria-hidden="true" /> all others
      </figcaption>
    </figure>
  );
}

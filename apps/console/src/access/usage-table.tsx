import { useQuery } from '@tanstack/react-query';

import { call } from '../api/call.ts';
import type { Reply } from '../api/contracts.ts';
import { InlineFailure, Loading } from '../parts/states.tsx';
import { SettingsTable } from './settings-table.tsx';
import styles from './settings.module.css';

type UsageRow = Reply<'GET /api/v2/me/usage'>['usage']['limits'][number];

const names: Partial<Record<UsageRow['limit'], string>> = {
  projects: 'Projects',
  project_bytes: 'Repositories',
  capture_bytes: 'Screens of records, files of runs',
  kept_log_bytes: 'Logs of runs',
  tokens: 'Tokens',
  devices: 'Phones',
  hosts: 'Hosts',
  runs: 'Runs at once',
};

function amount(value: number, unit: UsageRow['unit']): string {
  if (unit === 'count') return value.toLocaleString();
  const gigabytes = value / 2 ** 30;
  return gigabytes < 1 ? `${(value / 2 ** 20).toFixed(1)} MB` : `${gigabytes.toFixed(1)} GB`;
}

/** What is counted for the user, and how much of it there may be. */
export function UsageTable() {
  const { data, error, refetch } = useQuery({
    queryKey: ['usage'],
    queryFn: async ({ signal }) => (await call('GET /api/v2/me/usage', {}, { signal })).usage.limits,
  });
  const shown = data?.filter(({ limit, used }) => names[limit] !== undefined && used !== null);
  return (
    <section className={styles['section']}>
      <h2>What you use</h2>
      {error !== null && <InlineFailure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={4} />}
      {shown !== undefined && (
        <SettingsTable
          label="What you use"
          columns={['What', 'Used', 'Most', 'Refused since the start', 'The operator sets']}
        >
          {shown.map(({ limit, used, most, unit, refused, setting }) => (
            <tr key={limit}>
              <td>{names[limit]}</td>
              <td>{amount(used ?? 0, unit)}</td>
              <td className={styles['quiet']}>{amount(most, unit)}</td>
              <td className={styles['quiet']}>{refused.toLocaleString()}</td>
              <td>
                <code>{setting}</code>
              </td>
            </tr>
          ))}
        </SettingsTable>
      )}
    </section>
  );
}

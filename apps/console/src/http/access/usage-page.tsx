import { useQuery } from '@tanstack/react-query';

import { call, type Reply } from '../../api/call.ts';
import { InlineFailure, Loading } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { SettingsPage } from './settings-page.tsx';

type UsageRow = Reply<'GET /api/v2/me/usage'>['usage']['limits'][number];

const names: Partial<Record<UsageRow['limit'], string>> = {
  projects: 'Projects',
  project_bytes: 'Repositories',
  capture_bytes: 'Screens of records, files of runs',
  kept_log_bytes: 'Logs of runs',
  work_bytes: 'Inputs and results',
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

const columns: readonly Column<UsageRow>[] = [
  { header: 'What', width: 'grow', isMain: true, text: ({ limit }) => names[limit] ?? limit },
  { header: 'Usage', width: 'fit', isNumber: true, text: ({ used, unit }) => amount(used ?? 0, unit) },
  { header: 'Limit', width: 'fit', isNumber: true, text: ({ most, unit }) => amount(most, unit) },
  {
    header: 'Refused since start',
    width: 'fit',
    isNumber: true,
    text: ({ refused }) => refused.toLocaleString(),
  },
  { header: 'Setting', width: 'grow', content: ({ setting }) => <code>{setting}</code> },
];

/** Usage and limit of each quota of the user. */
export function UsagePage() {
  const { data, error, refetch } = useQuery({
    queryKey: ['usage'],
    queryFn: async ({ signal }) => (await call('GET /api/v2/me/usage', {}, { signal })).usage.limits,
  });
  const shown = data?.filter(({ limit, used }) => names[limit] !== undefined && used !== null);
  return (
    <SettingsPage part="Usage">
      <p>
        Your usage of each limit. The operator of the service sets the limits with the settings named here.
      </p>
      {error !== null && <InlineFailure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={4} />}
      {shown !== undefined && (
        <Table label="Usage" columns={columns} rows={shown} keyOf={({ limit }) => limit} />
      )}
    </SettingsPage>
  );
}

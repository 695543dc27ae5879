import type { StatsGrouping } from '@phalanx/protocol';

export const periods = [
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
  { value: '90', label: 'Last 90 days' },
  { value: '365', label: 'Last 365 days' },
] as const;
type Period = (typeof periods)[number]['value'];

export const groupings: readonly { value: StatsGrouping; label: string }[] = [
  { value: 'automation', label: 'Automation' },
  { value: 'pool', label: 'Pool' },
  { value: 'device', label: 'Phone' },
  { value: 'day', label: 'Day' },
  { value: 'reason', label: 'Reason' },
];

/** Search parameters of the page of statistics. */
export interface StatsSearch {
  days?: Period;
  by?: StatsGrouping;
  automation?: string;
  pool?: string;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export function statsSearch(given: Record<string, unknown>): StatsSearch {
  const days = periods.find(({ value }) => value === String(given['days']))?.value;
  const by = groupings.find(({ value }) => value === given['by'])?.value;
  const [automation, pool] = [textOf(given['automation']), textOf(given['pool'])];
  return {
    ...(days === undefined ? {} : { days }),
    ...(by === undefined ? {} : { by }),
    ...(automation === undefined ? {} : { automation }),
    ...(pool === undefined ? {} : { pool }),
  };
}

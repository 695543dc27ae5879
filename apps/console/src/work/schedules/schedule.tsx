import type { Schedule } from '@phalanx/protocol';
import { queryOptions } from '@tanstack/react-query';

import { call } from '../../api/call.ts';
import { cronWords } from './cron-words.ts';

/** Returns the display name of a schedule. */
export const scheduleName = ({ name, cron }: Pick<Schedule, 'name' | 'cron'>): string =>
  name || (cronWords(cron) ?? cron);

const maxShown = 3;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Formats a time in a time zone, such as `Mon, Nov 30, 02:00 GMT+1`. */
function zonedText(at: number, zone: string): string {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en', {
      ...({ weekday: 'short', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' } as const),
      ...({ hourCycle: 'h23', timeZone: zone, timeZoneName: 'short' } as const),
    });
    formats.set(zone, format);
  }
  return format.format(at);
}

const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** Time in the schedule's time zone; hovering shows it in the browser's time zone. */
export const ZonedTime = ({ at, zone }: { at: number; zone: string }) => (
  <time dateTime={new Date(at).toISOString()} title={`Here: ${local.format(at)}`}>
    {zonedText(at, zone)}
  </time>
);

export const NextTimes = ({ times, zone }: { times: readonly number[]; zone: string }) => (
  <ul>
    {times.slice(0, maxShown).map((at) => (
      <li key={at}>
        <ZonedTime at={at} zone={zone} />
      </li>
    ))}
  </ul>
);

/** Query for the next times of a cron expression. */
export const cronTimesQuery = (cron: string, zone: string) =>
  queryOptions({
    queryKey: ['cron times', cron, zone],
    enabled: cron !== '' && zone !== '',
    retry: false,
    queryFn: async ({ signal }) =>
      (await call('GET /api/v2/schedules/times', { query: { cron, time_zone: zone } }, { signal })).times,
  });

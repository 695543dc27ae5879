import { useSyncExternalStore } from 'react';

import { Select } from './field.tsx';

const tickMs = 1000;
const listeners = new Set<() => void>();
let timer: number | undefined;
let now = Date.now();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= window.setInterval(() => {
    if (document.hidden) return;
    now = Date.now();
    for (const one of listeners) one();
  }, tickMs);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    window.clearInterval(timer);
    timer = undefined;
  };
}

/** Text that follows the page's clock, which ticks once per second. */
const useText = (textAt: (now: number) => string): string =>
  useSyncExternalStore(subscribe, () => textAt(Math.max(now, Date.now() - tickMs)));

const units: readonly [name: string, ms: number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
];

/** Formats a duration, such as `4 s`, `12 m`, `3 h`, `2 d`. */
function durationText(ms: number): string {
  for (const [name, size] of units) if (ms >= size) return `${Math.floor(ms / size)} ${name}`;
  return `${Math.max(0, Math.floor(ms / 1000))} s`;
}

/** Formats a duration precisely, such as `0.4 s`, `12.3 s`, `4:05`, `1:02:09`. */
export function exactDuration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.floor(seconds);
  const two = (value: number): string => String(value).padStart(2, '0');
  const minutes = Math.floor(whole / 60);
  return minutes < 60
    ? `${minutes}:${two(whole % 60)}`
    : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)}`;
}

const whole = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

const wholeTime = (at: number): string => whole.format(at);
export const clockTime = (at: number): string => clock.format(at);

const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

/** Formats a time: the time of day for today, date and time for this year, the date alone for other years. */
function shortTime(at: number): string {
  const [then, today] = [new Date(at), new Date()];
  if (then.getFullYear() !== today.getFullYear()) return date.format(at);
  const isToday = then.toDateString() === today.toDateString();
  return isToday ? clock.format(at) : `${day.format(at)}, ${clock.format(at).slice(0, 5)}`;
}

/** Time elapsed since an event, kept current. */
export function Age({ since }: { since: number }) {
  const text = useText((at) => durationText(at - since));
  return (
    <time dateTime={new Date(since).toISOString()} title={wholeTime(since)}>
      {text}
    </time>
  );
}

/** Duration of something that runs or has ended. */
export function Elapsed({ from, to }: { from: number; to: number | null }) {
  return <>{useText((at) => exactDuration((to ?? at) - from))}</>;
}

export const Moment = ({ at }: { at: number }) => (
  <time dateTime={new Date(at).toISOString()} title={wholeTime(at)}>
    {shortTime(at)}
  </time>
);

const spanHours = { '1h': 1, '24h': 24, '7d': 168 } as const;
const hourMs = 3_600_000;

/** Time span up to now, as named in the address. */
export type Since = keyof typeof spanHours;

export const sinceOf = (value: unknown): Since | undefined =>
  Object.keys(spanHours).find((one): one is Since => one === value);

export const timeSince = (since: Since): number => Date.now() - spanHours[since] * hourMs;

interface SinceSelectProps {
  value: Since | undefined;
  /** Called with an empty string for any time. */
  onChange: (since: Since | '') => void;
}

export const SinceSelect = ({ value, onChange }: SinceSelectProps) => (
  <Select<Since | ''>
    label="Time"
    value={value ?? ''}
    options={[
      { value: '', label: 'Any time' },
      { value: '1h', label: 'Last hour' },
      { value: '24h', label: 'Last 24 hours' },
      { value: '7d', label: 'Last 7 days' },
    ]}
    onChange={onChange}
  />
);

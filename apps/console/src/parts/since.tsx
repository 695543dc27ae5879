import { Select } from './field.tsx';

const hours = { '1h': 1, '24h': 24, '7d': 168 } as const;
const hourMs = 3_600_000;

/** A span of time that ends now, as an address says it. */
export type Since = keyof typeof hours;

export const sinceOf = (value: unknown): Since | undefined =>
  Object.keys(hours).find((one): one is Since => one === value);

export const timeSince = (since: Since): number => Date.now() - hours[since] * hourMs;

interface SinceSelectProps {
  value: Since | undefined;
  /** An empty text: any time. */
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

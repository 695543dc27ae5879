import type { OutOfStepsRecord } from '@phalanx/protocol';

export const recordTypes = [
  'outOfSteps',
  'timeout',
  'debug',
  'crash',
] as const satisfies readonly OutOfStepsRecord['type'][];
export const recordStatuses = [
  'pending',
  'solved',
  'skipped',
] as const satisfies readonly OutOfStepsRecord['status'][];

/** What the address says of the review desk. Without a status only what is pending is shown. */
export interface RecordsSearch {
  record?: string;
  automation?: string;
  type?: OutOfStepsRecord['type'];
  status?: OutOfStepsRecord['status'] | 'any';
  tag?: string;
  partial?: 'true' | 'false';
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export function recordsSearch(given: Record<string, unknown>): RecordsSearch {
  const [record, automation, tag] = [
    textOf(given['record']),
    textOf(given['automation']),
    textOf(given['tag']),
  ];
  const type = recordTypes.find((one) => one === given['type']);
  const status = ([...recordStatuses, 'any'] as const).find((one) => one === given['status']);
  const partial = (['true', 'false'] as const).find((one) => one === String(given['partial']));
  return {
    ...(record === undefined ? {} : { record }),
    ...(automation === undefined ? {} : { automation }),
    ...(type === undefined ? {} : { type }),
    ...(status === undefined ? {} : { status }),
    ...(tag === undefined ? {} : { tag }),
    ...(partial === undefined ? {} : { partial }),
  };
}

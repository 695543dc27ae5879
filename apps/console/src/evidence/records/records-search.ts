import type { OutOfStepsRecord, RecordGroup } from '@phalanx/protocol';

import { sinceOf, type Since } from '../../parts/time.tsx';

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

/** Search parameters of the review desk. Default status: pending. */
export interface RecordsSearch {
  record?: string;
  automation?: string;
  type?: OutOfStepsRecord['type'];
  status?: OutOfStepsRecord['status'] | 'any';
  tag?: string;
  partial?: 'true' | 'false';
  device?: string;
  run?: string;
  since?: Since;
  /** Number of the screen to show, from 1. Default: the last one. */
  screen?: number;
}

/** Filters of the desk. */
export type RecordFiltersSearch = Omit<RecordsSearch, 'record' | 'screen'>;

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

const wholeOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined;

/** Parser of each search parameter's value. */
const known: { [Name in keyof RecordsSearch]-?: (value: unknown) => RecordsSearch[Name] | undefined } = {
  record: textOf,
  automation: textOf,
  type: (value) => recordTypes.find((one) => one === value),
  status: (value) => ([...recordStatuses, 'any'] as const).find((one) => one === value),
  tag: textOf,
  partial: (value) => (['true', 'false'] as const).find((one) => one === String(value)),
  device: textOf,
  run: textOf,
  since: sinceOf,
  screen: wholeOf,
};

export function recordsSearch(given: Record<string, unknown>): RecordsSearch {
  const read = Object.entries(known).map(([name, of]): [string, unknown] => [name, of(given[name])]);
  return Object.fromEntries(read.filter(([, value]) => value !== undefined));
}

export const groupStatuses = [
  'open',
  'solved',
  'ignored',
] as const satisfies readonly RecordGroup['status'][];

/** Search parameters of the groups page. Default status: open. */
export interface GroupsSearch {
  group?: string;
  automation?: string;
  status?: RecordGroup['status'] | 'any';
  mine?: 'true';
  sort?: 'records';
}

const knownOfGroups: { [Name in keyof GroupsSearch]-?: (value: unknown) => GroupsSearch[Name] | undefined } =
  {
    group: textOf,
    automation: textOf,
    status: (value) => ([...groupStatuses, 'any'] as const).find((one) => one === value),
    mine: (value) => (String(value) === 'true' ? 'true' : undefined),
    sort: (value) => (value === 'records' ? value : undefined),
  };

export function groupsSearch(given: Record<string, unknown>): GroupsSearch {
  const read = Object.entries(knownOfGroups).map(([name, of]): [string, unknown] => [name, of(given[name])]);
  return Object.fromEntries(read.filter(([, value]) => value !== undefined));
}

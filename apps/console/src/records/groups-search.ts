import type { RecordGroup } from '@phalanx/protocol';

export const groupStatuses = [
  'open',
  'solved',
  'ignored',
] as const satisfies readonly RecordGroup['status'][];

/** What the address says of the desk of groups. Without a status only open ones are shown. */
export interface GroupsSearch {
  group?: string;
  automation?: string;
  status?: RecordGroup['status'] | 'any';
  mine?: 'true';
  sort?: 'records';
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

const known: { [Name in keyof GroupsSearch]-?: (value: unknown) => GroupsSearch[Name] | undefined } = {
  group: textOf,
  automation: textOf,
  status: (value) => ([...groupStatuses, 'any'] as const).find((one) => one === value),
  mine: (value) => (String(value) === 'true' ? 'true' : undefined),
  sort: (value) => (value === 'records' ? value : undefined),
};

export function groupsSearch(given: Record<string, unknown>): GroupsSearch {
  const read = Object.entries(known).map(([name, of]): [string, unknown] => [name, of(given[name])]);
  return Object.fromEntries(read.filter(([, value]) => value !== undefined));
}

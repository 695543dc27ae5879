import type { JoinReason, RecordGroup, UiNode } from '@phalanx/protocol';
import { queryOptions, keepPreviousData } from '@tanstack/react-query';

import { Mark, type MarkLook } from '../../parts/mark.tsx';
import { call, type Reply, localAddress } from '../../api/call.ts';
import { timeSince } from '../../parts/time.tsx';
import { isObject } from '../../runs/launches/parameter-fields.ts';
import { readScreenTree } from '../../fleet/screens/screen-tree.ts';
import type { RecordFiltersSearch, GroupsSearch } from './records-search.ts';
import { unchanging } from '../../api/query-client.ts';

const looks: Record<RecordGroup['status'], MarkLook> = {
  open: { tone: 'act', glyph: '○', word: 'open' },
  solved: { tone: 'ready', glyph: '✓', word: 'solved' },
  ignored: { tone: 'offline', glyph: '↷', word: 'ignored' },
};
const reopened: MarkLook = { tone: 'broken', glyph: '↻', word: 'open again' };

export const GroupStatusMark = ({ group }: { group: RecordGroup }) => (
  <Mark {...(group.status === 'open' && group.reopened_by !== null ? reopened : looks[group.status])} />
);

/** Returns the display name of a group: the words of its screen, or its stage and state. */
export const groupName = ({ title, next_stage: stage, screen_state: state }: RecordGroup): string =>
  title || (stage === '' ? state : `${state} on the way to ${stage}`);

export const reasonText = ({ by, likeness, id }: JoinReason): string =>
  ({
    new: 'the first one',
    key: 'the same fingerprint',
    likeness: `${Math.round((likeness ?? 0) * 100)} % alike`,
    id: `has the ID ${id ?? ''}`,
    error: 'the same error at the same place',
    person: 'moved here by a user',
  })[by];

export const typeWords: Record<ReviewRecord['type'], string> = {
  outOfSteps: 'out of steps',
  timeout: 'timed out',
  debug: 'debug',
  crash: 'crash',
};

const statusLooks: Record<ReviewRecord['status'], MarkLook> = {
  pending: { tone: 'act', glyph: '○', word: 'pending' },
  solved: { tone: 'ready', glyph: '✓', word: 'solved' },
  skipped: { tone: 'offline', glyph: '↷', word: 'skipped' },
};

export const RecordStatusMark = ({ status }: { status: ReviewRecord['status'] }) => (
  <Mark {...statusLooks[status]} />
);

export type RecordPage = Reply<'GET /api/v2/automation-project/out-of-steps'>;
export type ReviewRecord = NonNullable<RecordPage['result']>;
export type RecordScreen = ReviewRecord['screens'][number];

/**
 * Position in the list: a record, or its neighbor. `older` also accepts a record that no longer matches the filters.
 */
export type Place = { at: string } | { older: string } | { newer: string } | 'newest';

const cursorOf = (place: Place) => {
  if (place === 'newest') return {};
  if ('at' in place) return { cursor: place.at };
  return 'older' in place ? { before_cursor: place.older } : { after_cursor: place.newer };
};

const filterOf = ({
  automation,
  type,
  status = 'pending',
  tag,
  partial,
  device,
  run,
}: RecordFiltersSearch) => ({
  ...(automation === undefined ? {} : { automation_id: automation }),
  ...(type === undefined ? {} : { type }),
  ...(status === 'any' ? {} : { status }),
  ...(tag === undefined ? {} : { tag }),
  ...(partial === undefined ? {} : { partial }),
  ...(device === undefined ? {} : { device_id: device }),
  ...(run === undefined ? {} : { run_id: run }),
});

const spanOf = ({ since }: RecordFiltersSearch) =>
  since === undefined ? {} : { added_after: timeSince(since) };

/** Query for one record and its position among the matching ones. */
export const recordQuery = (filters: RecordFiltersSearch, place: Place) =>
  queryOptions({
    queryKey: ['records', filterOf(filters), filters.since, place],
    queryFn: ({ signal }) =>
      call(
        'GET /api/v2/automation-project/out-of-steps',
        { query: { ...filterOf(filters), ...spanOf(filters), ...cursorOf(place) } },
        { signal },
      ),
    staleTime: 30_000,
  });

export const tagsQuery = (automationId: string | undefined) =>
  queryOptions({
    queryKey: ['records', 'tags', automationId],
    enabled: automationId !== undefined,
    queryFn: async ({ signal }) => {
      const query = { automation_id: automationId ?? '' };
      return (await call('GET /api/v2/automation-project/out-of-steps/tags', { query }, { signal })).tags;
    },
  });

/** Query for the tree of a stored screen, which is immutable. */
export const treeQuery = (screen: RecordScreen | undefined) =>
  queryOptions({
    queryKey: ['stored-tree', screen?._id],
    enabled: typeof screen?.uiUrl === 'string',
    queryFn: async ({ signal }) => {
      const response = await fetch(localAddress(screen?.uiUrl ?? ''), { signal });
      if (!response.ok) throw new Error('The tree of this screen was deleted.');
      const tree: unknown = await response.json();
      if (!isObject(tree) || !isObject(tree['root']))
        throw new Error('The tree of this screen cannot be read.');
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- hosts write trees in this form
      return readScreenTree(String(tree['packageName']), tree['root'] as unknown as UiNode);
    },
    ...unchanging,
    structuralSharing: false,
  });

const shownGroups = 200;
const shownRecords = 100;

/** Query for groups. `userId` is the signed-in user. */
export const groupsQuery = ({ automation, status = 'open', mine, sort }: GroupsSearch, userId: string) =>
  queryOptions({
    queryKey: ['groups', 'list', automation, status, mine, sort],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<RecordGroup[]> => {
      const query = {
        limit: shownGroups,
        ...(automation === undefined ? {} : { automation_id: automation }),
        ...(status === 'any' ? {} : { status }),
        ...(mine === undefined ? {} : { assignee_id: userId }),
        ...(sort === undefined ? {} : { sort }),
      };
      return (await call('GET /api/v2/groups', { query }, { signal })).groups;
    },
  });

export const groupQuery = (id: string) =>
  queryOptions({
    queryKey: ['groups', 'one', id],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => call('GET /api/v2/groups/:id', { params: { id } }, { signal }),
  });

/** Query for the newest records of a group. */
export const groupRecordsQuery = (id: string) =>
  queryOptions({
    queryKey: ['groups', 'records', id],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const input = { params: { id }, query: { limit: shownRecords } };
      return (await call('GET /api/v2/groups/:id/records', input, { signal })).records;
    },
  });

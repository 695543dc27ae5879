import type { RecordGroup } from '@phalanx/protocol';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';

import { call } from '../api/call.ts';
import type { GroupsSearch } from './groups-search.ts';

const shownGroups = 200;
const shownRecords = 100;

/** `userId`: who asks. */
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

/** The newest ones. */
export const groupRecordsQuery = (id: string) =>
  queryOptions({
    queryKey: ['groups', 'records', id],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const input = { params: { id }, query: { limit: shownRecords } };
      return (await call('GET /api/v2/groups/:id/records', input, { signal })).records;
    },
  });

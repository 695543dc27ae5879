import type { Replay, ReplayedScreenView } from '@phalanx/protocol';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';

import { call } from '../api/call.ts';

/** More than a project has. */
const mostReplays = 100;
const shownScreens = 200;
/** Each may have a picture. */
const shownChanges = 50;

/** Newest first. */
export const replaysQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['replays', 'list', projectId],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Replay[]> => {
      const input = { params: { id: projectId }, query: { limit: mostReplays } };
      return (await call('GET /api/v2/automation/replays/:id', input, { signal })).replays;
    },
  });

const lookMs = 700;

/** One replay, until it has ended. */
export const replayQuery = (id: string) =>
  queryOptions({
    queryKey: ['replays', 'one', id],
    queryFn: async ({ signal }): Promise<Replay> =>
      (await call('GET /api/v2/replays/:id', { params: { id } }, { signal })).replay,
    refetchInterval: ({ state }) => (typeof state.data?.ended_at === 'number' ? false : lookMs),
  });

/** The first screens of a replay, those of which it says something new, or those of a group. */
export const verdictsQuery = (id: string, onlyChanged: boolean, groupId?: string) =>
  queryOptions({
    queryKey: ['replays', 'verdicts', id, onlyChanged, groupId],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<ReplayedScreenView[]> => {
      const query = {
        ...(onlyChanged ? { limit: shownChanges, changed: 'true' as const } : { limit: shownScreens }),
        ...(groupId === undefined ? {} : { group_id: groupId }),
      };
      return (await call('GET /api/v2/replays/:id/verdicts', { params: { id }, query }, { signal })).verdicts;
    },
  });

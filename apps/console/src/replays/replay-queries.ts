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

/** The first screens of a replay, or those of which it says something new. */
export const verdictsQuery = (id: string, onlyChanged: boolean) =>
  queryOptions({
    queryKey: ['replays', 'verdicts', id, onlyChanged],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<ReplayedScreenView[]> => {
      const query = onlyChanged ? { limit: shownChanges, changed: 'true' as const } : { limit: shownScreens };
      return (await call('GET /api/v2/replays/:id/verdicts', { params: { id }, query }, { signal })).verdicts;
    },
  });

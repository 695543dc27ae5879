import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { call } from '../api/call.ts';
import { replayQuery } from './replay-queries.ts';

/** `open` and `all` are sets; anything else is a group, which is replayed with all others. */
export type DraftScreens = string;

/** The replay of text that is not saved. `groupId`: of the address. */
export function useDraftReplay(projectId: string, groupId: string | undefined) {
  const queries = useQueryClient();
  const [screens, setScreens] = useState<DraftScreens>(groupId ?? 'open');
  const [id, setId] = useState<string>();
  const { data: replay } = useQuery({ ...replayQuery(id ?? ''), enabled: id !== undefined });
  const starting = useMutation({
    mutationFn: async (drafts: ReadonlyMap<string, string>) => {
      const files = Array.from(drafts, ([path, content]) => ({ path, content }));
      const body = { files, set: screens === 'open' ? ('open' as const) : ('all' as const) };
      return (await call('POST /api/v2/automation/replay/:id', { params: { id: projectId }, body })).replay;
    },
    onSuccess: async (started) => {
      setId(started.id);
      await queries.invalidateQueries({ queryKey: ['replays', 'list'] });
    },
  });
  return {
    screens,
    choose: setScreens,
    groupId: screens === 'open' || screens === 'all' ? undefined : screens,
    replay,
    error: starting.error,
    isBusy: starting.isPending || (replay !== undefined && replay.ended_at === null),
    start: (drafts: ReadonlyMap<string, string>) => starting.mutateAsync(drafts).catch(() => undefined),
  };
}

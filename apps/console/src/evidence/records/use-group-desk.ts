import type { RecordGroup } from '@phalanx/protocol';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';

import { call } from '../../api/call.ts';
import { useMe } from '../../api/me.ts';
import { notify, notifyFailure } from '../../parts/notices.tsx';
import { groupsQuery } from './record.tsx';
import { groupsSearch, type GroupsSearch } from './records-search.ts';

const route = getRouteApi('/groups');

const doneWords: Record<RecordGroup['status'], string> = {
  open: 'The group was reopened',
  solved: 'The group was marked as solved',
  ignored: 'The group was ignored',
};

export function toggled(set: ReadonlySet<string>, item: string): ReadonlySet<string> {
  const others = [...set].filter((one) => one !== item);
  return new Set(set.has(item) ? others : [...others, item]);
}

/** Groups on display, the chosen one, and its actions. */
export function useGroupDesk() {
  const navigate = route.useNavigate();
  const queries = useQueryClient();
  const search = route.useSearch();
  const userId = useMe()?.user.id ?? '';
  const query = useQuery(groupsQuery(search, userId));
  const groups = query.data ?? [];
  const index = Math.max(
    0,
    groups.findIndex(({ id }) => id === search.group),
  );
  const chosen = search.group ?? groups[0]?.id;
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  /** ID of the group changed last. The change can be undone even after the group has left the list. */
  const [changed, setChanged] = useState<string>();

  const open = (id: string | undefined): void =>
    void navigate({
      search: ({ group: _group, ...rest }) => (id === undefined ? rest : { ...rest, group: id }),
      replace: true,
    });
  const walk = (by: 1 | -1): void => {
    const next = groups[index + by];
    if (next === undefined) notify(by === 1 ? 'This is the last group' : 'This is the first group');
    else open(next.id);
  };
  const filter = (changes: Record<string, string>): void =>
    void navigate({
      search: ({ group: _group, ...known }: GroupsSearch) => groupsSearch({ ...known, ...changes }),
      replace: true,
    });

  /** Performs an action. `work` returns the group to show afterwards. */
  const act = async (work: () => Promise<string | undefined>, done: string): Promise<void> => {
    try {
      const id = await work();
      await queries.invalidateQueries({ queryKey: ['groups'] });
      open(id);
      notify(done);
    } catch (error) {
      notifyFailure('The group was not changed', error);
    }
  };
  const mark = (status: RecordGroup['status'], commit?: string): Promise<void> =>
    act(async () => {
      if (chosen === undefined) return undefined;
      const body = { status, ...(commit === undefined ? {} : { solved_in: commit }) };
      await call('PATCH /api/v2/groups/:id', { params: { id: chosen }, body });
      setChanged(chosen);
      return groups[index + 1]?.id ?? groups[index - 1]?.id;
    }, doneWords[status]);
  const assign = (assigneeId: string | null): Promise<void> =>
    act(
      async () => {
        if (chosen === undefined) return undefined;
        await call('PATCH /api/v2/groups/:id', {
          params: { id: chosen },
          body: { assignee_id: assigneeId },
        });
        return chosen;
      },
      assigneeId === null ? 'The group was unassigned' : 'The group was assigned to you',
    );
  const merge = (): Promise<void> =>
    act(async () => {
      if (chosen === undefined) return undefined;
      const group_ids = [...selected].filter((id) => id !== chosen);
      await call('POST /api/v2/groups/:id/merge', { params: { id: chosen }, body: { group_ids } });
      setSelected(new Set());
      setChanged(chosen);
      return chosen;
    }, 'The groups were merged');
  const split = (record_ids: string[]): Promise<void> =>
    act(async () => {
      if (chosen === undefined) return undefined;
      const reply = await call('POST /api/v2/groups/:id/split', {
        params: { id: chosen },
        body: { record_ids },
      });
      setChanged(chosen);
      return reply.group.id;
    }, 'The records were moved to a new group');
  const undo = (): Promise<void> =>
    act(async () => {
      const id = changed ?? chosen;
      if (id === undefined) return undefined;
      setChanged(undefined);
      return (await call('POST /api/v2/groups/:id/undo', { params: { id } })).group.id;
    }, 'The change was undone');
  const deleteScreen = (name: string): Promise<void> =>
    act(async () => {
      if (chosen === undefined) return undefined;
      await call('DELETE /api/v2/groups/:id/screens/:name', { params: { id: chosen, name } });
      return chosen;
    }, 'The screen was deleted');
  const select = (id: string): void => setSelected((known) => toggled(known, id));
  return {
    query,
    groups,
    chosen,
    search,
    userId,
    selected,
    open,
    walk,
    filter,
    mark,
    assign,
    merge,
    split,
    undo,
    deleteScreen,
    select,
  };
}

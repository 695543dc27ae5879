import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';

import { call } from '../api/call.ts';
import { notify, notifyFailure } from '../parts/notices.tsx';
import { localAddress } from './local-address.ts';
import { recordQuery, treeQuery, type Place, type RecordPage, type ReviewRecord } from './queries.ts';
import { recordsSearch, type RecordsSearch } from './records-search.ts';

const route = getRouteApi('/records');
/** A verdict is for good: nobody gives one on what has only just appeared. */
const leastLookMs = 400;

/** The record that is looked at, and the ways on from it. */
export function useDesk(search: RecordsSearch) {
  const navigate = route.useNavigate();
  const queries = useQueryClient();
  const ahead = useAhead(search.record);
  const place: Place = ahead.shown === undefined ? 'newest' : { at: ahead.shown };
  const query = useQuery({ ...recordQuery(search, place), placeholderData: keepPreviousData });
  const record = query.data?.result ?? undefined;
  const shownAt = useShownAt(record?.out_of_steps_id);
  usePrefetch(search, query.data);

  const open = (id: string | undefined): void =>
    void navigate({
      search: ({ record: _record, screen: _screen, ...rest }) =>
        id === undefined ? rest : { ...rest, record: id },
      replace: true,
    });
  const go = async (to: Place): Promise<boolean> => {
    const wanted = recordQuery(search, to);
    const known = queries.getQueryState(wanted.queryKey);
    const page =
      (known?.isInvalidated === false ? known.data : undefined) ?? (await queries.fetchQuery(wanted));
    if (page.result === null) return false;
    const id = page.result.out_of_steps_id;
    queries.setQueryData(recordQuery(search, { at: id }).queryKey, page);
    ahead.show(id);
    open(id);
    return true;
  };
  const walk = async (to: 'older' | 'newer'): Promise<void> => {
    const id = record?.out_of_steps_id;
    if (id === undefined) return;
    try {
      const found = await go(to === 'older' ? { older: id } : { newer: id });
      if (!found) notify(to === 'older' ? 'This is the oldest one' : 'This is the newest one');
    } catch (error) {
      notifyFailure('The next record could not be read', error);
    }
  };
  const mark = async (status: 'solved' | 'skipped'): Promise<void> => {
    if (record === undefined || record.status !== 'pending' || Date.now() - shownAt < leastLookMs) return;
    const id = record.out_of_steps_id;
    try {
      await call('PATCH /api/v2/automation-project/out-of-steps/:id/status', {
        params: { id },
        body: { status },
      });
      notify(`${record.automation_name}: ${status}`);
      if (!(await go({ older: id })) && !(await go({ newer: id }))) open(undefined);
    } catch (error) {
      notifyFailure('The verdict was not given', error);
    }
    await queries.invalidateQueries({ queryKey: ['records'] });
  };
  const save = async (): Promise<void> => {
    if (record === undefined) return;
    const { out_of_steps_id: id, saved } = record;
    try {
      await call('PATCH /api/v2/automation-project/out-of-steps/:id/save', {
        params: { id },
        body: { saved: !saved },
      });
      notify(saved ? 'No longer saved' : 'Saved: it is kept for two months');
    } catch (error) {
      notifyFailure('Nothing was changed', error);
    }
    await queries.invalidateQueries({ queryKey: ['records'] });
  };
  const filter = (changes: Record<string, string>): void =>
    void navigate({
      search: ({ record: _record, screen: _screen, ...known }) => recordsSearch({ ...known, ...changes }),
      replace: true,
    });
  const showScreen = (screen: number): void =>
    void navigate({ search: (rest) => ({ ...rest, screen }), replace: true });
  const screen = ahead.isAhead ? undefined : search.screen;
  return { query, record, screen, walk, mark, save, filter, showScreen };
}

/** The address follows what is shown, but not within the frame in which a key was pressed. */
function useAhead(addressed: string | undefined) {
  const [ahead, setAhead] = useState<string>();
  const opened = useRef<string[]>([]);
  useEffect(() => {
    const at = opened.current.lastIndexOf(addressed ?? '');
    opened.current = at === -1 ? [] : opened.current.slice(at + 1);
    // Of several quick keys, the address of an earlier one must not show its record again.
    if (opened.current.length === 0) setAhead(undefined);
  }, [addressed]);
  const show = (id: string): void => {
    if (id === addressed && opened.current.length === 0) return;
    opened.current.push(id);
    setAhead(id);
  };
  return { shown: ahead ?? addressed, isAhead: ahead !== undefined, show };
}

function useShownAt(id: string | undefined): number {
  const [shown, setShown] = useState({ id, at: Date.now() });
  if (shown.id !== id) setShown({ id, at: Date.now() });
  return shown.at;
}

/** The next record, and what it shows last, are here before somebody asks for them. */
function usePrefetch(search: RecordsSearch, page: RecordPage | undefined): void {
  const queries = useQueryClient();
  const id = page?.result?.out_of_steps_id;
  const hasOlder = page?.hasNext ?? false;
  useEffect(() => {
    if (id === undefined || !hasOlder) return;
    void queries
      .fetchQuery(recordQuery(search, { older: id }))
      .then(({ result }) => result !== null && warm(result))
      .catch(() => undefined);
    const warm = (next: ReviewRecord): void => {
      const last = next.screens.at(-1);
      void queries.prefetchQuery(treeQuery(last));
      const picture = last?.screenshot.screenshotUrl;
      if (typeof picture !== 'string') return;
      const image = new Image();
      image.src = localAddress(picture);
      void image.decode().catch(() => undefined);
    };
  }, [queries, search, id, hasOlder]);
}

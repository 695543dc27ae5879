import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useEffect, useReducer, useRef, useState } from 'react';

import { call, localAddress } from '../../api/call.ts';
import { notify, notifyFailure } from '../../parts/notices.tsx';
import { recordQuery, treeQuery, type Place, type RecordPage, type ReviewRecord } from './record.tsx';
import { recordsSearch, type RecordFiltersSearch } from './records-search.ts';

const route = getRouteApi('/records');
/**
 * Minimum time on display before a verdict is accepted, in ms. Verdicts are final, so a record that has just appeared
 * takes none.
 */
const minLookMs = 400;

/** Record on display and the navigation from it. */
export function useReviewQueue() {
  const navigate = route.useNavigate();
  const queries = useQueryClient();
  const addressed = route.useSearch({
    select: ({ record, screen }) => ({ record, screen }),
    structuralSharing: true,
  });
  const filters = useFilters();
  const open = useCallback(
    (id: string | undefined): void =>
      void navigate({
        search: ({ record: _record, screen: _screen, ...rest }) =>
          id === undefined ? rest : { ...rest, record: id },
        replace: true,
      }),
    [navigate],
  );
  const ahead = useAhead(addressed.record, open);
  const place: Place = ahead.shown === undefined ? 'newest' : { at: ahead.shown };
  const query = useQuery({ ...recordQuery(filters, place), placeholderData: keepPreviousData });
  const record = query.data?.result ?? undefined;
  const shownAt = useShownAt(record?.out_of_steps_id);
  usePrefetch(filters, query.data);

  const go = async (to: Place): Promise<boolean> => {
    const wanted = recordQuery(filters, to);
    const known = queries.getQueryState(wanted.queryKey);
    const page =
      (known?.isInvalidated === false ? known.data : undefined) ?? (await queries.fetchQuery(wanted));
    if (page.result === null) return false;
    const id = page.result.out_of_steps_id;
    queries.setQueryData(recordQuery(filters, { at: id }).queryKey, page);
    ahead.show(id);
    return true;
  };
  const walk = async (to: 'older' | 'newer'): Promise<void> => {
    const id = record?.out_of_steps_id;
    if (id === undefined) return;
    try {
      const found = await go(to === 'older' ? { older: id } : { newer: id });
      if (!found) notify(to === 'older' ? 'This is the oldest record' : 'This is the newest record');
    } catch (error) {
      notifyFailure('The next record could not be read', error);
    }
  };
  const mark = async (status: 'solved' | 'skipped'): Promise<void> => {
    if (record === undefined || record.status !== 'pending' || Date.now() - shownAt < minLookMs) return;
    const id = record.out_of_steps_id;
    try {
      await call('PATCH /api/v2/automation-project/out-of-steps/:id/status', {
        params: { id },
        body: { status },
      });
      notify(`${record.automation_name}: ${status}`);
      if (!(await go({ older: id })) && !(await go({ newer: id }))) open(undefined);
    } catch (error) {
      notifyFailure('The record was not marked', error);
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
      notifyFailure('The record was not changed', error);
    }
    await queries.invalidateQueries({ queryKey: ['records'] });
  };
  const remove = async (): Promise<void> => {
    if (record === undefined) return;
    const id = record.out_of_steps_id;
    await call('DELETE /api/v2/records/:id', { params: { id } });
    notify('The record was deleted');
    if (!(await go({ older: id })) && !(await go({ newer: id }))) open(undefined);
    queries.removeQueries({ queryKey: recordQuery(filters, { at: id }).queryKey });
    await queries.invalidateQueries({ queryKey: ['records'] });
  };
  const filter = useCallback(
    (changes: Record<string, string>): void =>
      void navigate({
        search: ({ record: _record, screen: _screen, ...known }) => recordsSearch({ ...known, ...changes }),
        replace: true,
      }),
    [navigate],
  );
  const showScreen = (screen: number): void =>
    void navigate({ search: (rest) => ({ ...rest, screen }), replace: true });
  const screen = ahead.isAhead ? undefined : addressed.screen;
  return { query, record, filters, screen, walk, mark, save, remove, filter, showScreen };
}

/**
 * Returns the same object until a filter changes, so that changing the record renders nothing that depends only on
 * filters.
 */
const useFilters = (): RecordFiltersSearch =>
  route.useSearch({
    select: ({ record: _record, screen: _screen, ...filters }) => filters,
    structuralSharing: true,
  });

/** Updates the address only after the record is painted, because the router does much work for each change. */
function useAhead(addressed: string | undefined, open: (id: string) => void) {
  const [{ ahead }, move] = useReducer(moveReview, firstPosition);
  useEffect(() => move({ type: 'addressed', id: addressed }), [addressed]);
  useEffect(() => (ahead === undefined ? undefined : afterPaint(() => open(ahead))), [ahead, open]);
  const show = (id: string): void => move({ type: 'show', id, addressed });
  return { shown: ahead ?? addressed, isAhead: ahead !== undefined && ahead !== addressed, show };
}

function useShownAt(id: string | undefined): number {
  const [shown, setShown] = useState({ id, at: Date.now() });
  if (shown.id !== id) setShown({ id, at: Date.now() });
  return shown.at;
}

/** Prefetches the next record with the tree and the picture of its last screen. */
function usePrefetch(filters: RecordFiltersSearch, page: RecordPage | undefined): void {
  const queries = useQueryClient();
  const id = page?.result?.out_of_steps_id;
  const hasOlder = page?.hasNext ?? false;
  /** Keeps a reference, because the browser may evict a picture without one. */
  const held = useRef<HTMLImageElement>(undefined);
  useEffect(() => {
    if (id === undefined || !hasOlder) return undefined;
    const warm = (next: ReviewRecord): void => {
      const last = next.screens.at(-1);
      void queries.prefetchQuery(treeQuery(last));
      const picture = last?.screenshot.screenshotUrl;
      if (typeof picture !== 'string') return;
      held.current = new Image();
      held.current.src = localAddress(picture);
      void held.current.decode().catch(() => undefined);
    };
    return afterPaint(
      () =>
        void queries
          .fetchQuery(recordQuery(filters, { older: id }))
          .then(({ result }) => result !== null && warm(result))
          .catch(() => undefined),
    );
  }, [queries, filters, id, hasOlder]);
}

/** Calls `work` after the next frame has been painted. Returns the function that cancels it. */
function afterPaint(work: () => void): () => void {
  let timer: number | undefined;
  const frame = requestAnimationFrame(() => (timer = window.setTimeout(work)));
  return () => {
    cancelAnimationFrame(frame);
    window.clearTimeout(timer);
  };
}

/** Record on display. The address follows later, because it is written only after the record is painted. */
export interface ReviewPosition {
  /** Record on display that the address does not name yet. */
  readonly ahead: string | undefined;
  /** Records whose addresses are still to be confirmed, oldest first. */
  readonly pending: readonly string[];
}

export type ReviewEvent =
  | { readonly type: 'show'; readonly id: string; readonly addressed: string | undefined }
  | { readonly type: 'addressed'; readonly id: string | undefined };

export const firstPosition: ReviewPosition = { ahead: undefined, pending: [] };

export function moveReview(position: ReviewPosition, event: ReviewEvent): ReviewPosition {
  if (event.type === 'show') {
    if (event.id === event.addressed && position.pending.length === 0) return position;
    return { ahead: event.id, pending: [...position.pending, event.id] };
  }
  const at = event.id === undefined ? -1 : position.pending.lastIndexOf(event.id);
  const pending = at === -1 ? [] : position.pending.slice(at + 1);
  // After several quick keys, the address of an earlier record must not bring it back.
  return { ahead: pending.length === 0 ? undefined : position.ahead, pending };
}

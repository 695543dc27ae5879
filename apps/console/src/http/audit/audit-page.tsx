import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { call, type Reply } from '../../api/call.ts';
import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/field.tsx';
import { Mark, type MarkLook } from '../../parts/mark.tsx';
import { InlineFailure, Loading } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Moment } from '../../parts/time.tsx';
import { SettingsPage } from '../access/settings-page.tsx';

type AuditPage = Reply<'GET /api/v2/audit'>;
type Entry = AuditPage['entries'][number];

const looks: Record<Entry['outcome'], MarkLook> = {
  done: { tone: 'ready', glyph: '✓', word: 'done' },
  refused: { tone: 'act', glyph: '▲', word: 'refused' },
  failed: { tone: 'broken', glyph: '✕', word: 'failed' },
};
const outcomes = [
  { value: '', label: 'Any outcome' },
  { value: 'done', label: 'done' },
  { value: 'refused', label: 'refused' },
  { value: 'failed', label: 'failed' },
] as const;

/** The audit log: users, their actions, tokens and addresses. */
export function AuditPage() {
  const [outcome, setOutcome] = useState<(typeof outcomes)[number]['value']>('');
  const query = useInfiniteQuery({
    queryKey: ['audit', outcome],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }): Promise<AuditPage> => {
      const filter = outcome === '' ? {} : { outcome };
      const cursor = pageParam === '' ? {} : { cursor: pageParam };
      return call('GET /api/v2/audit', { query: { limit: 50, ...filter, ...cursor } }, { signal });
    },
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
  const entries = query.data?.pages.flatMap((page) => page.entries);
  return (
    <SettingsPage
      part="Audit log"
      actions={<Select label="Outcome" value={outcome} options={outcomes} onChange={setOutcome} />}
    >
      {query.error !== null && <InlineFailure error={query.error} onRetry={() => void query.refetch()} />}
      {entries === undefined && query.error === null && <Loading rows={5} />}
      {entries?.length === 0 && <p>No entries yet.</p>}
      {entries !== undefined && entries.length > 0 && (
        <Table label="Audit log" columns={columns} rows={entries} keyOf={({ id }) => id} />
      )}
      {query.hasNextPage && (
        <p>
          <Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Older
          </Button>
        </p>
      )}
    </SettingsPage>
  );
}

const columns: readonly Column<Entry>[] = [
  {
    header: 'Action',
    width: 'fit',
    isMain: true,
    text: ({ action, count }) => `${action.replaceAll('_', ' ')}${count > 1 ? ` × ${count}` : ''}`,
  },
  {
    header: 'Outcome',
    width: 'fit',
    speaksForItself: true,
    content: ({ outcome, code }) => (
      <span title={code ?? undefined}>
        <Mark {...looks[outcome]} />
      </span>
    ),
  },
  {
    header: 'Target',
    width: 'grow',
    minimum: 140,
    content: ({ subject }) => <Subject subject={subject} />,
  },
  {
    header: 'User',
    width: 'grow',
    minimum: 120,
    text: ({ user, token }) => `${user?.name ?? 'unknown'}${token === null ? '' : ` · ${token.name}`}`,
  },
  { header: 'Address', width: 'fit', text: ({ address }) => address ?? '–' },
  { header: 'Time', width: 'fit', content: ({ at }) => <Moment at={at} /> },
];

/** Link to the subject of an entry. Records have no name, so their page describes them. */
function Subject({ subject }: Pick<Entry, 'subject'>) {
  if (subject === null) return '–';
  const { type, id, name } = subject;
  if (name !== null) return name;
  const words = `${type} …${id.slice(-12)}`;
  if (type !== 'record') return <span title={id}>{words}</span>;
  return (
    <Link to="/records" search={{ record: id, status: 'any' }} title={id}>
      {words}
    </Link>
  );
}

import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { call, type Reply } from '../api/call.ts';
import { Button } from '../parts/button.tsx';
import { Select } from '../parts/field.tsx';
import { Mark, type MarkLook } from '../parts/mark.tsx';
import { InlineFailure, Loading } from '../parts/states.tsx';
import { Moment } from '../parts/time.tsx';
import { SettingsTable } from './settings-table.tsx';
import styles from './settings.module.css';

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

/** Who did what, with which token, from where. */
export function AuditList() {
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
    <section className={styles['section']}>
      <div className={styles['head']}>
        <h2>Who did what</h2>
        <Select label="Outcome" value={outcome} options={outcomes} onChange={setOutcome} />
      </div>
      {query.error !== null && <InlineFailure error={query.error} onRetry={() => void query.refetch()} />}
      {entries === undefined && query.error === null && <Loading rows={5} />}
      {entries?.length === 0 && <p>Nothing yet.</p>}
      {entries !== undefined && entries.length > 0 && <AuditTable entries={entries} />}
      {query.hasNextPage && (
        <p>
          <Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Older
          </Button>
        </p>
      )}
    </section>
  );
}

const AuditTable = ({ entries }: { entries: readonly Entry[] }) => (
  <SettingsTable label="Who did what" columns={['What', 'Outcome', 'To', 'Who', 'From', 'When']}>
    {entries.map((entry) => (
      <tr key={entry.id}>
        <td>
          {entry.action.replaceAll('_', ' ')}
          {entry.count > 1 && ` × ${entry.count}`}
        </td>
        <td title={entry.code ?? undefined}>
          <Mark {...looks[entry.outcome]} />
        </td>
        <td className={styles['quiet']}>
          <Subject subject={entry.subject} />
        </td>
        <td className={styles['quiet']}>
          {entry.user?.name ?? 'nobody known'}
          {entry.token !== null && ` · ${entry.token.name}`}
        </td>
        <td className={styles['quiet']}>{entry.address ?? '–'}</td>
        <td className={styles['quiet']}>
          <Moment at={entry.at} />
        </td>
      </tr>
    ))}
  </SettingsTable>
);

/** Records have no name: their page says what they are. */
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

import { useQuery, queryOptions } from '@tanstack/react-query';
import { Link, useLocation, useParams } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useRef, useState } from 'react';

import { SearchInput } from '../parts/field.tsx';
import { Page } from '../parts/page.tsx';
import { Failure, Loading } from '../parts/states.tsx';
import styles from './help.module.css';
import { Markdown } from './markdown.tsx';
import { call } from '../api/call.ts';

const firstPage = 'tutorial';

/** The documentation of the version that runs; it needs no network but the service. */
export function HelpPage() {
  const { _splat: splat = '' } = useParams({ strict: false });
  const name = splat === '' ? firstPage : splat;
  const [typed, setTyped] = useState('');
  const sought = useDeferredValue(typed.trim());
  const { data, error, refetch } = useQuery(helpPageQuery(name));
  return (
    <Page
      title={data?.page.title ?? 'Help'}
      bar={<SearchInput label="Search the help" maxLength={200} value={typed} onChange={setTyped} />}
    >
      <div className={styles['page']}>
        <PageList />
        <article className={styles['text']}>
          {sought !== '' && <Results query={sought} onChosen={() => setTyped('')} />}
          {sought === '' && data === undefined && error === null && <Loading />}
          {sought === '' && error !== null && <Failure error={error} onRetry={() => void refetch()} />}
          {sought === '' && data !== undefined && <Text name={name} text={data.text} />}
        </article>
      </div>
    </Page>
  );
}

function PageList() {
  const { data: pages = [] } = useQuery(helpPagesQuery);
  return (
    <nav className={styles['list']} aria-label="Pages of the help">
      {pages.map(({ name, title }) => (
        <Link key={name} to="/help/$" params={{ _splat: name }}>
          {title}
        </Link>
      ))}
    </nav>
  );
}

function Text({ name, text }: { name: string; text: string }) {
  const { hash } = useLocation();
  useEffect(() => {
    document.getElementById(hash)?.scrollIntoView();
  }, [name, hash]);
  return <Markdown page={name} text={text} />;
}

const shownLetters = 240;

function Results({ query, onChosen }: { query: string; onChosen: () => void }) {
  const { data, error } = useQuery(helpSearchQuery(query));
  const list = useRef<HTMLOListElement>(null);
  // The best ones are the first ones, wherever the page before was scrolled to.
  useEffect(() => list.current?.scrollIntoView(), [data]);
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return <Loading rows={3} />;
  if (data.length === 0) return <p role="status">Nothing in the help has these words.</p>;
  return (
    <ol ref={list} className={styles['results']} aria-label="Sections that were found">
      {data.map(({ page, section, anchor, text }) => (
        <li key={`${page.name}#${anchor}`}>
          <Link to="/help/$" params={{ _splat: page.name }} hash={anchor} onClick={onChosen}>
            {section}
          </Link>{' '}
          <span>{page.title}</span>
          <p>{text.replace(/^#.*\n+/, '').slice(0, shownLetters)}</p>
        </li>
      ))}
    </ol>
  );
}

/** The documentation is that of the version that runs, so it does not change while the page is open. */
const always = { staleTime: Infinity };

const helpPagesQuery = queryOptions({
  ...always,
  queryKey: ['help'],
  queryFn: async ({ signal }) => (await call('GET /api/v2/help', {}, { signal })).pages,
});

const helpPageQuery = (name: string) =>
  queryOptions({
    ...always,
    queryKey: ['help', 'page', name],
    queryFn: ({ signal }) => call('GET /api/v2/help/page', { query: { name } }, { signal }),
  });

const helpSearchQuery = (query: string) =>
  queryOptions({
    ...always,
    queryKey: ['help', 'search', query],
    queryFn: async ({ signal }) =>
      (await call('GET /api/v2/help/search', { query: { query } }, { signal })).results,
  });

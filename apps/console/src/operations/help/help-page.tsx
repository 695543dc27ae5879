import { useQuery, queryOptions } from '@tanstack/react-query';
import { Link, useLocation, useParams } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useRef, useState, type ReactNode, useMemo } from 'react';
import { helpAnchorOf } from '@phalanx/protocol';
import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';

import { SearchInput } from '../../parts/field.tsx';
import { Page } from '../../parts/page.tsx';
import { Failure, Loading } from '../../parts/states.tsx';
import { Fold } from './fold.tsx';
import styles from './help.module.css';
import { plainLine, plainText } from './plain-text.ts';
import { call } from '../../api/call.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { unchanging } from '../../api/query-client.ts';

const firstPage = 'tutorial';

/** Documentation of the running version, served without access to the internet. */
export function HelpPage() {
  const { _splat: splat = '' } = useParams({ strict: false });
  const name = splat === '' ? firstPage : splat;
  const [typed, setTyped] = useState('');
  const sought = useDeferredValue(typed.trim());
  const { data, error, refetch } = useQuery(helpPageQuery(name));
  const page = data?.page;
  return (
    <Page
      title={sought === '' ? plainLine(page?.title ?? 'Help') : `Search for “${sought}”`}
      parents={name === firstPage && sought === '' ? [] : [{ label: 'Help', link: { to: '/help' } }]}
      bar={<SearchInput label="Search the help" maxLength={200} value={typed} onChange={setTyped} />}
    >
      <div className={styles['page']}>
        <Fold label="Pages of the help" className={styles['list']}>
          <PageList shown={sought === '' ? name : undefined} onChosen={() => setTyped('')} />
        </Fold>
        {sought === '' && data !== undefined && <Contents name={name} text={data.text} />}
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

interface PageListProps {
  /** Name of the page on display. */
  shown: string | undefined;
  onChosen: () => void;
}

function PageList({ shown, onChosen }: PageListProps) {
  const { data: pages = [] } = useQuery(helpPagesQuery);
  return [...Map.groupBy(pages, ({ group }) => group)].map(([group, members], place) => (
    <div key={group} role="group" aria-label={group}>
      <h2>{group}</h2>
      {place === 0 && <Link to="/start">First steps</Link>}
      {members.map(({ name, title }) => (
        <Link
          key={name}
          to="/help/$"
          params={{ _splat: name }}
          onClick={onChosen}
          data-shown={name === shown}
          {...(name === shown && { 'aria-current': 'page' })}
        >
          {plainLine(title)}
        </Link>
      ))}
    </div>
  ));
}

/** Minimum number of headings for a table of contents. */
const minHeadings = 4;

function Contents({ name, text }: { name: string; text: string }) {
  const titles = useMemo(
    () =>
      lexer(text).flatMap((token) =>
        token.type === 'heading' && token['depth'] === 2 ? [plainLine(String(token['text']))] : [],
      ),
    [text],
  );
  if (titles.length < minHeadings) return null;
  return (
    <Fold label="On this page" className={styles['contents']}>
      <h2>On this page</h2>
      {titles.map((title) => (
        <Link
          key={title}
          to="/help/$"
          params={{ _splat: name }}
          hash={helpAnchorOf(title)}
          activeOptions={{ exact: true, includeHash: true }}
        >
          {title}
        </Link>
      ))}
    </Fold>
  );
}

function Text({ name, text }: { name: string; text: string }) {
  const { hash } = useLocation();
  const top = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const place = hash === '' ? null : document.getElementById(hash);
    if (place === null) scrollToTop(top.current);
    else place.scrollIntoView();
  }, [name, hash]);
  return (
    <div ref={top}>
      <Markdown page={name} text={text} />
    </div>
  );
}

/** Scrolls the body of the page to the top, not the window. */
function scrollToTop(within: HTMLElement | null): void {
  within?.closest('[data-page-body]')?.scrollTo({ top: 0 });
}

const maxLetters = 240;

function excerptOf(markdown: string): string {
  const text = plainText(markdown.replace(/^#.*\n+/, ''));
  return text.length > maxLetters ? `${text.slice(0, maxLetters)}…` : text;
}

function Results({ query, onChosen }: { query: string; onChosen: () => void }) {
  const { data, error } = useQuery(helpSearchQuery(query));
  const list = useRef<HTMLOListElement>(null);
  // Scrolls to the best results, regardless of the previous page's position.
  useEffect(() => scrollToTop(list.current), [data]);
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return <Loading rows={3} />;
  if (data.length === 0) return <p role="status">No results.</p>;
  return (
    <ol ref={list} className={styles['results']} aria-label="Search results">
      {data.map(({ page, section, anchor, text }) => (
        <li key={`${page.name}#${anchor}`}>
          <Link to="/help/$" params={{ _splat: page.name }} hash={anchor} onClick={onChosen}>
            {section}
          </Link>{' '}
          <span>{plainLine(page.title)}</span>
          <p>{excerptOf(text)}</p>
        </li>
      ))}
    </ol>
  );
}

const helpPagesQuery = queryOptions({
  ...unchanging,
  queryKey: ['help'],
  queryFn: async ({ signal }) => (await call('GET /api/v2/help', {}, { signal })).pages,
});

const helpPageQuery = (name: string) =>
  queryOptions({
    ...unchanging,
    queryKey: ['help', 'page', name],
    queryFn: ({ signal }) => call('GET /api/v2/help/page', { query: { name } }, { signal }),
  });

const helpSearchQuery = (query: string) =>
  queryOptions({
    ...unchanging,
    queryKey: ['help', 'search', query],
    queryFn: async ({ signal }) =>
      (await call('GET /api/v2/help/search', { query: { query } }, { signal })).results,
  });

/** Page of the documentation below its title, rendered as elements: no text becomes HTML. */
function Markdown({ page, text }: { page: string; text: string }) {
  const tokens = useMemo(() => lexer(text.replace(/^# .*\n/, '')), [text]);
  return <>{all(tokens, page)}</>;
}

const all = (tokens: readonly Token[] | undefined, page: string): ReactNode[] =>
  (tokens ?? []).map((token, place) => (
    // The tokens of a page never change their order.
    // oxlint-disable-next-line react/no-array-index-key
    <One key={place} token={token} page={page} />
  ));

function One({ token, page }: { token: Token; page: string }): ReactNode {
  // The types of marked do not narrow by kind.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const one = token as MarkedToken;
  switch (one.type) {
    case 'heading':
      return <Heading depth={one.depth} title={plainLine(one.text)} parts={all(one.tokens, page)} />;
    case 'paragraph':
      return <p>{all(one.tokens, page)}</p>;
    case 'code':
      return <Example text={one.text} />;
    case 'blockquote':
      return <blockquote>{all(one.tokens, page)}</blockquote>;
    case 'list':
      return one.ordered ? <ol>{items(one, page)}</ol> : <ul>{items(one, page)}</ul>;
    case 'table':
      return <Table table={one} page={page} />;
    case 'hr':
      return <hr />;
    case 'strong':
      return <strong>{all(one.tokens, page)}</strong>;
    case 'em':
      return <em>{all(one.tokens, page)}</em>;
    case 'del':
      return <del>{all(one.tokens, page)}</del>;
    case 'codespan':
      return <code>{one.text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return (
        <Address href={one.href} page={page}>
          {all(one.tokens, page)}
        </Address>
      );
    case 'text':
      return 'tokens' in one && one.tokens !== undefined ? all(one.tokens, page) : one.text;
    case 'escape':
      return one.text;
    case 'image':
      return one.text;
    case 'html':
      // Generated pages name their source in a comment.
      return one.raw.startsWith('<!--') ? null : one.raw;
    default:
      return null;
  }
}

const Example = ({ text }: { text: string }) => (
  <div data-example="">
    {/* Long lines scroll, also by keyboard. */}
    {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
    <pre tabIndex={0} role="group" aria-label="Example">
      {text}
    </pre>
    <CopyButton text={text} label="Copy the example" />
  </div>
);

const items = (list: Tokens.List, page: string): ReactNode[] =>
  list.items.map((item) => <li key={item.raw}>{all(item.tokens, page)}</li>);

function Heading({ depth, title, parts }: { depth: number; title: string; parts: ReactNode }) {
  const id = helpAnchorOf(title);
  return depth <= 2 ? <h2 id={id}>{parts}</h2> : <h3 id={id}>{parts}</h3>;
}

const Table = ({ table: { header, rows }, page }: { table: Tokens.Table; page: string }) => (
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
  <div tabIndex={0} role="group" aria-label="Table" data-table="">
    <table>
      <thead>
        <tr>
          {header.map(({ text, tokens }) =>
            text === '' ? (
              <td key={text} />
            ) : (
              <th key={text} scope="col">
                {all(tokens, page)}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.map(({ text }) => text).join('|')}>
            {row.map(({ tokens }, column) => (
              <td key={header[column]?.text ?? column}>{all(tokens, page)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

/** The repository has other files next to the folder of the pages. */
const base = 'http://help/docs/';

/** Link within the documentation, to a web address, or plain text for other targets. */
function Address({ href, page, children }: { href: string; page: string; children: ReactNode }) {
  const url = URL.canParse(href, base + page) ? new URL(href, base + page) : undefined;
  if (url?.host === 'help') {
    if (href.startsWith('/')) return <a href={url.pathname}>{children}</a>;
    const path = url.href.startsWith(base) ? url.pathname.slice('/docs/'.length) : '';
    const isPage = href.startsWith('#') || path.endsWith('.md');
    if (!isPage || path.startsWith('decisions/')) return children;
    return (
      <Link to="/help/$" params={{ _splat: path.replace(/\.md$/, '') }} hash={url.hash.slice(1)}>
        {children}
      </Link>
    );
  }
  return url?.protocol === 'https:' ? (
    <a href={url.href} rel="noreferrer" target="_blank">
      {children}
    </a>
  ) : (
    children
  );
}

import { helpAnchorOf } from '@phalanx/protocol';
import { Link } from '@tanstack/react-router';
import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { type ReactNode, useMemo } from 'react';

import { CopyButton } from '../parts/copy.tsx';

/** A page of the documentation below its title, made of elements: nothing in it becomes HTML. */
export function Markdown({ page, text }: { page: string; text: string }) {
  const tokens = useMemo(() => lexer(text.replace(/^# .*\n/, '')), [text]);
  return <>{all(tokens, page)}</>;
}

const all = (tokens: readonly Token[] | undefined, page: string): ReactNode[] =>
  (tokens ?? []).map((token, place) => (
    // The tokens of a text never change their order.
    // oxlint-disable-next-line react/no-array-index-key
    <One key={place} token={token} page={page} />
  ));

function One({ token, page }: { token: Token; page: string }): ReactNode {
  // The types of marked leave its kinds open.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const one = token as MarkedToken;
  switch (one.type) {
    case 'heading':
      return <Heading depth={one.depth} title={plain(one.text)} parts={all(one.tokens, page)} />;
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
      // Pages say in a comment what they were made from.
      return one.raw.startsWith('<!--') ? null : one.raw;
    default:
      return null;
  }
}

const Example = ({ text }: { text: string }) => (
  <div data-example="">
    {/* Long lines are scrolled, also by the keyboard. */}
    {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
    <pre tabIndex={0} role="region" aria-label="Example">
      {text}
    </pre>
    <CopyButton text={text} label="Copy the example" />
  </div>
);

const items = (list: Tokens.List, page: string): ReactNode[] =>
  list.items.map((item) => <li key={item.raw}>{all(item.tokens, page)}</li>);

const plain = (text: string): string => text.replaceAll('`', '');

function Heading({ depth, title, parts }: { depth: number; title: string; parts: ReactNode }) {
  const id = helpAnchorOf(title);
  return depth <= 2 ? <h2 id={id}>{parts}</h2> : <h3 id={id}>{parts}</h3>;
}

const Table = ({ table: { header, rows }, page }: { table: Tokens.Table; page: string }) => (
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
  <div tabIndex={0} role="region" aria-label="Table" data-table="">
    <table>
      <thead>
        <tr>
          {header.map(({ text, tokens }) => (
            <th key={text} scope="col">
              {all(tokens, page)}
            </th>
          ))}
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

/** In the repository other files stand beside the folder of the pages. */
const base = 'http://help/docs/';

/** A link to another page stays within the console; one to elsewhere is a web address, or only text. */
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

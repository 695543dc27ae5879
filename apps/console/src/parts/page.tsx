import { Link, type LinkProps } from '@tanstack/react-router';
import { useEffect, type ReactNode } from 'react';

import styles from './page.module.css';

/** Formats a count, such as `1,000`, or `200 of 1,000` while a filter is active. */
export const countText = (shown: number, all: number): string =>
  shown === all ? all.toLocaleString('en') : `${shown.toLocaleString('en')} of ${all.toLocaleString('en')}`;

/** Parent of a page. */
export interface PageParent {
  readonly label: string;
  readonly link: LinkProps;
}

interface PageProps {
  title: string;
  /** Current part of the page, which the window title includes. */
  part?: string | undefined;
  /** Parent pages, top level first. Default: none. */
  parents?: readonly PageParent[];
  /** `PageTabs` of a page whose parts have their own addresses. */
  tabs?: ReactNode;
  /** Content beside the title. */
  aside?: ReactNode;
  actions?: ReactNode;
  /** Filters below the header. */
  bar?: ReactNode;
  children: ReactNode;
}

export function Page({ title, part, parents = [], tabs, aside, actions, bar, children }: PageProps) {
  useEffect(() => {
    document.title = `${part === undefined ? title : `${part} · ${title}`} · Phalanx`;
  }, [title, part]);
  return (
    <div className={styles['page']}>
      <header className={styles['head']}>
        {parents.length > 0 && <Parents parents={parents} />}
        <div className={styles['title']}>
          <h1 title={title}>{title}</h1>
          {aside}
        </div>
        {tabs}
        {actions !== undefined && <div className={styles['actions']}>{actions}</div>}
      </header>
      {bar !== undefined && <div className={styles['bar']}>{bar}</div>}
      {/* A scrolling region must be reachable by keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div
        className={styles['body']}
        tabIndex={0}
        role="region"
        aria-label={part === undefined ? title : `${title}: ${part}`}
        data-page-body=""
      >
        {children}
      </div>
    </div>
  );
}

const Parents = ({ parents }: { parents: readonly PageParent[] }) => (
  <nav className={styles['parents']} aria-label="Breadcrumb">
    <ol>
      {parents.map(({ label, link }) => (
        <li key={label}>
          {/* Marks the link as current only on an exact match, not on a page below it. */}
          <Link {...link} activeOptions={{ exact: true }}>
            {label}
          </Link>
        </li>
      ))}
    </ol>
  </nav>
);

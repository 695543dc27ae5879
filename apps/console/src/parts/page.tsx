import { useEffect, type ReactNode } from 'react';

import styles from './page.module.css';

/** Such as `1,000`, or `200 of 1,000` while a filter hides some. */
export const countText = (shown: number, all: number): string =>
  shown === all ? all.toLocaleString('en') : `${shown.toLocaleString('en')} of ${all.toLocaleString('en')}`;

interface PageProps {
  title: string;
  /** Stands beside the title. */
  aside?: ReactNode;
  actions?: ReactNode;
  /** Filters, below the head. */
  bar?: ReactNode;
  children: ReactNode;
}

export function Page({ title, aside, actions, bar, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Phalanx`;
  }, [title]);
  return (
    <div className={styles['page']}>
      <header className={styles['head']}>
        <div className={styles['title']}>
          <h1 title={title}>{title}</h1>
          {aside}
        </div>
        {actions !== undefined && <div className={styles['actions']}>{actions}</div>}
      </header>
      {bar !== undefined && <div className={styles['bar']}>{bar}</div>}
      {/* A part that scrolls has to be in reach of the keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={styles['body']} tabIndex={0} role="region" aria-label={title} data-page-body="">
        {children}
      </div>
    </div>
  );
}

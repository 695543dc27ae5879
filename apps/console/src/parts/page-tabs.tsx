import { Link } from '@tanstack/react-router';

import styles from './page-tabs.module.css';

export interface PageTab {
  readonly to: string;
  readonly label: string;
}

/** Tabs of a page whose parts have their own addresses. */
export const PageTabs = ({ label, tabs }: { label: string; tabs: readonly PageTab[] }) => (
  <nav className={styles['tabs']} aria-label={label}>
    {tabs.map(({ to, label: name }) => (
      <Link key={to} to={to} className={styles['tab']} activeOptions={{ exact: true, includeSearch: false }}>
        {name}
      </Link>
    ))}
  </nav>
);

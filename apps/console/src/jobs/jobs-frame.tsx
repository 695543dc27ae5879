import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { Page } from '../parts/page.tsx';
import styles from './jobs-frame.module.css';

const tabs = [
  { to: '/jobs', label: 'Jobs' },
  { to: '/jobs/schedules', label: 'Schedules' },
  { to: '/jobs/pools', label: 'Pools' },
] as const;

interface JobsFrameProps {
  title: (typeof tabs)[number]['label'];
  actions: ReactNode;
  children: ReactNode;
}

/** One of the three pages of jobs, with the way to the others. */
export const JobsFrame = ({ title, actions, children }: JobsFrameProps) => (
  <Page
    title={title}
    actions={actions}
    bar={
      <nav className={styles['tabs']} aria-label="Pages of jobs">
        {tabs.map(({ to, label }) => (
          <Link key={to} to={to} className={styles['tab']} activeOptions={{ exact: true }}>
            {label}
          </Link>
        ))}
      </nav>
    }
  >
    <div className={styles['content']}>{children}</div>
  </Page>
);

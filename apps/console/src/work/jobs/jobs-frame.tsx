import type { ReactNode } from 'react';

import { PageTabs } from '../../parts/page-tabs.tsx';
import { Page } from '../../parts/page.tsx';
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

/** Frame of the three pages about jobs, with tabs. */
export const JobsFrame = ({ title, actions, children }: JobsFrameProps) => (
  <Page title={title} actions={actions} tabs={<PageTabs label="Pages of jobs" tabs={tabs} />}>
    <div className={styles['content']}>{children}</div>
  </Page>
);

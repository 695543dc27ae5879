import { PageTabs } from '../../parts/page-tabs.tsx';

export const ReviewTabs = () => (
  <PageTabs
    label="Review"
    tabs={[
      { to: '/groups', label: 'Groups' },
      { to: '/records', label: 'Records' },
    ]}
  />
);

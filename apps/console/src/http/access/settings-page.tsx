import type { ReactNode } from 'react';

import { useMe } from '../../api/me.ts';
import { Page } from '../../parts/page.tsx';
import { PageTabs } from '../../parts/page-tabs.tsx';
import styles from './settings.module.css';

interface SettingsPageProps {
  /** Name of the tab, such as `Tokens`. */
  part: string;
  actions?: ReactNode;
  children: ReactNode;
}

/** Frame around each tab of the settings. */
export const SettingsPage = ({ part, actions, children }: SettingsPageProps) => (
  <Page title="Settings" part={part} tabs={<SettingsTabs />} actions={actions}>
    <div className={styles['page']}>{children}</div>
  </Page>
);

export function useIsAdministrator(): boolean {
  const me = useMe();
  return me?.user.role === 'admin' && me.token.scopes.includes('admin');
}

function SettingsTabs() {
  const isAdministrator = useIsAdministrator();
  return (
    <PageTabs
      label="Settings"
      tabs={[
        { to: '/settings', label: 'Account' },
        { to: '/settings/tokens', label: 'Tokens' },
        ...(isAdministrator ? [{ to: '/settings/users', label: 'Users' }] : []),
        { to: '/settings/hosts', label: 'Hosts' },
        { to: '/settings/webhooks', label: 'Webhooks' },
        { to: '/settings/usage', label: 'Usage' },
        { to: '/settings/audit', label: 'Audit log' },
      ]}
    />
  );
}

import { useQueryClient, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Host } from '@phalanx/protocol';

import { call, type Reply, session } from '../api/call.ts';
import { useMe } from '../api/me.ts';
import { useStore } from '../api/store.ts';
import { Button } from '../parts/button.tsx';
import { setSingleKeys, singleKeys } from '../parts/keys.tsx';
import { notifyFailure } from '../parts/notices.tsx';
import { Page } from '../parts/page.tsx';
import { setTheme, theme, themes } from '../shell/theme.ts';
import { InlineFailure, Loading } from '../parts/states.tsx';
import { AuditList } from './audit-list.tsx';
import styles from './settings.module.css';
import { Tokens } from './tokens.tsx';
import { Users } from './users.tsx';
import { SettingsTable } from './settings-table.tsx';
import { ShareHost } from '../devices/share-phones.tsx';
import { Mark } from '../parts/mark.tsx';
import { Age } from '../parts/time.tsx';

const themeNames = { system: 'As the system', light: 'Light', dark: 'Dark' } as const;

const names: Partial<Record<UsageRow['limit'], string>> = {
  projects: 'Projects',
  project_bytes: 'Repositories',
  capture_bytes: 'Screens of records, files of runs',
  kept_log_bytes: 'Logs of runs',
  work_bytes: 'Inputs and results',
  tokens: 'Tokens',
  devices: 'Phones',
  hosts: 'Hosts',
  runs: 'Runs at once',
};

export function SettingsPage() {
  const me = useMe();
  const isAdministrator = me?.user.role === 'admin' && me.token.scopes.includes('admin');
  const sections: readonly (readonly [id: string, name: string, section: ReactNode])[] = [
    ['you', 'You', <Account key="you" />],
    ['browser', 'This browser', <Appearance key="browser" />],
    ['tokens', 'Tokens', <Tokens key="tokens" />],
    ['webhooks', 'Webhooks', <WebhookLink key="webhooks" />],
    ['hosts', 'Hosts', <Hosts key="hosts" />],
    ...(isAdministrator ? ([['users', 'Users', <Users key="users" />]] as const) : []),
    ['usage', 'Usage', <UsageTable key="usage" />],
    ['audit', 'Audit log', <AuditList key="audit" />],
  ];
  return (
    <Page title="Settings">
      <div className={styles['page']}>
        <nav className={styles['jumps']} aria-label="Sections">
          {sections.map(([id, name]) => (
            <button key={id} type="button" onClick={() => document.getElementById(id)?.scrollIntoView()}>
              {name}
            </button>
          ))}
        </nav>
        {sections.map(([id, , section]) => (
          <div key={id} id={id} className={styles['anchor']}>
            {section}
          </div>
        ))}
      </div>
    </Page>
  );
}

function Account() {
  const me = useMe();
  const queries = useQueryClient();
  const signOut = async (): Promise<void> => {
    try {
      await call('DELETE /api/v2/session', {});
      session.end();
      queries.clear();
      window.location.assign('/devices');
    } catch (error) {
      notifyFailure('You are still signed in', error);
    }
  };
  if (me === undefined) return null;
  return (
    <section className={styles['section']}>
      <h2>You</h2>
      <div className={styles['who']}>
        <span>
          <b>{me.user.name}</b> {me.user.role === 'admin' && '· administrator'}
        </span>
        <span className={styles['quiet']}>
          signed in with the token “{me.token.name}”, with the scopes {me.token.scopes.join(', ')}
        </span>
        <Button onClick={() => void signOut()}>Sign out</Button>
      </div>
    </section>
  );
}

const WebhookLink = () => (
  <section className={styles['section']}>
    <h2>Webhooks</h2>
    <p>
      <Link to="/webhooks">Your webhooks</Link> tell other services when a run ends or a phone is away for
      long.
    </p>
  </section>
);

function Appearance() {
  const chosen = useStore(theme);
  const hasKeys = useStore(singleKeys);
  return (
    <section className={styles['section']}>
      <h2>This browser</h2>
      <div className={styles['choices']} role="radiogroup" aria-label="Theme">
        {themes.map((one) => (
          <label key={one}>
            <input type="radio" name="theme" checked={chosen === one} onChange={() => setTheme(one)} />
            {themeNames[one]}
          </label>
        ))}
        <label>
          <input type="checkbox" checked={hasKeys} onChange={({ target }) => setSingleKeys(target.checked)} />
          Use single-key shortcuts
        </label>
      </div>
    </section>
  );
}

type UsageRow = Reply<'GET /api/v2/me/usage'>['usage']['limits'][number];

function amount(value: number, unit: UsageRow['unit']): string {
  if (unit === 'count') return value.toLocaleString();
  const gigabytes = value / 2 ** 30;
  return gigabytes < 1 ? `${(value / 2 ** 20).toFixed(1)} MB` : `${gigabytes.toFixed(1)} GB`;
}

/** What is counted for the user, and how much of it there may be. */
export function UsageTable() {
  const { data, error, refetch } = useQuery({
    queryKey: ['usage'],
    queryFn: async ({ signal }) => (await call('GET /api/v2/me/usage', {}, { signal })).usage.limits,
  });
  const shown = data?.filter(({ limit, used }) => names[limit] !== undefined && used !== null);
  return (
    <section className={styles['section']}>
      <h2>What you use</h2>
      {error !== null && <InlineFailure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={4} />}
      {shown !== undefined && (
        <SettingsTable
          label="What you use"
          columns={['What', 'Used', 'Most', 'Refused since the start', 'The operator sets']}
        >
          {shown.map(({ limit, used, most, unit, refused, setting }) => (
            <tr key={limit}>
              <td>{names[limit]}</td>
              <td>{amount(used ?? 0, unit)}</td>
              <td className={styles['quiet']}>{amount(most, unit)}</td>
              <td className={styles['quiet']}>{refused.toLocaleString()}</td>
              <td>
                <code>{setting}</code>
              </td>
            </tr>
          ))}
        </SettingsTable>
      )}
    </section>
  );
}

function Hosts() {
  const [shared, setShared] = useState<Host>();
  const { data, error, refetch } = useQuery({
    queryKey: ['hosts'],
    queryFn: async ({ signal }) =>
      (await call('GET /api/v2/hosts', { query: { limit: 1000 } }, { signal })).hosts,
  });
  return (
    <section className={styles['section']}>
      <h2>Hosts</h2>
      {error !== null && <InlineFailure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={2} />}
      {data?.length === 0 && (
        <p>
          None yet. A host is the program beside the phones: <code>phalanx host</code> with a token of the
          scope “host”.
        </p>
      )}
      {data !== undefined && data.length > 0 && (
        <SettingsTable label="Hosts" columns={['Name', 'State', 'Phones', 'Owner']} hasActions>
          {data.map((host) => (
            <tr key={host.id}>
              <td>
                <Link to="/devices" search={{ host: host.id }}>
                  {host.name}
                </Link>
              </td>
              <td>
                {host.connected ? (
                  <Mark tone="ready" glyph="●" word="connected" />
                ) : (
                  <Mark tone="offline" glyph="⊘" word="away" />
                )}{' '}
                {host.since !== null && <Age since={host.since} />}
              </td>
              <td className={styles['quiet']}>
                {host.devices.ready} of {host.devices.total} ready
              </td>
              <td className={styles['quiet']}>{host.owner.name}</td>
              <td className={styles['end']}>
                <Button look="quiet" onClick={() => setShared(host)}>
                  Share…
                </Button>
              </td>
            </tr>
          ))}
        </SettingsTable>
      )}
      {shared !== undefined && <ShareHost host={shared} onClose={() => setShared(undefined)} />}
    </section>
  );
}

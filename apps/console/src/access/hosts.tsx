import type { Host } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { call } from '../api/call.ts';
import { ShareHost } from '../devices/share-phones.tsx';
import { Button } from '../parts/button.tsx';
import { Mark } from '../parts/mark.tsx';
import { InlineFailure, Loading } from '../parts/states.tsx';
import { Age } from '../parts/time.tsx';
import { SettingsTable } from './settings-table.tsx';
import styles from './settings.module.css';

export function Hosts() {
  const [shared, setShared] = useState<Host>();
  const { data, error, refetch } = useQuery({
    queryKey: ['hosts'],
    queryFn: async ({ signal }) =>
      (await call('GET /api/v2/hosts', { query: { limit: 1000 } }, { signal })).hosts,
    refetchInterval: 15_000,
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

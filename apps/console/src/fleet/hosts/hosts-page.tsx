import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Host } from '@phalanx/protocol';

import { hostsQuery } from './hosts.ts';
import { ShareHost } from '../devices/share-phones.tsx';
import { Button } from '../../parts/button.tsx';
import { Mark } from '../../parts/mark.tsx';
import { InlineFailure, Loading } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Age } from '../../parts/time.tsx';
import { SettingsPage } from '../../http/access/settings-page.tsx';

const columns: readonly Column<Host>[] = [
  {
    header: 'Name',
    width: 'grow',
    isMain: true,
    content: ({ id, name }) => (
      <Link to="/devices" search={{ host: id }}>
        {name}
      </Link>
    ),
  },
  {
    header: 'State',
    width: 'fit',
    speaksForItself: true,
    content: ({ connected, since, problem }) => (
      <>
        {connected ? (
          <Mark tone="ready" glyph="●" word="connected" />
        ) : (
          <Mark tone="offline" glyph="⊘" word="away" />
        )}{' '}
        {since !== null && <Age since={since} />} {problem}
      </>
    ),
  },
  { header: 'Phones', width: 'fit', text: ({ devices: { ready, total } }) => `${ready} of ${total} ready` },
  { header: 'Owner', width: 'grow', text: ({ owner }) => owner.name },
];

export function HostsPage() {
  const [shared, setShared] = useState<Host>();
  const { data, error, refetch } = useQuery(hostsQuery);
  return (
    <SettingsPage part="Hosts">
      {error !== null && <InlineFailure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={2} />}
      {data?.length === 0 && (
        <p>
          No hosts yet. A host is the program next to the phones: <code>phalanx host</code> with a token of
          the scope “host”.
        </p>
      )}
      {data !== undefined && data.length > 0 && (
        <Table
          label="Hosts"
          columns={columns}
          rows={data}
          keyOf={({ id }) => id}
          actions={(host) => (
            <Button look="quiet" aria-label={`Share ${host.name}`} onClick={() => setShared(host)}>
              Share…
            </Button>
          )}
        />
      )}
      {shared !== undefined && <ShareHost host={shared} onClose={() => setShared(undefined)} />}
    </SettingsPage>
  );
}

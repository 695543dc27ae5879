import type { Host, Pairing } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { encode } from 'uqr';

import { call } from '../../api/call.ts';
import { useMissingScope } from '../../api/me.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Select } from '../../parts/field.tsx';
import { hostsQuery } from '../hosts/hosts.ts';
import { InlineFailure, Loading } from '../../parts/states.tsx';
import styles from './pair-phone.module.css';

const pollMs = 1000;

export function PairButton() {
  const [isOpen, setOpen] = useState(false);
  const missing = useMissingScope('edit');
  return (
    <>
      <Button reason={missing} onClick={() => setOpen(true)}>
        Pair a phone…
      </Button>
      {isOpen && <PairDialog onClose={() => setOpen(false)} />}
    </>
  );
}

/** QR code that pairs a phone with the ADB server of a host, and the progress of the pairing. */
function PairDialog({ onClose }: { onClose: () => void }) {
  const { data: all, error } = useQuery(hostsQuery);
  const hosts = all?.filter(({ role, connected }) => role === 'owner' && connected);
  return (
    <Dialog title="Pair a phone" isOpen onClose={onClose}>
      {error !== null && <InlineFailure error={error} />}
      {hosts === undefined && error === null && <Loading rows={3} />}
      {hosts?.length === 0 && (
        <p>None of your hosts is connected. A phone is paired with a host, which runs next to the phones.</p>
      )}
      {hosts !== undefined && hosts.length > 0 && <PairWithHost hosts={hosts} />}
    </Dialog>
  );
}

interface Started {
  readonly hostId: string;
  readonly code: string;
  readonly first: Pairing;
}

function PairWithHost({ hosts }: { hosts: readonly Host[] }) {
  const [hostId, setHostId] = useState(hosts[0]?.id ?? '');
  const [started, setStarted] = useState<Started>();
  const [error, setError] = useState<unknown>(null);
  const start = async (): Promise<void> => {
    setError(null);
    setStarted(undefined);
    try {
      const { pairing, code } = await call('POST /api/v2/hosts/:id/pairings', { params: { id: hostId } });
      setStarted({ hostId, code, first: pairing });
    } catch (caught) {
      setError(caught);
    }
  };
  return (
    <>
      <p>
        For phones with Android 11 or newer, on the network of the host. On the phone: Developer options,
        Wireless debugging, “Pair device with QR code”.
      </p>
      {hosts.length > 1 && (
        <Select
          label="Host"
          value={hostId}
          options={hosts.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={setHostId}
        />
      )}
      {error !== null && <InlineFailure error={error} />}
      {started !== undefined && <Progress key={started.first.id} started={started} />}
      <div className={styles['action']}>
        <Button look={started === undefined ? 'primary' : 'plain'} onClick={() => void start()}>
          {started === undefined ? 'Show the code' : 'New code'}
        </Button>
      </div>
    </>
  );
}

const hasEnded = ({ state }: Pairing): boolean => state === 'connected' || state === 'failed';

function Progress({ started: { hostId, code, first } }: { started: Started }) {
  const { data: pairing = first, error } = useQuery({
    queryKey: ['pairing', hostId, first.id],
    queryFn: async ({ signal }) => {
      const params = { id: hostId, pairing_id: first.id };
      return (await call('GET /api/v2/hosts/:id/pairings/:pairing_id', { params }, { signal })).pairing;
    },
    refetchInterval: ({ state: { data } }) => (data !== undefined && hasEnded(data) ? false : pollMs),
    retry: false,
  });
  return (
    <>
      {pairing.state === 'waiting' && <QrCode text={code} />}
      {error !== null && <InlineFailure error={error} />}
      <p role="status" className={pairing.state === 'failed' ? styles['failed'] : undefined}>
        {pairing.serial !== null && `${pairing.serial}: `}
        {pairing.reason}
      </p>
    </>
  );
}

/** Black on white in both themes: phones can't read an inverted code. */
function QrCode({ text }: { text: string }) {
  const { data, size } = encode(text, { border: 2 });
  const path = data
    .flatMap((line, y) => line.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('');
  return (
    <svg
      className={styles['code']}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      role="img"
      aria-label="QR code for the phone"
    >
      <path d={path} />
    </svg>
  );
}

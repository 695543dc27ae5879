import type { Device } from '@phalanx/protocol';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';

import { call } from '../../api/call.ts';
import { useMe, useMissingScope } from '../../api/me.ts';
import { isReady, devicesQuery } from '../../fleet/devices/device.tsx';
import { notifyFailure } from '../../parts/notices.tsx';

/** Idle time after which the lease of the phone is released, in ms. */
const idleMs = 60_000;

/** Lease of a phone. A lease taken here is released when the component unmounts. */
export function useLease(device: Device) {
  const { device_id: id, lease } = device;
  const me = useMe();
  const queries = useQueryClient();
  const missing = useMissingScope('launch');
  const [isBusy, setBusy] = useState(false);
  const hasTaken = useRef(false);
  const isMine = lease !== null && lease.user.id === me?.user.id;
  const change = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    setBusy(true);
    await work().catch((error: unknown) => notifyFailure(what, error));
    await queries.invalidateQueries({ queryKey: devicesQuery.queryKey });
    setBusy(false);
  };
  /** Takes the lease. Resolves with whether the caller holds it. */
  const take = async (): Promise<boolean> => {
    await change('Could not take control', async () => {
      await call('POST /api/v2/devices/:id/lease', { params: { id }, body: { duration_ms: idleMs } });
      hasTaken.current = true;
    });
    return hasTaken.current;
  };
  const end = (): Promise<void> => {
    hasTaken.current = false;
    return change('Could not end control', () =>
      call('DELETE /api/v2/devices/:id/lease', { params: { id } }),
    );
  };
  useEffect(
    () => () => {
      if (hasTaken.current)
        void call('DELETE /api/v2/devices/:id/lease', { params: { id } }).catch(() => undefined);
    },
    [id],
  );
  const reason =
    missing ??
    (device.role === 'view' ? `${device.owner.name} shared this phone with you as view-only.` : undefined) ??
    (isReady(device) ? undefined : device.reason) ??
    (lease === null || isMine ? undefined : `${lease.user.name} controls this phone.`);
  return { isMine, isBusy, reason, take, end };
}

import type { Device } from '@phalanx/protocol';
import type { QueryClient } from '@tanstack/react-query';

import { liveEvents } from '../api/live-events.ts';

/** How long changes are gathered before the page is drawn again. */
const gatherMs = 100;

/** Keeps what was read as the service's events say. Returns the function that ends it. */
export function followChanges(queries: QueryClient): () => void {
  const devices = new Map<string, Device>();
  const stale = new Set<string>();
  let timer: number | undefined;

  const flush = (): void => {
    timer = undefined;
    patchDevices(queries, devices);
    devices.clear();
    for (const name of stale) void queries.invalidateQueries({ queryKey: [name] });
    stale.clear();
  };
  const soon = (): void => {
    timer ??= window.setTimeout(flush, gatherMs);
  };
  const ends = [
    liveEvents.on('device', ({ device }) => {
      devices.set(device.device_id, device);
      soon();
    }),
    liveEvents.on('run', ({ run }) => {
      stale.add('runs');
      void queries.invalidateQueries({ queryKey: ['run', run.run_id] });
      soon();
    }),
    liveEvents.on('record', () => {
      stale.add('records');
      soon();
    }),
    liveEvents.onReset(() => void queries.invalidateQueries()),
  ];
  return () => {
    window.clearTimeout(timer);
    for (const end of ends) end();
  };
}

function patchDevices(queries: QueryClient, changed: ReadonlyMap<string, Device>): void {
  if (changed.size === 0) return;
  queries.setQueryData<Device[]>(['devices'], (known) => {
    if (known === undefined) return known;
    const ids = new Set(known.map((device) => device.device_id));
    const added = [...changed.values()].filter((device) => !ids.has(device.device_id));
    return [...known.map((device) => changed.get(device.device_id) ?? device), ...added];
  });
}

import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';

import type { BenchProcess } from '../harness/bench-process.ts';
import type { Stage } from '../harness/stage.ts';
import { ask, newToken, type Api } from '../http/api.ts';
import { writeScrcpyServer } from '../phones/bare-video.ts';

export interface ServerWithPhones {
  readonly api: Api;
  readonly server: BenchProcess;
  readonly host: BenchProcess;
  readonly deviceIds: readonly string[];
}

const Devices = Type.Object({
  devices: Type.Array(Type.Object({ device_id: Type.String(), state: Type.String() })),
});

const pollMs = 250;
/** Time in ms for sandboxes and compilers to start after the phones are ready. */
const settleMs = 8000;

/**
 * Starts the product's server and host in separate processes, with simulated phones in a third one, all ready and
 * idle.
 */
export async function startServerWithPhones(
  stage: Stage,
  count: number,
  {
    helper = 'auto',
    scrcpy = false,
    filmMb,
  }: { helper?: 'auto' | 'resident'; scrcpy?: boolean; filmMb?: number } = {},
): Promise<ServerWithPhones> {
  const api = { url: '', token: newToken() };
  const server = await stage.start('server');
  api.url = await server.call('listen', { dataDir: await stage.folder(), token: api.token }, Type.String());
  const phones = await stage.start('phones');
  const ports = await phones.call('start', { count, roundTripMs: 0, nodes: 0 }, Type.Array(Type.Integer()));
  const host = await stage.start('host');
  const dataDir = await stage.folder();
  const scrcpyServer = scrcpy ? await writeScrcpyServer(dataDir) : '';
  await host.call('start', { ...api, dataDir, ports, helper, scrcpyServer, filmMb }, Type.Unknown());
  const deviceIds = await whenReady(api, count);
  await sleep(settleMs);
  return { api, server, host, deviceIds };
}

async function whenReady(api: Api, count: number): Promise<string[]> {
  for (;;) {
    const { devices } = await ask(api, '/api/v2/devices?limit=1000', Devices);
    const ready = devices.filter(({ state }) => state === 'ready');
    if (ready.length === count) return ready.map(({ device_id }) => device_id);
    await sleep(pollMs);
  }
}

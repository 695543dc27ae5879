import { Type } from 'typebox';

import type { BenchProcess } from '../harness/bench-process.ts';
import type { Stage } from '../harness/stage.ts';

export interface FanOutLoop {
  server: BenchProcess;
  /** Sends messages and waits for replies. Resolves with the time in ms. */
  run(input: { message: string; messages: number; answers: number }): Promise<number>;
}

/** Starts a bare `ws` server with connected simulated hosts. It stores runs of `devices`. Default: none. */
export async function startFanOutLoop(stage: Stage, hostCount: number, devices = 0): Promise<FanOutLoop> {
  const server = await stage.start('ws-baseline');
  if (devices > 0) await server.call('storeRuns', { folder: await stage.folder(), devices }, Type.Unknown());
  const url = await server.call('listen', {}, Type.String());
  const hosts = await stage.start('hosts');
  const fleet = { hosts: hostCount, devicesPerHost: 1, heartbeats: false };
  await hosts.call('connect', { url, token: 'none', ...fleet }, Type.Unknown());
  return { server, run: (input) => server.call('fanOut', input, Type.Number()) };
}

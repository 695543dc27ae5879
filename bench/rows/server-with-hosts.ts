import { Type } from 'typebox';

import type { BenchProcess } from '../harness/bench-process.ts';
import type { Stage } from '../harness/stage.ts';
import { newToken, type Api } from '../http/api.ts';

export interface ServerWithHosts {
  api: Api;
  server: BenchProcess;
  hosts: BenchProcess;
}

/** Starts the product's server in one process and all simulated hosts in another, connected and ready. */
export async function startServerWithHosts(
  stage: Stage,
  fleet: { hosts: number; devicesPerHost: number },
): Promise<ServerWithHosts> {
  const token = newToken();
  const server = await stage.start('server', ['--expose-gc']);
  const url = await server.call('listen', { dataDir: await stage.folder(), token }, Type.String());
  const hosts = await stage.start('hosts');
  await hosts.call('connect', { url, token, ...fleet, heartbeats: true }, Type.Unknown());
  return { api: { url, token }, server, hosts };
}

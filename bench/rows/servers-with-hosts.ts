import { Type } from 'typebox';

import { migrateDatabase } from '../../apps/server/src/storage/db/database.ts';
import { startNats } from '../../apps/server/src/testing/engines/nats-engine.ts';
import { startPostgres } from '../../apps/server/src/testing/engines/postgres-engine.ts';
import type { BenchProcess } from '../harness/bench-process.ts';
import type { RowResult } from '../harness/row.ts';
import { onStage, type Stage } from '../harness/stage.ts';
import { newToken, type Api } from '../http/api.ts';

/** Several servers in separate processes, on one PostgreSQL with synchronous commits and one NATS. */
export interface ServersWithHosts {
  /** Access to each of the servers. */
  apis: Api[];
  hosts: BenchProcess;
  /** Process that executes the same statements on a separate database, beside the servers'. */
  raw: BenchProcess;
}

/** Limits above the needs of any row. */
const limits = {
  PHALANX_MAX_DEVICES: '20000',
  PHALANX_MAX_RUNS: '20000',
  PHALANX_MAX_HOSTS: '1000',
  PHALANX_MAX_CONNECTIONS_PER_ADDRESS: '10000',
};

/** Settings of an absent S3 server: no row stores captures or large packs. */
const nobodysS3 = {
  PHALANX_S3_ENDPOINT: 'http://127.0.0.1:1',
  PHALANX_S3_BUCKET: 'bench',
  PHALANX_S3_ACCESS_KEY: 'nobody',
  PHALANX_S3_SECRET_KEY: 'nobody-nobody',
  PHALANX_LOG_LEVEL: 'silent',
};

export async function startServersWithHosts(
  stage: Stage,
  count: number,
  fleet: { hosts: number; devicesPerHost: number },
): Promise<ServersWithHosts> {
  const [postgres, nats] = await Promise.all([startPostgres({ isDurable: true }), startNats()]);
  if (postgres === undefined || nats === undefined)
    throw new Error('this row needs PostgreSQL and NATS: apt-get install postgresql nats-server');
  stage.defer(() => Promise.all([postgres.stop(), nats.stop()]));
  const url = `${postgres.url}/postgres`;
  await migrateDatabase({ url });
  const token = newToken();
  const settings = {
    ...limits,
    ...nobodysS3,
    PHALANX_DATABASE_URL: url,
    PHALANX_NATS_URL: nats.url,
    PHALANX_PUBLIC_URL: 'http://127.0.0.1:1',
  };
  const apis: Api[] = [];
  for (let no = 0; no < count; no += 1) {
    const server = await stage.start('server');
    const dataDir = await stage.folder();
    apis.push({ token, url: await server.call('listen', { dataDir, token, settings }, Type.String()) });
  }
  const [first, ...others] = apis.map((api) => api.url);
  const hosts = await stage.start('hosts');
  const address = { url: first, otherUrls: others, token };
  await hosts.call('connect', { ...address, ...fleet, heartbeats: true }, Type.Unknown());
  const raw = await stage.start('postgres-baseline');
  await raw.call('open', { url: postgres.url }, Type.Unknown());
  return { apis, hosts, raw };
}

/**
 * Measures a rate of three servers, which must reach half of the raw engine's, and the rate of one server, to show
 * how it scales.
 */
export async function compareServers(
  stage: Stage,
  unit: string,
  measureWith: (stage: Stage, servers: number) => Promise<{ figure: number; baseline: number }>,
): Promise<RowResult> {
  const alone = await onStage(undefined, stage.options, (inner) => measureWith(inner, 1));
  return {
    ...(await measureWith(stage, 3)),
    unit,
    targets: [{ of: 'ratio', bound: 'at least', value: 0.5 }],
    notes: [
      `one server: ${alone.figure.toFixed(0)} ${unit}, a ratio of ${(alone.figure / alone.baseline).toFixed(2)}`,
    ],
  };
}

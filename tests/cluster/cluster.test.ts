import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { accessRoutes, deviceRoutes, launchRoutes, runRoutes } from '@phalanx/protocol';
import { until } from '@phalanx/host/testing/until';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { afterEach, expect, test, vi } from 'vitest';

import { SeededRandom } from '../support/seeded-random.ts';
import { BalancedApi } from './balanced-api.ts';
import { Cluster, type ClusterServer } from './cluster.ts';
import { Faults } from './faults.ts';
import { AuditEntries } from './loads/audit-entries.ts';
import { Launches } from './loads/launches.ts';
import { Leases } from './loads/leases.ts';
import type { Load } from './loads/load.ts';
import { Records } from './loads/records.ts';
import { Saves } from './loads/saves.ts';
import { Tokens } from './loads/tokens.ts';
import { SimulatedHost } from './simulated-host.ts';

/** Ten minutes are `CLUSTER_SECONDS=600`. */
const seconds = Number(process.env['CLUSTER_SECONDS'] ?? 90);
const seed = Number(process.env['CLUSTER_SEED'] ?? 20_261);
const hostCount = 5;
const phonesPerHost = 4;
const isHere = !/postgresql|nats-server|radosgw|s3/.test(process.env['TEST_WITHOUT'] ?? '');

vi.setConfig({ testTimeout: 300_000 + 3 * 1000 * seconds, hookTimeout: 120_000 });

const Devices = Compile(
  Type.Object({ devices: Type.Array(Type.Object({ device_id: Type.String(), state: Type.String() })) }),
);
const ends: ReadonlySet<string> = new Set(['completed', 'stopped', 'failed', 'timed_out', 'lost']);
const Token = Compile(Type.Object({ secret: Type.String(), token: Type.Object({ id: Type.String() }) }));
const RunReply = Compile(Type.Object({ run: Type.Object({ status: Type.String() }) }));

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

interface Fleet {
  cluster: Cluster;
  api: BalancedApi;
  hosts: SimulatedHost[];
  random: SeededRandom;
}

async function start(): Promise<Fleet> {
  const random = new SeededRandom(seed);
  const cluster = await Cluster.start(3, {
    PHALANX_REQUESTS_PER_SECOND: '10000',
    PHALANX_MAX_RUNS_PER_DEVICE: '1000',
  });
  cleanUps.push(() => cluster.stop());
  const hosts = Array.from({ length: hostCount }, (_, no) => {
    const serials = Array.from({ length: phonesPerHost }, (__, at) => `phone-${no}-${at}`);
    return new SimulatedHost({ urls: cluster.urls, token: cluster.token, serials, random });
  });
  cleanUps.push(() => Promise.all(hosts.map((host) => host.stop())));
  return { cluster, api: new BalancedApi(cluster.urls, cluster.token, random), hosts, random };
}

async function statesOf(api: BalancedApi): Promise<Map<string, string>> {
  const { body } = await api.call('GET', `${deviceRoutes.list.path}?limit=1000`);
  const devices = Devices.Check(body) ? body.devices : [];
  return new Map(devices.map(({ device_id: id, state }) => [id, state]));
}

const readyDevices = ({ api }: Fleet): Promise<Map<string, string>> =>
  until(
    'all phones to be ready',
    () => statesOf(api),
    (states) =>
      states.size === hostCount * phonesPerHost &&
      [...states.values()].every((state) => state === 'ready' || state === 'busy'),
  );

async function beginLoads({ api, hosts, random }: Fleet, deviceIds: readonly string[]): Promise<Load[]> {
  const launches = new Launches({ api, hosts, deviceIds, random });
  return [
    launches,
    new Records({ api, hosts, random }),
    await Saves.begin({ api, random }),
    new Tokens({ api, random }),
    await Leases.begin({ api, deviceIds, random }),
    new AuditEntries({ api, launchIds: () => launches.started.map(({ launchId }) => launchId) }),
  ];
}

async function countStatuses({ api, hosts }: Fleet): Promise<Map<string, number>> {
  const statuses = new Map<string, number>();
  for (const runId of hosts.flatMap(({ begun }) => [...begun.keys()])) {
    const { body } = await api.call('GET', runRoutes.get.path.replace(':id', runId));
    const status = RunReply.Check(body) ? body.run.status : JSON.stringify(body);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  return statuses;
}

/** Resolves when the hosts have nothing left to say, and every caller's and host's story has been held against the others'. */
async function settle(fleet: Fleet, loads: readonly Load[]): Promise<void> {
  const { cluster, api, hosts } = fleet;
  await Promise.all(loads.map((load) => load.end()));
  await readyDevices(fleet);
  for (const host of hosts) host.finish();
  await until(
    'the hosts to be rid of everything',
    async () => hosts.every(({ isQuiet }) => isQuiet),
    Boolean,
  );
  for (const load of loads) await load.check();
  const violations = [...loads, ...hosts].flatMap((one) => one.violations);
  expect([...violations, ...cluster.explain(violations)]).toEqual([]);
  const statuses = await countStatuses(fleet);
  const counts = Object.assign({}, ...loads.map((load) => load.counts));
  console.log(`runs ${JSON.stringify([...statuses])}, ${JSON.stringify(counts)}, ${api.retries} retries`);
  expect([...statuses.keys()].filter((status) => !ends.has(status))).toEqual([]);
}

const metricsOf = async ({ url }: ClusterServer, token: string): Promise<string> => {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  return await response.text();
};

/** One server that is to stand still, and callers of the others. */
function besideOne({ cluster, random }: Pick<Fleet, 'cluster' | 'random'>): {
  frozen: ClusterServer;
  api: BalancedApi;
} {
  const [frozen, ...others] = cluster.servers;
  assert(frozen);
  const urls = others.map(({ url }) => url);
  return { frozen, api: new BalancedApi(urls, cluster.token, random) };
}

test.skipIf(!isHere)(
  'each server names itself in its figures, and keeps no secret in its environment',
  async () => {
    const { cluster } = await start();
    for (const [at, server] of cluster.servers.entries()) {
      const figures = await until(
        'NATS to be reached',
        () => metricsOf(server, cluster.token),
        (text) => text.includes('phalanx_bus_connected 1'),
      );
      expect(figures).toContain(`phalanx_server_info{node="server-${at + 1}"} 1`);
      expect(figures).toMatch(/^phalanx_invalidations_age_seconds \d/m);
      const environment = await readFile(`/proc/${server.program.pid}/environ`, 'utf8');
      expect(environment).toContain('PHALANX_NODE_NAME=');
      expect(environment).not.toMatch(/PHALANX_(NATS|DATABASE)_URL|PHALANX_ADMIN_TOKEN|SECRET_KEY/);
    }
  },
);

test.skipIf(!isHere)('phones of a server that stands still are offline six seconds later', async () => {
  const { cluster, hosts, random } = await start();
  await Promise.all(hosts.map((host) => host.stop()));
  const { frozen, api } = besideOne({ cluster, random });
  const host = new SimulatedHost({
    ...{ urls: [frozen.url], token: cluster.token, serials: ['phone-alone'], random },
    silenceMs: 60_000,
  });
  cleanUps.push(() => host.stop());
  const online = async (): Promise<string[]> =>
    [...(await statesOf(api)).values()].filter((state) => state !== 'offline');
  await until('that phone alone to be there', online, (states) => states.join() === 'ready');
  cluster.freeze(frozen);
  await pause(6000);
  const after = await online();
  cluster.thaw(frozen);
  expect(after).toEqual([]);
  await until('the phone to be back', online, (states) => states.join() === 'ready');
});

const launchOn = (deviceId: string): object => ({
  ...{ device_id: deviceId, launch_id: randomUUID(), command: 'start', code: 'console.log(1)' },
});

test.skipIf(!isHere)(
  'a launch on a phone of a server that stands still is begun by the server that its host goes to',
  async () => {
    const { cluster, hosts, random } = await start();
    await Promise.all(hosts.map((host) => host.stop()));
    const { frozen, api } = besideOne({ cluster, random });
    const urls = [frozen.url];
    const host = new SimulatedHost({ urls, token: cluster.token, serials: ['phone-alone'], random });
    cleanUps.push(() => host.stop());
    const ready = async (): Promise<string[]> =>
      [...(await statesOf(api))].filter(([, state]) => state === 'ready').map(([id]) => id);
    const [deviceId = ''] = await until('that phone alone to be ready', ready, ({ length }) => length === 1);
    cluster.freeze(frozen);
    urls.splice(0, 1, ...api.urls);
    const reply = await api.attempt('POST', launchRoutes.launchDirect.path, launchOn(deviceId));
    cluster.thaw(frozen);
    expect(reply).toMatchObject({ status: 200 });
    await until(
      'the run to begin',
      async () => host.begun.size,
      (size) => size === 1,
    );
  },
);

test.skipIf(!isHere)(
  'a database that does not answer is told at once, and is used again as soon as it does',
  async () => {
    const { cluster, api } = await start();
    const [{ url } = { url: '' }] = cluster.servers;
    const ask = async (path: string): Promise<[number, string | null]> => {
      const headers = { authorization: `Bearer ${cluster.token}` };
      const { status, headers: told } = await fetch(`${url}${path}`, {
        headers,
        signal: AbortSignal.timeout(4000),
      });
      return [status, told.get('retry-after')];
    };
    const cables = cluster.servers.flatMap(({ cables: [toDatabase] }) => toDatabase ?? []);
    for (const cable of cables) cable.silence();
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask(deviceRoutes.list.path)));
    const readiness = await ask('/readyz');
    for (const cable of cables) cable.carryOn();
    expect(answers).toEqual(answers.map(() => [503, '1']));
    expect(readiness[0]).toBe(503);
    await until(
      'the database to be used again',
      () => ask(deviceRoutes.list.path),
      ([status]) => status === 200,
    );
    await until(
      'the phones to be back',
      () => statesOf(api),
      (states) => states.size > 0 && ![...states.values()].includes('offline'),
    );
  },
);

test.skipIf(!isHere)('launches at the others are taken while a server is replaced', async () => {
  const fleet = await start();
  const { cluster, random } = fleet;
  const deviceIds = [...(await readyDevices(fleet)).keys()];
  const { frozen: replaced, api } = besideOne({ cluster, random });
  const replacing = cluster.replace(replaced);
  const replies = await Promise.all(
    Array.from({ length: 100 }, async () => {
      await pause(random.below(4000));
      return api.attempt('POST', launchRoutes.launchDirect.path, launchOn(random.pick(deviceIds)));
    }),
  );
  await replacing;
  expect(replies.filter((reply) => reply?.status !== 200)).toEqual([]);
});

test.skipIf(!isHere)('a server that stood still does not let in who was revoked meanwhile', async () => {
  const { cluster, random } = await start();
  const { frozen, api } = besideOne({ cluster, random });
  const { body } = await api.call('POST', accessRoutes.createToken.path, { name: 'for a moment' });
  assert(Token.Check(body));
  const ask = async (): Promise<number | undefined> =>
    (await api.attempt('GET', deviceRoutes.list.path, undefined, { url: frozen.url, token: body.secret }))
      ?.status;
  await until('the token to work', ask, (status) => status === 200);
  cluster.freeze(frozen);
  await api.call('DELETE', accessRoutes.deleteToken.path.replace(':id', body.token.id));
  await pause(2000);
  const answer = ask();
  await pause(200);
  cluster.thaw(frozen);
  // It may also say that it can't tell just now.
  expect(await answer).not.toBe(200);
  const later = await until('an answer', ask, (status) => status !== undefined);
  expect(later).toBe(401);
});

test.skipIf(!isHere)(
  'servers are replaced one after another, and no run and no caller is disturbed',
  async () => {
    const fleet = await start();
    const { cluster, api } = fleet;
    const loads = await beginLoads(fleet, [...(await readyDevices(fleet)).keys()]);
    for (const server of cluster.servers) {
      await pause(2000);
      await cluster.replace(server);
    }
    await pause(2000);
    await settle(fleet, loads);
    const { body } = await api.call('GET', `${runRoutes.list.path}?status=lost`);
    expect(body['runs']).toEqual([]);
  },
);

test.skipIf(!isHere)(
  'three servers lose nothing and do nothing twice, whatever happens to them and their engines',
  async () => {
    const fleet = await start();
    const loads = await beginLoads(fleet, [...(await readyDevices(fleet)).keys()]);
    const faults = new Faults(fleet.cluster, seed);
    await pause(1000 * seconds);
    await faults.end();
    console.log(`seed ${seed}: ${faults.history.join(', ')}`);
    await settle(fleet, loads);
    expect(loads[0]?.counts['launches']).toBeGreaterThan(seconds / 2);
  },
);

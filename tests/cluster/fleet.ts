import assert from 'node:assert/strict';
import { Device, deviceRoutes } from '@phalanx/protocol';
import { until } from '@phalanx/host/testing/until';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { onTestFinished } from 'vitest';

import { SeededRandom } from '../support/seeded-random.ts';
import { BalancedApi } from './balanced-api.ts';
import { Cluster, type ClusterServer } from './cluster.ts';
import { SimulatedHost } from './simulated-host.ts';

export const seed = Number(process.env['CLUSTER_SEED'] ?? 20_261);
const hostCount = 5;
const phonesPerHost = 4;
export const isHere = !/postgresql|nats-server|radosgw|s3/.test(process.env['TEST_WITHOUT'] ?? '');

const Devices = Compile(Type.Object({ devices: Type.Array(Device) }));

export interface Fleet {
  cluster: Cluster;
  api: BalancedApi;
  hosts: SimulatedHost[];
  random: SeededRandom;
}

/** Starts three servers. */
export const startCluster = (): Promise<Cluster> =>
  Cluster.start(3, { PHALANX_REQUESTS_PER_SECOND: '10000', PHALANX_MAX_RUNS_PER_DEVICE: '1000' });

/** Starts three servers, and hosts with phones at each of them. All end with the test. */
export async function startFleet(): Promise<Fleet> {
  const cluster = await startCluster();
  onTestFinished(() => cluster.stop());
  return joinFleet(cluster);
}

/** Starts hosts with phones, which end with the test. */
export function joinFleet(cluster: Cluster): Fleet {
  const random = new SeededRandom(seed);
  const hosts = Array.from({ length: hostCount }, (_, no) => {
    const serials = Array.from({ length: phonesPerHost }, (__, at) => `phone-${no}-${at}`);
    return new SimulatedHost({ urls: cluster.urls, token: cluster.token, serials, random });
  });
  onTestFinished(async () => void (await Promise.all(hosts.map((host) => host.stop()))));
  return { cluster, api: new BalancedApi(cluster.urls, cluster.token, random), hosts, random };
}

/** Returns the states of these hosts' phones, by device ID. */
export async function statesOf({ api, hosts }: Pick<Fleet, 'api' | 'hosts'>): Promise<Map<string, string>> {
  const { body } = await api.call('GET', `${deviceRoutes.list.path}?limit=1000`);
  const ids = new Set<string | undefined>(hosts.map(({ id }) => id));
  const devices = Devices.Check(body) ? body.devices.filter(({ host }) => ids.has(host?.id)) : [];
  return new Map(devices.map(({ device_id: id, state }) => [id, state]));
}

export const readyDevices = (fleet: Fleet): Promise<Map<string, string>> =>
  until(
    'all phones to be ready',
    () => statesOf(fleet),
    (states) =>
      states.size === hostCount * phonesPerHost &&
      [...states.values()].every((state) => state === 'ready' || state === 'busy'),
  );

/** Selects one server to freeze, and callers of the others. */
export function besideOne(cluster: Cluster): Pick<Fleet, 'api' | 'random'> & { frozen: ClusterServer } {
  const [frozen, ...others] = cluster.servers;
  assert(frozen);
  const random = new SeededRandom(seed);
  const urls = others.map(({ url }) => url);
  return { frozen, random, api: new BalancedApi(urls, cluster.token, random) };
}

import { setTimeout as pause } from 'node:timers/promises';
import { runRoutes } from '@phalanx/protocol';
import { until } from '@phalanx/host/testing/until';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { expect, test, vi } from 'vitest';

import { Faults } from './faults.ts';
import { type Fleet, isHere, readyDevices, seed, startFleet } from './fleet.ts';
import { AuditEntries } from './loads/audit-entries.ts';
import { Launches } from './loads/launches.ts';
import { Leases } from './loads/leases.ts';
import type { Load } from './loads/load.ts';
import { Records } from './loads/records.ts';
import { Saves } from './loads/saves.ts';
import { Tokens } from './loads/tokens.ts';

/**
 * Duration in seconds, enough for every kind of fault. `npm run test:servers` runs longer; ten minutes are
 * `CLUSTER_SECONDS=600`.
 */
const seconds = Number(process.env['CLUSTER_SECONDS'] ?? 45);

vi.setConfig({ testTimeout: 300_000 + 3 * 1000 * seconds });

const ends: ReadonlySet<string> = new Set(['completed', 'stopped', 'failed', 'timed_out', 'lost']);
const RunReply = Compile(Type.Object({ run: Type.Object({ status: Type.String() }) }));

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

/** Resolves when the hosts have nothing left to send and the records of all callers and hosts were compared. */
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
  console.log(
    `runs ${JSON.stringify([...statuses])}, ${JSON.stringify(counts)}, ${api.retried.length} retries`,
  );
  expect([...statuses.keys()].filter((status) => !ends.has(status))).toEqual([]);
}

test.skipIf(!isHere)(
  'servers are replaced one after another, and no run and no caller is disturbed',
  async () => {
    const fleet = await startFleet();
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
    const fleet = await startFleet();
    const loads = await beginLoads(fleet, [...(await readyDevices(fleet)).keys()]);
    const faults = new Faults(fleet.cluster, seed);
    await pause(1000 * seconds);
    // Each of them takes longer on a loaded machine.
    await until(
      'every kind of fault to come up',
      async () => faults.missing,
      ({ length }) => length === 0,
    );
    await faults.end();
    console.log(`seed ${seed}: ${faults.history.join(', ')}`);
    await settle(fleet, loads);
    expect(loads[0]?.counts['launches']).toBeGreaterThan(seconds / 2);
  },
);

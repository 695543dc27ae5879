import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { accessRoutes, deviceRoutes, launchRoutes } from '@phalanx/protocol';
import { until } from '@phalanx/host/testing/until';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';

import type { Cluster, ClusterServer } from './cluster.ts';
import { besideOne, isHere, joinFleet, readyDevices, startCluster, statesOf } from './fleet.ts';
import { SimulatedHost } from './simulated-host.ts';

const Token = Compile(Type.Object({ secret: Type.String(), token: Type.Object({ id: Type.String() }) }));

const metricsOf = async ({ url }: ClusterServer, token: string): Promise<string> => {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  return await response.text();
};

let cluster: Cluster;
beforeAll(async () => {
  if (isHere) cluster = await startCluster();
});
afterAll(() => cluster?.stop());
// The previous test has undone its faults.
beforeEach(async () => {
  if (!isHere) return;
  for (const { url } of cluster.servers)
    await until(
      `${url} to serve`,
      async () => (await fetch(`${url}/readyz`)).status,
      (status) => status === 200,
    );
});

test.skipIf(!isHere)(
  'each server names itself in its figures, and keeps no secret in its environment',
  async () => {
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
  const { frozen, api, random } = besideOne(cluster);
  const host = new SimulatedHost({
    urls: [frozen.url],
    token: cluster.token,
    serials: ['phone-alone'],
    random,
    silenceMs: 60_000,
  });
  onTestFinished(() => host.stop());
  const online = async (): Promise<string[]> =>
    [...(await statesOf({ api, hosts: [host] })).values()].filter((state) => state !== 'offline');
  await until('that phone alone to be there', online, (states) => states.join() === 'ready');
  cluster.freeze(frozen);
  await pause(6000);
  const after = await online();
  cluster.thaw(frozen);
  expect(after).toEqual([]);
  await until('the phone to be back', online, (states) => states.join() === 'ready');
});

const launchOn = (deviceId: string): object => ({
  device_id: deviceId,
  launch_id: randomUUID(),
  command: 'start',
  code: 'console.log(1)',
});

test.skipIf(!isHere)(
  'a launch on a phone of a server that stands still is begun by the server that its host goes to',
  async () => {
    const { frozen, api, random } = besideOne(cluster);
    const urls = [frozen.url];
    const host = new SimulatedHost({ urls, token: cluster.token, serials: ['phone-alone'], random });
    onTestFinished(() => host.stop());
    const ready = async (): Promise<string[]> =>
      [...(await statesOf({ api, hosts: [host] }))]
        .filter(([, state]) => state === 'ready')
        .map(([id]) => id);
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
    const fleet = joinFleet(cluster);
    await readyDevices(fleet);
    const [{ url } = { url: '' }] = cluster.servers;
    const ask = async (path: string): Promise<[number, string | null]> => {
      const headers = { authorization: `Bearer ${cluster.token}` };
      const { status, headers: told } = await fetch(`${url}${path}`, {
        headers,
        // Ends the wait for a reply that never arrives.
        signal: AbortSignal.timeout(30_000),
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
    await readyDevices(fleet);
  },
);

test.skipIf(!isHere)('launches at the others are taken while a server is replaced', async () => {
  const deviceIds = [...(await readyDevices(joinFleet(cluster))).keys()];
  const { frozen: replaced, api, random } = besideOne(cluster);
  const replacing = cluster.replace(replaced);
  const replies = await Promise.all(
    Array.from({ length: 100 }, async () => {
      await pause(random.below(4000));
      return api.attempt('POST', launchRoutes.launchDirect.path, launchOn(random.pick(deviceIds)));
    }),
  );
  await replacing;
  const refused = replies.filter((reply) => reply !== undefined && reply.status !== 200);
  expect([...refused, ...api.retried]).toEqual([]);
});

test.skipIf(!isHere)('a server that stood still does not let in who was revoked meanwhile', async () => {
  const { frozen, api } = besideOne(cluster);
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
  // A server may also reply that it can't know at the moment.
  expect(await answer).not.toBe(200);
  const later = await until('an answer', ask, (status) => status !== undefined);
  expect(later).toBe(401);
});

/**
 * Compares `POST /devices/automationLogs` for one device with 100 stored entries, sent to three servers at once, with
 * the statement that reads them, on the same number of bare connections to the same PostgreSQL from one process.
 *
 * Fair because both return one batch of the same size, requested each time by the same index. The other work of the
 * servers (HTTP, token, authorization) is their cost. The work that they save the engine (combined requests, only for
 * entries that they have not read yet) is their purpose. All processes share the same processors.
 */
import { Type } from 'typebox';

import { interleave } from '../harness/rounds.ts';
import type { Row } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { rateOf, WorkDone } from '../harness/work-meter.ts';
import { launchOnEach, listDeviceIds } from '../http/api.ts';
import { compareServers, startServersWithHosts } from './servers-with-hosts.ts';

const entryCount = 100;
const connections = 16;
const durationMs = 1500;
const rounds = 5;
const path = '/api/v2/devices/automationLogs';
const fleet = { hosts: 1, devicesPerHost: 1 };

async function measureWith(stage: Stage, servers: number): Promise<{ figure: number; baseline: number }> {
  const { apis, hosts, raw } = await startServersWithHosts(stage, servers, fleet);
  const [api] = apis;
  if (api === undefined) throw new Error('there is no server');
  const [launch] = await launchOnEach(api, await listDeviceIds(api));
  await hosts.call('prepareLogs', { min: entryCount, max: entryCount, window: 1 }, Type.Unknown());
  await hosts.call('sendLogs', { durationMs: 0 }, Type.Unknown());
  await raw.call('makeFleet', fleet, Type.Unknown());
  await raw.call('prepareLogs', { min: entryCount, max: entryCount }, Type.Unknown());
  await raw.call('append', { statements: 1 }, WorkDone);
  const body = { device_id: launch?.device_id, automation_ids: [launch?.launch_id] };
  const load = await stage.start('http-load');
  const ofEach = Math.ceil(connections / servers);
  const poll = ({ url, token }: typeof api): Promise<WorkDone> =>
    load.call(
      'repeat',
      { url: new URL(path, url).href, token, body, connections: ofEach, durationMs },
      WorkDone,
    );
  return interleave({
    rounds,
    figure: async () => (await Promise.all(apis.map(poll))).reduce((sum, done) => sum + rateOf(done), 0),
    baseline: async () => rateOf(await raw.call('read', { connections, durationMs }, WorkDone)),
  });
}

export const clusterPoll: Row = {
  name: 'cluster-poll',
  title: 'automationLogs of three servers on PostgreSQL, 100 entries a reply',
  against: 'the same statement on bare connections',
  measure: (stage) => compareServers(stage, 'requests/s', measureWith),
};

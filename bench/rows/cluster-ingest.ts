/**
 * Compares console entries that 300 hosts send to three servers, counted until the last one is acknowledged and thus
 * stored, with a loop on one bare connection to the same PostgreSQL, with synchronous commits, that stores such
 * entries by the same statement from batches in memory.
 *
 * Fair because both write the same rows under the same fence, and the loop has every advantage: no sockets, no JSON,
 * no acknowledgements, and a batch of every run in each statement. All processes share the same processors.
 */
import { Type } from 'typebox';

import { interleave } from '../harness/rounds.ts';
import type { Row } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { rateOf, WorkDone } from '../harness/work-meter.ts';
import { launchOnEach, listDeviceIds } from '../http/api.ts';
import { compareServers, startServersWithHosts } from './servers-with-hosts.ts';

const fleet = { hosts: 300, devicesPerHost: 1 };
const sizes = { min: 100, max: 200 };
/** Maximum number of unacknowledged frames of a host. */
const window = 4;
const durationMs = 2500;
const statements = 6;
const rounds = 3;

async function measureWith(stage: Stage, servers: number): Promise<{ figure: number; baseline: number }> {
  const { apis, hosts, raw } = await startServersWithHosts(stage, servers, fleet);
  const [api] = apis;
  if (api === undefined) throw new Error('there is no server');
  await launchOnEach(api, await listDeviceIds(api));
  await hosts.call('prepareLogs', { ...sizes, window }, Type.Unknown());
  await raw.call('makeFleet', fleet, Type.Unknown());
  await raw.call('prepareLogs', sizes, Type.Unknown());
  return interleave({
    rounds,
    figure: async () => rateOf(await hosts.call('sendLogs', { durationMs }, WorkDone)),
    baseline: async () => rateOf(await raw.call('append', { statements }, WorkDone)),
  });
}

export const clusterIngest: Row = {
  name: 'cluster-ingest',
  title: 'log entries of 300 hosts, stored in PostgreSQL by three servers and acknowledged',
  against: 'a loop that stores the same rows by the same statement',
  measure: (stage) => compareServers(stage, 'entries/s', measureWith),
};

/**
 * Compares the time from sending a `launchDirectAutomation` request until the caller receives the run's first line
 * from the event stream, with default server and host, and with a server and a host that do not confine their
 * processes, as on a machine that does not support it.
 *
 * Fair because both pairs have the same defaults and one simulated phone each, and their launches alternate, one at a
 * time, when the sandbox pool is full again. The starts of the processes that fill the pool are the most expensive
 * part of the confinement, but no launch waits for them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';

import { interleave } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { listDeviceIds, newToken } from '../http/api.ts';
import { LogFollower } from '../http/log-follower.ts';
import { measureLaunch, phoneIsReady } from './first-line.ts';

const rounds = 60;
/** Time in ms for the pool to replace the used sandbox with a ready one. */
const refillMs = 300;

export const confinement: Row = {
  name: 'confinement',
  title: 'from the launch request to the first log line, with every process confined',
  against: 'the same with nothing confined',
  async measure(stage: Stage): Promise<RowResult> {
    const figure = await startLaunches(stage, false);
    const baseline = await startLaunches(stage, true);
    const medians = await interleave({ rounds, figure, baseline });
    return { ...medians, unit: 'ms', targets: [{ of: 'ratio', bound: 'at most', value: 1.1 }], notes: [] };
  },
};

/** Starts a separate service. Returns the function that measures one launch, in ms. */
async function startLaunches(stage: Stage, unconfined: boolean): Promise<() => Promise<number>> {
  const token = newToken();
  const server = await stage.start('server');
  const listening = { dataDir: await stage.folder(), token, unconfined };
  const url = await server.call('listen', listening, Type.String());
  const host = await stage.start('host');
  await host.call('start', { url, token, dataDir: await stage.folder(), unconfined }, Type.Unknown());
  const api = { url, token };
  await phoneIsReady(api);
  const [deviceId = ''] = await listDeviceIds(api);
  const follower = await LogFollower.open(api);
  return async () => {
    const { totalMs } = await measureLaunch(api, deviceId, (launchId) => follower.whenLogged(launchId));
    await sleep(refillMs);
    return totalMs;
  };
}

/**
 * Compares one `launchAutomation` on 1,000 devices of 200 hosts at three servers, from the request to the reply 200,
 * which means that every device has acknowledged, with its statements, executed one by one on one bare connection to
 * the same PostgreSQL, with synchronous commits. The notes contain the same for one device, for 10,000 devices, and
 * for one server.
 *
 * Fair because both store the same rows under the same locks, and the bare connection does nothing else: no code
 * lookup, no messages to hosts, no other servers. All processes share the same processors.
 */
import { Type } from 'typebox';

import { interleave } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import { onStage, type Stage } from '../harness/stage.ts';
import { listDeviceIds, sampleCode } from '../http/api.ts';
import { createProject } from '../projects/push-project.ts';
import { startServersWithHosts } from './servers-with-hosts.ts';

const fleet = { hosts: 200, devicesPerHost: 50 };
const sizes = [1, 1000, 10_000] as const;
const rounds = 5;

type Size = (typeof sizes)[number];
type Measured = Record<Size, { figure: number; baseline: number }> & { lateCount: number };

/**
 * On a busy machine, hosts may exceed the time that the service waits for them; the round then counts with that time.
 */
const isLate = /launch_not_acknowledged|devices_unavailable/;

async function measureWith(stage: Stage, servers: number): Promise<Measured> {
  const { apis, hosts, raw } = await startServersWithHosts(stage, servers, fleet);
  const [api] = apis;
  if (api === undefined) throw new Error('there is no server');
  await raw.call('makeFleet', fleet, Type.Unknown());
  const { id } = await createProject(api);
  const load = await stage.start('http-load');
  const main = {
    method: 'PUT',
    path: `/api/v2/automation/file/${id}`,
    body: { path: 'main.ts', content: sampleCode },
  };
  await load.call('sequence', { ...api, requests: [main] }, Type.Unknown());
  const deviceIds = await listDeviceIds(api);
  let lateCount = 0;
  const launch = async (count: Size): Promise<number> => {
    const body = { device_ids: deviceIds.slice(0, count), automationId: id, command: 'start' };
    const requests = [{ method: 'POST', path: '/api/v2/devices/launchAutomation', body }];
    const startedAt = performance.now();
    const took = load.call('sequence', { ...api, requests }, Type.Array(Type.Number()));
    const [tookMs] = await took.catch((error: unknown) => {
      if (!isLate.test(String(error))) throw error;
      lateCount += 1;
      return [performance.now() - startedAt];
    });
    await hosts.call('endRuns', {}, Type.Unknown());
    return tookMs ?? Number.NaN;
  };
  const measure = (count: Size): Promise<{ figure: number; baseline: number }> =>
    interleave({
      rounds,
      figure: () => launch(count),
      baseline: () => raw.call('launch', { devices: count }, Type.Number()),
    });
  const measured = { 1: await measure(1), 1000: await measure(1000), 10000: await measure(10_000) };
  return { ...measured, lateCount };
}

const note = (servers: string, measured: Measured): string => {
  const ofSizes = sizes.map((size) => {
    const { figure, baseline } = measured[size];
    return `${size} devices ${figure.toFixed(1)} ms (${(figure / baseline).toFixed(1)} times ${baseline.toFixed(1)} ms)`;
  });
  const late =
    measured.lateCount === 0 ? '' : `; ${measured.lateCount} launches were refused because hosts were late`;
  return `${servers}: ${ofSizes.join(', ')}${late}`;
};

export const clusterLaunch: Row = {
  name: 'cluster-launch',
  title: 'one launchAutomation on 1,000 devices of three servers, until it is answered',
  against: 'the same statements on one bare connection',
  async measure(stage: Stage): Promise<RowResult> {
    const alone = await onStage(undefined, stage.options, (inner) => measureWith(inner, 1));
    const three = await measureWith(stage, 3);
    return {
      ...three[1000],
      unit: 'ms',
      targets: [{ of: 'ratio', bound: 'at most', value: 5 }],
      notes: [note('three servers', three), note('one server', alone)],
    };
  },
};

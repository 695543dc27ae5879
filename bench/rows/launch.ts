/**
 * Compares one `launchAutomation` request for 1,000 devices of 20 hosts, from the request to the reply 200, which
 * means that every device has acknowledged, with a bare `ws` server that sends each of its 20 sockets a message for
 * each of its 50 devices, with the size of a launch on one device, counts the 1,000 replies, and stores the rows of
 * the runs by bare statements: one transaction before sending and one after the replies, each synced to the disk
 * before it continues.
 *
 * Fair because the same simulated hosts reply to both, over real sockets and from another process, with one message
 * per device, and both store the same rows in the same tables. The loop does not parse the replies; the service also
 * bundles the project. The service saves messages, because it sends one launch per host, not one per device. The
 * notes contain the loop without rows, and with exactly the messages that the service sends. The project is saved
 * before each launch, so that its code must be bundled and sent; a launch of unchanged code is a note.
 */
import { Type } from 'typebox';

import { interleave, median } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { listDeviceIds, sampleCode } from '../http/api.ts';
import { createProject } from '../projects/push-project.ts';
import { startFanOutLoop } from './fan-out-loop.ts';
import { launchMessage } from './launch-message.ts';
import { startServerWithHosts } from './server-with-hosts.ts';

const hostCount = 20;
const deviceCount = 1000;
const devicesPerHost = deviceCount / hostCount;
const rounds = 7;

export const launch: Row = {
  name: 'launch',
  title: 'one launchAutomation on 1,000 devices of 20 hosts, until it is answered',
  against: 'a bare ws loop that stores the same rows: a message and an answer for each device',
  async measure(stage: Stage): Promise<RowResult> {
    const fleet = { hosts: hostCount, devicesPerHost };
    const { api, server, hosts } = await startServerWithHosts(stage, fleet);
    const { id } = await createProject(api);
    const load = await stage.start('http-load');
    const request = async (method: string, path: string, body: object): Promise<number> => {
      const requests = [{ method, path: `/api/v2/${path}`, body }];
      const [tookMs] = await load.call('sequence', { ...api, requests }, Type.Array(Type.Number()));
      return tookMs ?? Number.NaN;
    };
    const body = { device_ids: await listDeviceIds(api), automationId: id, command: 'start' };
    const cpuMs: number[] = [];
    const start = async (): Promise<number> => {
      const before = await server.cpuMs();
      const elapsedMs = await request('POST', 'devices/launchAutomation', body);
      cpuMs.push((await server.cpuMs()) - before);
      await hosts.call('endRuns', {}, Type.Unknown());
      return elapsedMs;
    };
    const loop = await startFanOutLoop(stage, hostCount, deviceCount);
    const storesNothing = await startFanOutLoop(stage, hostCount);
    const perDevice = { message: await launchMessage(sampleCode, 1), messages: deviceCount };
    const perHost = { message: await launchMessage(sampleCode, devicesPerHost), messages: hostCount };
    const again: number[] = [];
    const perHostMs: number[] = [];
    const messagesMs: number[] = [];
    const loopCpuMs: number[] = [];
    const medians = await interleave({
      rounds,
      figure: async () => {
        const content = `${sampleCode}console.log('${crypto.randomUUID()}');\n`;
        await request('PUT', `automation/file/${id}`, { path: 'main.ts', content });
        const elapsedMs = await start();
        again.push(await start());
        return elapsedMs;
      },
      baseline: async () => {
        perHostMs.push(await storesNothing.run({ ...perHost, answers: deviceCount }));
        messagesMs.push(await storesNothing.run({ ...perDevice, answers: deviceCount }));
        const before = await loop.server.cpuMs();
        const elapsedMs = await loop.run({ ...perDevice, answers: deviceCount });
        loopCpuMs.push((await loop.server.cpuMs()) - before);
        await loop.server.call('endRuns', {}, Type.Unknown());
        return elapsedMs;
      },
    });
    return {
      ...medians,
      unit: 'ms',
      targets: [{ of: 'ratio', bound: 'at most', value: 2 }],
      notes: [
        `the same launched again, its code known to all hosts: ${median(again).toFixed(0)} ms`,
        `processor time of a launch: ${median(cpuMs).toFixed(0)} ms against ${median(loopCpuMs).toFixed(0)} ms, a ratio of ${(median(cpuMs) / median(loopCpuMs)).toFixed(2)}`,
        `a launch message for one device has ${Buffer.byteLength(perDevice.message)} bytes, for ${devicesPerHost} it has ${Buffer.byteLength(perHost.message)}`,
        `the loop without rows: ${median(messagesMs).toFixed(1)} ms, with ${hostCount} messages and ${deviceCount} answers ${median(perHostMs).toFixed(1)} ms`,
      ],
    };
  },
};

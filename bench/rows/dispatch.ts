/**
 * Compared: one launch on 1,000 devices of 20 hosts, from `dispatch()` of the server to the acknowledgement of the last
 * device; and a bare `ws` server that sends each of its 20 sockets a message for each of its 50 devices, of the bytes
 * that a launch on one device has, and counts the 1,000 answers.
 *
 * Fair because the same simulated hosts answer both, over real sockets and from another process, each device with a
 * message of its own. The loop neither reads the answers nor stores anything; the service stores the launch and every
 * acknowledgement, on disk, before it counts. What the service saves is that a launch goes once to a host, not once
 * to a device: the second note has the loop for exactly the messages that the service sends.
 */
import { Type } from 'typebox';

import { interleave, median } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { sampleCode } from '../http/api.ts';
import { startFanOutLoop } from './fan-out-loop.ts';
import { launchMessage } from './launch-message.ts';

const hostCount = 20;
const deviceCount = 1000;
const devicesPerHost = deviceCount / hostCount;
const rounds = 7;

export const dispatch: Row = {
  name: 'dispatch',
  title: 'one launch on 1,000 devices of 20 hosts, until all have acknowledged',
  against: 'a bare ws loop: a message and an answer for each device',
  async measure(stage: Stage): Promise<RowResult> {
    const server = await stage.start('dispatch');
    const url = await server.call('listen', { dataDir: await stage.folder() }, Type.String());
    const hosts = await stage.start('hosts');
    const fleet = { hosts: hostCount, devicesPerHost, heartbeats: true };
    await hosts.call('connect', { url, token: 'any', ...fleet }, Type.Unknown());
    const loop = await startFanOutLoop(stage, hostCount);
    const perDevice = {
      message: await launchMessage(sampleCode, 1),
      messages: deviceCount,
      answers: deviceCount,
    };
    const perHost = { message: await launchMessage(sampleCode, devicesPerHost), messages: hostCount };
    const perHostMs: number[] = [];
    const medians = await interleave({
      rounds,
      figure: async () => {
        const elapsedMs = await server.call('launch', {}, Type.Number());
        await hosts.call('endRuns', {}, Type.Unknown());
        return elapsedMs;
      },
      baseline: async () => {
        perHostMs.push(await loop.run({ ...perHost, answers: deviceCount }));
        return loop.run(perDevice);
      },
    });
    return {
      ...medians,
      unit: 'ms',
      targets: [{ of: 'ratio', bound: 'at most', value: 3 }],
      notes: [
        `a launch message for one device has ${Buffer.byteLength(perDevice.message)} bytes, for ${devicesPerHost} it has ${Buffer.byteLength(perHost.message)}`,
        `the loop with ${hostCount} messages and ${deviceCount} answers: ${median(perHostMs).toFixed(1)} ms`,
      ],
    };
  },
};

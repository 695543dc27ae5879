/**
 * Compared: 1,000 `launchDirectAutomation` requests at the same moment, one for each device of 20 hosts, until the last
 * has its 200, which means that its device has acknowledged; and a bare `ws` server that sends a message of the same
 * bytes for each device and counts the 1,000 answers.
 *
 * Not quite fair, on purpose: it is what a caller without a launch on many devices does. Against the loop stand 1,000
 * HTTP requests, compilations, and stored launches: so the row is only watched, and the row `dispatch` has the target.
 * It becomes the fan-out row when `requestsOf` makes one `launchAutomation` of all devices. Connections of callers and
 * hosts are open before the measuring begins; the load, the hosts and the server are processes of their own.
 */
import { Type } from 'typebox';

import { interleave } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { directLaunch, launchPath, listDeviceIds, sampleCode } from '../http/api.ts';
import { startFanOutLoop } from './fan-out-loop.ts';
import { launchMessage } from './launch-message.ts';
import { startServerWithHosts } from './server-with-hosts.ts';

const hostCount = 20;
const deviceCount = 1000;
const rounds = 3;

/** The requests that start a run on each of the devices. */
const requestsOf = (deviceIds: readonly string[]) => ({
  path: launchPath,
  bodies: deviceIds.map(directLaunch),
});

export const launch: Row = {
  name: 'launch',
  title: '1,000 launchDirectAutomation requests at once, one a device, until all are answered',
  against: 'a bare ws loop: a message and an answer for each device',
  async measure(stage: Stage): Promise<RowResult> {
    const fleet = { hosts: hostCount, devicesPerHost: deviceCount / hostCount };
    const { api, server, hosts } = await startServerWithHosts(stage, fleet);
    const deviceIds = await listDeviceIds(api);
    const load = await stage.start('http-load');
    const loop = await startFanOutLoop(stage, hostCount);
    const message = await launchMessage(sampleCode, 1);
    let cpuMs = 0;
    const medians = await interleave({
      rounds,
      figure: async () => {
        const { path, bodies } = requestsOf(deviceIds);
        const input = { url: new URL(path, api.url).href, token: api.token, bodies };
        const before = await server.cpuMs();
        const elapsedMs = await load.call('together', input, Type.Number());
        cpuMs = (await server.cpuMs()) - before;
        await hosts.call('endRuns', {}, Type.Unknown());
        return elapsedMs;
      },
      baseline: () => loop.run({ message, messages: deviceCount, answers: deviceCount }),
    });
    return {
      ...medians,
      unit: 'ms',
      targets: [],
      notes: [`processor time of the server in the last round: ${cpuMs.toFixed(0)} ms`],
    };
  },
};

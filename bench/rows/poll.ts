/**
 * Compares `POST /devices/automationLogs` for one device with 100 stored entries, which requests all of them
 * repeatedly without `from`, with a bare node:http server that reads the same request, hashes its Authorization
 * header with SHA-256, compares the hash, and sends the same body.
 *
 * Fair because the same client requests both over the same number of persistent connections, the bodies are
 * identical, and the parts missing in the baseline (routing, checking the body, finding the device, reading the
 * store) are exactly the permitted cost of the service. The baseline sends a prepared buffer; the last note contains
 * the same server when it encodes the text for every reply, as a service must whose replies are stored as text. The
 * client is a separate process and parses only the length.
 */
import { Type } from 'typebox';
import { Value } from 'typebox/value';

import { interleave, median } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { cpuNote, meterWork, WorkDone } from '../harness/work-meter.ts';
import { askText, launchOnEach, listDeviceIds, type Api } from '../http/api.ts';
import { startServerWithHosts } from './server-with-hosts.ts';

const entryCount = 100;
const connections = 16;
const durationMs = 1500;
const rounds = 5;
const path = '/api/v2/devices/automationLogs';

const Logs = Type.Object({ logs: Type.Array(Type.Unknown()) });

export const poll: Row = {
  name: 'poll',
  title: 'automationLogs, 100 entries a reply',
  against: 'bare node:http that hashes the token and sends the same bytes',
  async measure(stage: Stage): Promise<RowResult> {
    const { api, server, hosts } = await startServerWithHosts(stage, { hosts: 1, devicesPerHost: 1 });
    const [launch] = await launchOnEach(api, await listDeviceIds(api));
    if (launch === undefined) throw new Error('the device is missing');
    await hosts.call('prepareLogs', { min: entryCount, max: entryCount, window: 1 }, Type.Unknown());
    await hosts.call('sendLogs', { durationMs: 0 }, Type.Unknown());
    const body = { device_id: launch.device_id, automation_ids: [launch.launch_id] };
    const reply = await readReply(api, body);
    const bare = await stage.start('http-baseline');
    const bareUrl = await bare.call('listen', { token: api.token, reply, asText: false }, Type.String());
    const text = await stage.start('http-baseline');
    const textUrl = await text.call('listen', { token: api.token, reply, asText: true }, Type.String());
    const load = await stage.start('http-load');
    const pollAt = (url: string) => () => {
      const input = { url: new URL(path, url).href, token: api.token, body, connections, durationMs };
      return load.call('repeat', input, WorkDone);
    };
    const figure = meterWork(server, pollAt(api.url));
    const baseline = meterWork(bare, pollAt(bareUrl));
    const encoding = meterWork(text, pollAt(textUrl));
    const encodingRates: number[] = [];
    const medians = await interleave({
      rounds,
      figure: () => figure.run(),
      baseline: async () => {
        encodingRates.push(await encoding.run());
        return baseline.run();
      },
    });
    return {
      ...medians,
      unit: 'requests/s',
      targets: [{ of: 'ratio', bound: 'at least', value: 0.4 }],
      notes: [
        `a reply has ${Buffer.byteLength(reply).toLocaleString('en-US')} bytes; ${connections} connections`,
        cpuNote('request', figure, baseline),
        `the bare server when it encodes the text for every reply: ${median(encodingRates).toFixed(0)} requests/s, ${encoding.cpuMicrosEach().toFixed(2)} µs`,
      ],
    };
  },
};

async function readReply(api: Api, body: object): Promise<string> {
  const reply = await askText(api, path, body);
  const { logs } = Value.Parse(Logs, JSON.parse(reply));
  if (logs.length !== entryCount) throw new Error(`${logs.length} entries instead of ${entryCount}`);
  return reply;
}

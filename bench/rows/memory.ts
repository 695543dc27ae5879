/**
 * Compares the growth of the server's resident memory with 10,000 idle devices on 200 connected hosts, whose
 * heartbeats name 50 devices each every 2 seconds, with that of a bare `ws` server that accepts, parses and
 * acknowledges the same messages of the same number of hosts and keeps nothing.
 *
 * Fair because both run in separate processes, are filled by the same simulated hosts at the same time, and are
 * measured in the same way: resident bytes after a full garbage collection that returns free pages to the system,
 * minus those before the first host connected; the median of several readings, after some rounds of heartbeats have
 * let the heap settle. The free pages that V8 keeps depend on earlier work, not on the devices; the notes contain
 * them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Type, type Static } from 'typebox';

import type { BenchProcess } from '../harness/bench-process.ts';
import { median } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { newToken } from '../http/api.ts';

const fleet = { hosts: 200, devicesPerHost: 50, heartbeats: true };
const deviceCount = fleet.hosts * fleet.devicesPerHost;
/** Four rounds of heartbeats, in ms; then readings over two more rounds. */
const settleMs = 20_000;
const readings = 6;
const betweenReadingsMs = 2000;

const Memory = Type.Object({ rss: Type.Number(), heap: Type.Number(), uncollectedRss: Type.Number() });
type Memory = Static<typeof Memory>;
const flags = ['--expose-gc'];

export const memory: Row = {
  name: 'memory',
  title: 'resident memory that 10,000 idle devices on 200 hosts add',
  against: 'a bare ws server with 200 sockets and the same heartbeats',
  async measure(stage: Stage): Promise<RowResult> {
    const token = newToken();
    const server = await stage.start('server', flags);
    const url = await server.call('listen', { dataDir: await stage.folder(), token }, Type.String());
    const bare = await stage.start('ws-baseline', flags);
    const bareUrl = await bare.call('listen', {}, Type.String());
    const [ours, theirs] = await Promise.all([
      fillAndRead(stage, server, { url, token }),
      fillAndRead(stage, bare, { url: bareUrl, token }),
    ]);
    return {
      figure: ours.rssPerDevice,
      baseline: theirs.rssPerDevice,
      unit: 'bytes/device',
      targets: [{ of: 'figure', bound: 'at most', value: 3072 }],
      notes: [`server: ${ours.text}`, `bare ws server: ${theirs.text}`],
    };
  },
};

async function fillAndRead(stage: Stage, server: BenchProcess, address: { url: string; token: string }) {
  const read = (): Promise<Memory> => server.call('memory', {}, Memory);
  const before = await read();
  const hosts = await stage.start('hosts');
  await hosts.call('connect', { ...address, ...fleet }, Type.Unknown());
  await sleep(settleMs);
  const later: Memory[] = [];
  for (let reading = 0; reading < readings; reading += 1) {
    await sleep(betweenReadingsMs);
    later.push(await read());
  }
  return summary(before, {
    rss: median(later.map(({ rss }) => rss)),
    heap: median(later.map(({ heap }) => heap)),
    uncollectedRss: Math.max(...later.map(({ uncollectedRss }) => uncollectedRss)),
  });
}

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

function summary(before: Memory, after: Memory): { rssPerDevice: number; text: string } {
  const heapPerDevice = ((after.heap - before.heap) / deviceCount).toFixed(0);
  return {
    rssPerDevice: (after.rss - before.rss) / deviceCount,
    text: `${megabytes(before.rss)} before, ${megabytes(after.rss)} with the hosts (at most ${megabytes(after.uncollectedRss)} before a collection); heap ${heapPerDevice} bytes a device`,
  };
}

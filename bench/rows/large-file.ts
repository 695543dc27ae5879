/**
 * Compares the latency of `GET /devices`, requested 200 times per second, while a file of 50 MB is written to a
 * project and read back, with the latency without the file. The figure is the 99th percentile of a round.
 *
 * Fair because nothing else differs. The requests keep their rate regardless of pending replies. A separate process
 * sends and reads the file and prepares its body before the measurement, but all of them share the processors of one
 * machine: the delay of the server's event loop shows what the service itself blocked.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Type, type Static } from 'typebox';

import type { BenchProcess } from '../harness/bench-process.ts';
import { percentile } from '../harness/percentile.ts';
import { interleave, median } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { createProject } from '../projects/push-project.ts';
import { startServerWithHosts } from './server-with-hosts.ts';

const sizeBytes = 50 * 1024 * 1024;
const perSecond = 200;
const quietMs = 3000;
const rounds = 5;

const Delay = Type.Object({ p99Ms: Type.Number(), maxMs: Type.Number() });
const Moved = Type.Object({ inMs: Type.Number(), outMs: Type.Number() });
const Latencies = Type.Array(Type.Number());

interface Observed extends Static<typeof Delay> {
  latencyP99Ms: number;
  cpuMs: number;
}

export const largeFile: Row = {
  name: 'large-file',
  title: 'GET /devices, 200 a second, while a file of 50 MB goes in and out: 99th percentile',
  against: 'the same without the file',
  async measure(stage: Stage): Promise<RowResult> {
    const { api, server } = await startServerWithHosts(stage, { hosts: 1, devicesPerHost: 10 });
    const { id } = await createProject(api);
    const [others, mover] = [await stage.start('http-load'), await stage.start('large-file')];
    await mover.call('prepare', { sizeBytes }, Type.Unknown());
    const file = { ...api, url: new URL(`/api/v2/automation/file/${id}`, api.url).href };
    const observe = async (work: () => Promise<unknown>): Promise<Observed> => {
      const url = new URL('/api/v2/devices', api.url).href;
      await others.call('startPace', { ...api, url, perSecond }, Type.Unknown());
      return observeServer(server, others, work);
    };
    const moved: Static<typeof Moved>[] = [];
    const busy: Observed[] = [];
    const quiet: Observed[] = [];
    const medians = await interleave({
      rounds,
      figure: async () => {
        const path = `data/${crypto.randomUUID()}.txt`;
        const input = { ...file, path };
        busy.push(await observe(async () => moved.push(await mover.call('move', input, Moved))));
        return busy.at(-1)?.latencyP99Ms ?? Number.NaN;
      },
      baseline: async () => {
        quiet.push(await observe(() => sleep(quietMs)));
        return quiet.at(-1)?.latencyP99Ms ?? Number.NaN;
      },
    });
    return { ...medians, unit: 'ms', targets: [], notes: notesOf(busy, quiet, moved) };
  },
};

async function observeServer(
  server: BenchProcess,
  others: BenchProcess,
  work: () => Promise<unknown>,
): Promise<Observed> {
  const before = await server.cpuMs();
  await server.call('watchDelay', {}, Type.Unknown());
  await work();
  const delay = await server.call('readDelay', {}, Delay);
  const latencies = await others.call('stopPace', {}, Latencies);
  return { ...delay, latencyP99Ms: percentile(latencies, 0.99), cpuMs: (await server.cpuMs()) - before };
}

/** Formats the notes. The first value of each is a warm-up. */
function notesOf(
  busy: readonly Observed[],
  quiet: readonly Observed[],
  moved: readonly Static<typeof Moved>[],
): string[] {
  const text = (values: readonly number[]): string => `${median(values.slice(1)).toFixed(1)} ms`;
  const delay = (observed: readonly Observed[]): string =>
    `99th percentile ${text(observed.map((one) => one.p99Ms))}, longest ${text(observed.map((one) => one.maxMs))}`;
  return [
    `delay of the server's event loop with the file: ${delay(busy)}`,
    `without: ${delay(quiet)}`,
    `the file goes in in ${text(moved.map((one) => one.inMs))}, out in ${text(moved.map((one) => one.outMs))}`,
    `processor time of the server meanwhile: ${text(busy.map((one) => one.cpuMs))}`,
  ];
}

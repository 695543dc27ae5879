/**
 * Compares the time from sending a `launchDirectAutomation` request until the caller receives the run's first line
 * from the event stream, with the product's server and host in separate processes and a simulated phone, with the sum
 * of the indispensable parts, each measured alone in the same round: the code is compiled and loaded into a sandbox
 * of the warm pool, its first line leaves the isolate, a message crosses a WebSocket and another one returns, the
 * launch and its start are committed to the server's disk, and the line is stored.
 *
 * Fair because the parts are the product's own components or the same engine with the same settings, one after the
 * other as in a launch. The difference is the cost of the service: HTTP, the round trip to the compile process,
 * checks, and waits between the parts. The runs come one at a time, when the sandbox pool is full again, as when a
 * person tries something out. Some of them are polled instead, without a pause: such a caller takes processor time
 * from the sandbox, which the parts have for themselves, so they are only a note.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';

import { median } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { ask, directLaunch, launchPath, listDeviceIds, newToken, sampleCode, type Api } from '../http/api.ts';
import { LogFollower } from '../http/log-follower.ts';

const runCount = 60;
/** Time in ms for the pool to replace the used sandbox with a ready one. */
const refillMs = 500;
const readyTimeoutMs = 30_000;

const Logs = Type.Object({ logs: Type.Array(Type.Unknown()) });
const Devices = Type.Object({ devices: Type.Array(Type.Object({ state: Type.String() })) });
const SandboxParts = Type.Object({ compileMs: Type.Number(), loadMs: Type.Number(), lineMs: Type.Number() });
const StoreParts = Type.Object({ commitMs: Type.Number(), appendMs: Type.Number() });

interface Parts {
  compileMs: number;
  loadMs: number;
  lineMs: number;
  socketMs: number;
  commitMs: number;
  appendMs: number;
}

interface LaunchTimes {
  totalMs: number;
  answeredMs: number;
}

interface Measured {
  launches: readonly LaunchTimes[];
  polledMs: readonly number[];
  parts: readonly Parts[];
}

export const firstLine: Row = {
  name: 'first-line',
  title: 'from the launch request to the first log line through the API',
  against: 'the sum of its parts alone',
  async measure(stage: Stage): Promise<RowResult> {
    const token = newToken();
    const server = await stage.start('server');
    const url = await server.call('listen', { dataDir: await stage.folder(), token }, Type.String());
    const host = await stage.start('host');
    await host.call('start', { url, token, dataDir: await stage.folder() }, Type.Unknown());
    const api = { url, token };
    await phoneIsReady(api);
    const [deviceId = ''] = await listDeviceIds(api);
    const measureParts = await startParts(stage);
    const follower = await LogFollower.open(api);
    const followed = (launchId: string) => follower.whenLogged(launchId);
    const polled = (launchId: string) => pollForLine(api, deviceId, launchId);
    await measureLaunch(api, deviceId, followed);
    await measureParts();
    const launches: LaunchTimes[] = [];
    const polledMs: number[] = [];
    const parts: Parts[] = [];
    for (let run = 0; run < runCount; run += 1) {
      launches.push(await measureLaunch(api, deviceId, followed));
      await sleep(refillMs);
      if (run % 4 !== 0) continue;
      parts.push(await measureParts());
      polledMs.push((await measureLaunch(api, deviceId, polled)).totalMs);
      await sleep(refillMs);
    }
    return summary({ launches, polledMs, parts });
  },
};

function summary({ launches, polledMs, parts: all }: Measured): RowResult {
  const part = (name: keyof Parts): number => median(all.map((parts) => parts[name]));
  const text = (ms: number): string => `${ms.toFixed(1)} ms`;
  const [compile, load, line, socket, commit, append] = [
    part('compileMs'),
    part('loadMs'),
    part('lineMs'),
    part('socketMs'),
    part('commitMs'),
    part('appendMs'),
  ];
  return {
    figure: median(launches.map((launch) => launch.totalMs)),
    baseline: compile + load + line + socket + 2 * commit + append,
    unit: 'ms',
    targets: [{ of: 'ratio', bound: 'at most', value: 1.5 }],
    notes: [
      `the launch itself is answered after ${text(median(launches.map((launch) => launch.answeredMs)))}`,
      `asked for with automationLogs every millisecond instead, it comes after ${text(median(polledMs))}`,
      `parts: compiled ${text(compile)}, into a warm sandbox ${text(load)}, first line out of the isolate ${text(line)}, there and back on a socket ${text(socket)}, commits 2 × ${text(commit)}, line stored ${text(append)}`,
    ],
  };
}

/**
 * Starts the parts. A host of another fleet measures the socket, so that the sandboxes of the measured host stay
 * untouched.
 */
async function startParts(stage: Stage): Promise<() => Promise<Parts>> {
  const bare = await stage.start('ws-baseline');
  const url = await bare.call('listen', {}, Type.String());
  const hosts = await stage.start('hosts');
  const fleet = { hosts: 1, devicesPerHost: 1, heartbeats: false };
  await hosts.call('connect', { url, token: 'none', ...fleet }, Type.Unknown());
  const sandboxes = await stage.start('host');
  const store = await stage.start('store-parts');
  await store.call('open', { folder: await stage.folder() }, Type.Unknown());
  return async () => {
    const sandbox = await sandboxes.call('sandbox', { code: sampleCode }, SandboxParts);
    const socketMs = await hosts.call('roundTrip', {}, Type.Number());
    const stored = await store.call('store', {}, StoreParts);
    return { ...sandbox, ...stored, socketMs };
  };
}

/** Measures a launch. `untilLine` is called before the launch is sent. */
export async function measureLaunch(
  api: Api,
  deviceId: string,
  untilLine: (launchId: string) => Promise<void>,
): Promise<LaunchTimes> {
  const body = directLaunch(deviceId);
  const line = untilLine(body.launch_id);
  const startedAt = performance.now();
  const answered = ask(api, launchPath, Type.Unknown(), body).then(() => performance.now() - startedAt);
  await line;
  const totalMs = performance.now() - startedAt;
  return { totalMs, answeredMs: await answered };
}

async function pollForLine(api: Api, deviceId: string, launchId: string): Promise<void> {
  const query = { device_id: deviceId, automation_ids: [launchId] };
  const poll = () => ask(api, '/api/v2/devices/automationLogs', Logs, query);
  while ((await poll()).logs.length === 0) await sleep(1);
}

export async function phoneIsReady(api: Api): Promise<void> {
  const deadline = performance.now() + readyTimeoutMs;
  while (performance.now() < deadline) {
    const { devices } = await ask(api, '/api/v2/devices', Devices);
    if (devices.some(({ state }) => state === 'ready')) return;
    await sleep(50);
  }
  throw new Error(`the simulated phone was not ready within ${readyTimeoutMs / 1000} s`);
}

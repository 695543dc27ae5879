/**
 * Figure: the growth of a service's memory per idle simulated phone, one minute after all are ready; compared with
 * the service without phones. Server, host and phones are one process, as with `phalanx start --simulated-phones N`.
 * The notes contain the memory after some minutes of use: runs one after the other that read, tap and store pictures,
 * and a viewer that looks at one phone after the other like the console's wall.
 *
 * Memory is the resident memory of the process after a full garbage collection; the notes also contain it before one.
 * `--count N` and `--minutes N` set the number of phones and the duration of their use.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Type, type Static } from 'typebox';

import type { BenchProcess } from '../harness/bench-process.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { ask, askText, directLaunch, launchPath, listDeviceIds, newToken, type Api } from '../http/api.ts';

const restMs = 60_000;
const pollMs = 1000;
const minuteMs = 60_000;
/** Interval in ms at which runs begin and a viewer looks at a phone. */
const useEveryMs = 2000;
const maxBytesPerPhone = 1024 * 1024;

const Memory = Type.Object({ rss: Type.Number(), heap: Type.Number(), uncollectedRss: Type.Number() });
type Memory = Static<typeof Memory>;

const Ready = Type.Object({ devices: Type.Array(Type.Object({ device_id: Type.String() })) });

const code = `
await agent.actions.launchApp('com.android.settings');
for (let left = 3; left > 0; left -= 1) {
  const screen = await agent.actions.screenContent();
  await agent.utils.outOfSteps.storeScreen(screen, 'bench', 'Settings', left, ScreenshotRecord.LOW_QUALITY);
  await agent.actions.swipe(540, 1800, 540, 600, 200);
}
await agent.utils.outOfSteps.submit('debug', 'bench');
await agent.actions.screenshot({ maxWidth: 360 });
await agent.actions.home();
console.log('done');`;

interface Started {
  readonly service: BenchProcess;
  readonly api: Api;
}

async function startService(stage: Stage, count: number): Promise<Started> {
  const service = await stage.start('service', ['--expose-gc']);
  const api = { url: '', token: newToken() };
  const input = { dataDir: await stage.folder(), token: api.token, count };
  api.url = await service.call('start', input, Type.String());
  return { service, api };
}

const memoryOf = ({ service }: Started): Promise<Memory> => service.call('memory', {}, Memory);

async function whenReady(api: Api, count: number): Promise<void> {
  for (let ready = 0; ready < count; await sleep(pollMs))
    ready = (await ask(api, '/api/v2/devices?state=ready&limit=1000', Ready)).devices.length;
}

interface Uses {
  done: number;
  refused: number;
}

/**
 * Uses one phone after the other until a time. A viewer looks at each while its run is active, because it sleeps
 * later.
 */
async function use(api: Api, uses: Uses, untilMs: number): Promise<void> {
  const deviceIds = await listDeviceIds(api);
  const refuse = (): void => void (uses.refused += 1);
  for (; performance.now() < untilMs; uses.done += 1) {
    const deviceId = deviceIds[uses.done % deviceIds.length] ?? '';
    await ask(api, launchPath, Type.Unknown(), { ...directLaunch(deviceId), code }).catch(refuse);
    await askText(api, `/api/v2/devices/${deviceId}/screen?width=240`).catch(refuse);
    await sleep(useEveryMs);
  }
}

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

const textOf = ({ rss, heap, uncollectedRss }: Memory): string =>
  `${megabytes(rss)} (${megabytes(uncollectedRss)} before a collection, ${megabytes(heap)} of it the heap)`;

async function readWhileUsed(started: Started, minutes: number): Promise<string[]> {
  const notes: string[] = [];
  const beganAt = performance.now();
  const uses: Uses = { done: 0, refused: 0 };
  for (let minute = 1; minute <= minutes; minute += 1) {
    await use(started.api, uses, beganAt + minute * minuteMs);
    if (minute % 5 === 0 || minute === minutes || minute === 1) {
      const note = `${minute} min of use: ${textOf(await memoryOf(started))}; ${uses.done} uses, ${uses.refused} refused`;
      console.error(note);
      notes.push(note);
    }
  }
  return notes;
}

export const simulatedPhones: Row = {
  name: 'simulated-phones',
  title: 'memory that each simulated phone at rest adds to a service',
  against: 'the service without phones',
  async measure(stage: Stage): Promise<RowResult> {
    const { count, minutes } = stage.options;
    const bare = await memoryOf(await startService(stage, 0));
    const began = performance.now();
    const started = await startService(stage, count);
    await whenReady(started.api, count);
    const readyMs = performance.now() - began;
    await sleep(restMs);
    const resting = await memoryOf(started);
    const used = await readWhileUsed(started, minutes);
    return {
      figure: (resting.rss - bare.rss) / count,
      baseline: bare.rss,
      unit: 'bytes',
      targets: [{ of: 'figure', bound: 'at most', value: maxBytesPerPhone }],
      notes: [
        `${count} phones, all ready after ${(readyMs / 1000).toFixed(0)} s`,
        `without phones: ${textOf(bare)}`,
        `at rest for a minute: ${textOf(resting)}`,
        ...used,
      ],
    };
  },
};

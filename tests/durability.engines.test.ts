import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@phalanx/host/testing/until';
import type { Device } from '@phalanx/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { Installation } from './support/installation.ts';
import { LogReader } from './support/log-reader.ts';

const runCount = 20;
const lineCount = 1000;
const timeLimitMs = 240_000;

/** Logs numbered lines over a few seconds, so that faults hit the middle of the run. */
const numberedLines = `
for (let line = 1; line <= ${lineCount}; line++) {
  console.log('line ' + line);
  if (line % 20 === 0) await agent.actions.sleep(150);
}`;

/** Keeps running until the slowest of the others is halfway, however busy the machine is. */
const thenWaits = `${numberedLines}
await agent.actions.sleep(${timeLimitMs});`;

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

let installation: Installation;

beforeAll(async () => {
  installation = await Installation.start(4);
});
afterAll(() => installation.stop());

async function startTwentyRuns(code = numberedLines): Promise<LogReader[]> {
  const devices = await installation.readyDevices();
  const readers: LogReader[] = [];
  // Launches one run per phone at a time: a slow machine can't load twenty within the time limit of a launch.
  while (readers.length < runCount)
    readers.push(...(await Promise.all(devices.map((device) => startRun(device, code)))));
  return readers;
}

async function startRun({ device_id: deviceId }: Device, code: string): Promise<LogReader> {
  const launchId = await installation.launch(deviceId, code);
  return new LogReader(installation, { deviceId, launchId });
}

/** Waits until each log has more than this number of lines. */
async function untilRead(readers: readonly LogReader[], lines: number): Promise<void> {
  const isRead = async (): Promise<boolean> => {
    for (const reader of readers) await reader.poll();
    return readers.every(({ entries }) => entries.length > lines);
  };
  await until(`${lines} lines of each log`, isRead, Boolean, timeLimitMs / 2);
}

const readAll = async (readers: readonly LogReader[]): Promise<void> =>
  void (await Promise.all(readers.map((reader) => reader.readToEnd())));

test(
  'after cut sockets and kill -9 of the server every line is read exactly once, in order, and every run completes',
  async () => {
    const readers = await startTwentyRuns();
    await untilRead(readers, lineCount / 5);
    for (let cuts = 0; cuts < 5; cuts++) {
      installation.cable.cut();
      await sleep(150);
    }
    await untilRead(readers, (2 * lineCount) / 5);
    await installation.server.end('SIGKILL');
    await installation.restartServer();
    await readAll(readers);
    for (const reader of readers) {
      expect(reader.numbers).toEqual(upTo(lineCount));
      expect(await installation.findRun(reader.launchId)).toMatchObject({ status: 'completed', error: null });
    }
  },
  timeLimitMs,
);

test(
  'after kill -9 of the host every line that was logged is read exactly once, and every run has ended truly',
  async () => {
    const readers = await startTwentyRuns(thenWaits);
    await untilRead(readers, lineCount / 5);
    await installation.host.end('SIGKILL');
    installation.restartHost();
    await readAll(readers);
    for (const reader of readers) {
      expect(reader.numbers).toEqual(upTo(reader.numbers.length));
      expect(reader.numbers.length).toBeGreaterThan(lineCount / 5);
      const run = await installation.findRun(reader.launchId);
      expect(run).toMatchObject({ status: 'failed', error: { code: 'host_restarted' } });
    }
    expect((await installation.readyDevices()).every((device) => device.running.length === 0)).toBe(true);
  },
  timeLimitMs,
);

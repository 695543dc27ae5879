import { execFileSync } from 'node:child_process';
import { until } from '@phalanx/host/testing/until';
import { afterEach, expect, test } from 'vitest';

import { SmallDisk } from '../apps/server/src/testing/engines/small-disk.ts';
import { Installation } from './support/installation.ts';
import { LogReader } from './support/log-reader.ts';

const runCount = 4;
const lineCount = 400;
const timeLimitMs = 240_000;

/** Logs numbered lines over a few seconds, each with padding that fills files. */
const numberedLines = `
for (let line = 1; line <= ${lineCount}; line++) {
  console.log('line ' + line);
  console.error('x'.repeat(2000));
  if (line % 20 === 0) await agent.actions.sleep(100);
}`;

let installation: Installation;
let disk: SmallDisk | undefined;

afterEach(async () => {
  await installation.stop();
  disk?.remove();
  disk = undefined;
});

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
const isReady = async (): Promise<boolean> => (await fetch(`${installation.url}/readyz`)).ok;

async function startRuns(): Promise<LogReader[]> {
  const devices = await installation.readyDevices();
  return Promise.all(
    Array.from({ length: runCount }, async (_, index) => {
      const deviceId = devices[index % devices.length]?.device_id ?? '';
      const launchId = await installation.launch(deviceId, numberedLines);
      return new LogReader(installation, { deviceId, launchId });
    }),
  );
}

/** Lets the storage fail in the middle of all runs, and repairs it after their expected end. */
async function expectNothingLost(fail: () => void, mend: () => void): Promise<void> {
  const readers = await startRuns();
  const haveBegun = async (): Promise<boolean> => {
    for (const reader of readers) await reader.poll();
    return readers.every(({ entries }) => entries.length > lineCount / 10);
  };
  await until('a tenth of each log', haveBegun, Boolean, timeLimitMs / 2);
  fail();
  await until('/readyz to be red', async () => !(await isReady()));
  const { host } = installation;
  for (let count = 0; count < 20; count += 1) {
    for (const { state, reason } of await installation.listDevices())
      expect(['ready', 'busy'], reason).toContain(state);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(host.hasExited).toBe(false);
  mend();
  await until('/readyz to be green', isReady);
  await Promise.all(readers.map((reader) => reader.readToEnd()));
  for (const reader of readers) {
    expect(reader.numbers).toEqual(upTo(lineCount));
    expect(await installation.findRun(reader.launchId)).toMatchObject({ status: 'completed', error: null });
  }
  const told = installation.server.output.matchAll(/"level":50,.*"part":"(\w+)"/g);
  const parts = [...told].map((match) => match[1]);
  expect(parts.length).toBeGreaterThan(0);
  // Requires each part exactly once.
  expect(new Set(parts).size).toBe(parts.length);
}

const canMount = ((probe) => (probe?.remove(), probe !== undefined))(SmallDisk.create(1));

test.skipIf(!canMount)(
  'on a disk that fills up no line is lost or stored twice, and every run completes',
  async () => {
    disk = SmallDisk.create(64);
    if (disk === undefined) throw new Error('no disk could be mounted');
    const full = disk;
    installation = await Installation.start(3, `${disk.folder}/server`);
    await expectNothingLost(
      () => full.fill(),
      () => full.makeRoom(),
    );
  },
  timeLimitMs,
);

test(
  'under a limit on the size of files no line is lost or stored twice, and every run completes',
  async () => {
    installation = await Installation.start(3);
    const limit = (bytes: string): void => {
      execFileSync('prlimit', ['--pid', String(installation.server.pid), `--fsize=${bytes}:`]);
    };
    await expectNothingLost(
      () => limit('1024'),
      () => limit('unlimited'),
    );
  },
  timeLimitMs,
);

import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { until } from '@phalanx/host/testing/until';
import { isEnded, type RunFile, runRoutes } from '@phalanx/protocol';
import { afterEach, expect, test } from 'vitest';

import { Installation } from './support/installation.ts';

const timeLimitMs = 120_000;
let installation: Installation;

afterEach(() => installation.stop());

const filesOf = async (id: string): Promise<readonly RunFile[]> =>
  (await installation.api.call(runRoutes.files, { params: { id } })).files;
const readFile = (id: string, name: string): Promise<string> =>
  installation.api.text(runRoutes.readFile, { params: { id, name } });
const spooled = (): Promise<string[]> => readdir(path.join(installation.folder, 'host', 'host', 'files'));

async function launch(code: string): Promise<string> {
  const [device] = await installation.readyDevices();
  return installation.launch(device?.device_id ?? '', code);
}

async function activeRun(launchId: string): Promise<string> {
  const run = await until(
    'the run',
    () => installation.findRun(launchId),
    (now) => now?.status === 'running',
  );
  return run?.run_id ?? '';
}

test(
  'a file that was attached survives the cut connection and the kill of host and server',
  async () => {
    installation = await Installation.start(1);
    const launchId = await launch(`
      await agent.run.attach('early.txt', 'early');
      console.log('early');
      await agent.actions.sleep(5000);
      await agent.run.attach('late.bin', new Uint8Array(1_000_000).fill(7));
      await agent.actions.sleep(600_000);`);
    const runId = await activeRun(launchId);
    await until(
      'the early file',
      () => filesOf(runId),
      (files) => files.length === 1,
    );
    // The host deletes it when the server has confirmed it.
    await until('the early file gone from the disk', spooled, (names) => names.length === 0);
    installation.cable.pull();
    await until('the late file on disk', spooled, (names) => names.some((name) => name.endsWith('.json')));
    await installation.host.end('SIGKILL');
    await installation.server.end('SIGKILL');
    installation.cable.plug();
    await installation.restartServer();
    installation.restartHost();
    const files = await until(
      'both files',
      () => filesOf(runId),
      (now) => now.length === 2,
    );
    expect(files.map(({ name, size_bytes }) => [name, size_bytes])).toEqual([
      ['early.txt', 5],
      ['late.bin', 1_000_000],
    ]);
    expect(await readFile(runId, 'early.txt')).toBe('early');
    expect(await readFile(runId, 'late.bin')).toBe('\u0007'.repeat(1_000_000));
    expect(await installation.endedRun(launchId)).toMatchObject({ error: { code: 'host_restarted' } });
    await until('nothing left on the host', spooled, (names) => names.length === 0);
  },
  timeLimitMs,
);

test(
  'the files of a run that fails are there when its end is',
  async () => {
    installation = await Installation.start(1);
    const launchId = await launch(`
      for (let n = 0; n < 20; n += 1) await agent.run.attach(n + '.json', { n });
      void agent.run.attach('unfinished.bin', new Uint8Array(20_000_000));
      throw new Error('on purpose');`);
    const run = await installation.endedRun(launchId);
    expect(isEnded(run.status) && run.error?.code).toBe('uncaught_error');
    expect((await filesOf(run.run_id)).map(({ name }) => name).toSorted()).toEqual(
      Array.from({ length: 20 }, (_, n) => `${n}.json`).toSorted(),
    );
    await until('nothing left on the host', spooled, (names) => names.length === 0);
  },
  timeLimitMs,
);

import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { until } from '@phalanx/host/testing/until';
import { afterEach, expect, test } from 'vitest';

import { type PostgresEngine, startPostgres } from '../apps/server/src/testing/engines/postgres-engine.ts';
import { Installation } from './support/installation.ts';
import { Program } from './support/program.ts';

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

async function startEngine(): Promise<PostgresEngine> {
  const engine = await startPostgres();
  if (engine === undefined) throw new Error('PostgreSQL is not installed');
  cleanUps.push(() => engine.stop());
  return engine;
}

const isHere = !(process.env['TEST_WITHOUT'] ?? '').split(' ').includes('postgresql');

test.skipIf(!isHere)(
  'the service on PostgreSQL outlives its crash, and stores what a real host says of an odd error',
  async () => {
    const engine = await startEngine();
    const url = `${engine.url}/postgres`;
    const installation = await Installation.start(1, undefined, { PHALANX_DATABASE_URL: url });
    cleanUps.push(() => installation.stop());
    const environment = readFileSync(`/proc/${installation.server.pid}/environ`, 'latin1');
    expect(environment).not.toContain('DATABASE_URL');

    const [device] = await installation.readyDevices();
    const deviceId = device?.device_id ?? '';
    const odd = await installation.endedRun(
      await installation.launch(deviceId, "throw new Error('nul \\0, half \\ud800, whole \\u{1f600}')"),
    );
    expect(odd.error?.message).toContain('nul \ufffd, half \ufffd, whole \u{1f600}');

    const second = await mkdtemp(path.join(tmpdir(), 'phalanx-second-'));
    cleanUps.push(() => rm(second, { recursive: true, force: true }));
    const refused = new Program(['server'], {
      PHALANX_LISTEN: '127.0.0.1:0',
      PHALANX_DATA_DIR: second,
      PHALANX_DATABASE_URL: url,
      PHALANX_LOG_LEVEL: 'silent',
    });
    await refused.exited;
    expect({ code: refused.exitCode, output: refused.output.trim() }).toEqual({
      code: 2,
      output: expect.stringMatching(/^Another server uses the database of PHALANX_DATABASE_URL.*$/),
    });

    const launchId = await installation.launch(
      deviceId,
      'for (let second = 0; second < 20; second++) await agent.actions.sleep(1000); console.log("done")',
    );
    engine.crash();
    await until(
      'the end of the run',
      () => installation.findRun(launchId).catch(() => undefined),
      (run) => run?.status === 'completed',
      100_000,
    );
    await until(
      'its line',
      () => installation.readLogs(deviceId, launchId),
      (entries) => entries.some(({ message }) => message === 'done'),
    );
    expect(installation.server.hasExited).toBe(false);

    // The last report of the killed server is stale: its host is not connected yet.
    installation.cable.pull();
    await installation.server.end('SIGKILL');
    await installation.restartServer();
    expect((await installation.listDevices()).map(({ state }) => state)).toEqual(['offline']);
    installation.cable.plug();
    await installation.readyDevices();
    await installation.endedRun(await installation.launch(deviceId, 'console.log(1)'));
  },
);

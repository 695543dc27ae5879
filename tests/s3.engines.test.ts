import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { until } from '@phalanx/host/testing/until';
import { projectRoutes } from '@phalanx/protocol';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { isS3Here, makeTestBucket } from '../apps/server/src/testing/engines/test-bucket.ts';
import { startPostgres } from '../apps/server/src/testing/engines/postgres-engine.ts';
import { Cable } from './support/cable.ts';
import { Installation } from './support/installation.ts';

vi.setConfig({ testTimeout: 300_000 });

let bucket: Awaited<ReturnType<typeof makeTestBucket>>;
let line: Cable;
let installation: Installation;
let deviceId: string;
const cleanUps: (() => unknown)[] = [];

beforeAll(async () => {
  if (!isS3Here) return;
  const engine = await startPostgres();
  if (engine === undefined) throw new Error('PostgreSQL is not installed');
  cleanUps.push(() => engine.stop());
  bucket = await makeTestBucket();
  line = await Cable.to(bucket.endpoint.href);
  cleanUps.push(() => line.close());
  installation = await Installation.start(1, undefined, {
    PHALANX_DATABASE_URL: `${engine.url}/postgres`,
    ...bucket.settings,
    PHALANX_S3_ENDPOINT: line.url,
  });
  cleanUps.push(() => installation.stop());
  deviceId = (await installation.readyDevices())[0]?.device_id ?? '';
});
afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

/** Returns the URLs of the record's captures once all are stored. */
async function capturesOf(automationId: string): Promise<string[]> {
  const record = await installation.wholeRecord(automationId, 120_000);
  const urls = record.screens.flatMap(({ uiUrl, screenshot }) => [uiUrl, screenshot.screenshotUrl]);
  return urls.filter((url) => url !== null && url !== undefined);
}

const readAll = async (urls: readonly string[]): Promise<number[]> =>
  Promise.all(urls.map(async (url) => (await fetch(url)).status));

/** Code that stores an unchanging screen, because the picture of a changing one may be skipped. */
const code = `
  const { outOfSteps } = agent.utils;
  for (let left = 5; left > 0; left -= 1) {
    const screen = await agent.actions.screenContent();
    await outOfSteps.storeScreen(screen, 'home', 'Home', left, ScreenshotRecord.LOW_QUALITY);
  }
  await outOfSteps.submit('outOfSteps');
`;

test.skipIf(!isS3Here)(
  'a service with PostgreSQL and S3 loses no capture while S3 is gone, and launches as before',
  async () => {
    const environment = readFileSync(`/proc/${installation.server.pid}/environ`, 'latin1');
    expect(environment).not.toContain(bucket.secretKey);

    const first = await capturesOf(await installation.launch(deviceId, code));
    expect(first.length).toBeGreaterThan(1);
    for (const url of first) {
      const whole = Buffer.from(await (await fetch(url)).arrayBuffer());
      const part = await fetch(url, { headers: { range: 'bytes=-10' } });
      expect(part.status).toBe(206);
      expect(Buffer.from(await part.arrayBuffer())).toEqual(whole.subarray(-10));
      const etag = part.headers.get('etag') ?? '';
      expect((await fetch(url, { headers: { 'if-none-match': etag } })).status).toBe(304);
    }

    line.pull();
    const launchId = await installation.launch(deviceId, code);
    await installation.endedRun(launchId);
    const told = await until(
      'the record, without captures',
      () => installation.findRecord(launchId),
      (now) => now !== null,
    );
    expect(told?.partial).toBe(true);
    const [url = ''] = first;
    const gone = await fetch(url);
    expect([gone.status, ((await gone.json()) as { code: string }).code]).toEqual([
      503,
      'bucket_unavailable',
    ]);
    expect((await fetch(`${installation.url}/readyz`)).status).toBe(200);
    await until(
      'the fault in the log of the server',
      () => installation.server.output,
      (output) => output.includes('The S3 storage does not work'),
    );

    // A server started without its storage still accepts launches.
    await installation.server.end('SIGKILL');
    await installation.restartServer();
    await installation.readyDevices();
    await installation.endedRun(await installation.launch(deviceId, 'console.log(1)'));

    line.plug();
    const second = await capturesOf(launchId);
    expect(second).toHaveLength(first.length);
    expect(await readAll([...first, ...second])).toEqual([...first, ...second].map(() => 200));
    expect(installation.server.output).not.toContain(bucket.secretKey);
  },
);

test.skipIf(!isS3Here)(
  'a large push is in S3, and is cloned from there when the server has lost its repositories',
  async () => {
    const { project } = await installation.api.call(projectRoutes.create, { body: { name: 'large' } });
    const token = installation.callerSettings['PHALANX_TOKEN'] ?? '';
    const address = `${installation.url.replace('//', `//x:${token}@`)}/git/${project.id}.git`;
    const clone = path.join(installation.folder, 'clone');
    const git = (...args: string[]) => promisify(execFile)('git', args);
    await git('clone', '--quiet', address, clone);
    const content = randomBytes(1_500_000).toString('base64');
    await writeFile(path.join(clone, 'large.txt'), content);
    await git('-C', clone, 'add', '.');
    const me = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];
    await git('-C', clone, ...me, 'commit', '--quiet', '--message', 'large');
    await git('-C', clone, 'push', '--quiet', 'origin', 'HEAD:main');

    const dataDir = path.join(installation.folder, 'server');
    expect(await readdir(path.join(dataDir, 'project-packs'))).toEqual(['incoming']);
    expect(await readdir(path.join(dataDir, 'project-packs', 'incoming'))).toEqual([]);
    await installation.server.end();
    await rm(path.join(dataDir, 'project-cache'), { recursive: true });
    await installation.restartServer();
    const again = path.join(installation.folder, 'again');
    await git('clone', '--quiet', address, again);
    await git('-C', again, 'fsck', '--strict');
    expect(await readFile(path.join(again, 'large.txt'), 'utf8')).toBe(content);
  },
);

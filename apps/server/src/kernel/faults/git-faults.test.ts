import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

import { cloneUrl, runUserGit, TestProject } from '../../code/projects/testing/test-projects.ts';
import { BreakableGit } from '../../testing/breakable-git.ts';
import { adminToken, TestServer } from '../../testing/test-server.ts';
import { isOneServer } from '../../testing/engines/test-database.ts';
import { TestLog } from '../../testing/test-log.ts';

let folder: string;
let git: BreakableGit;
let log: TestLog;
let server: TestServer;
let project: TestProject;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'phalanx-git-faults-'));
  git = new BreakableGit(path.join(folder, 'bin'));
  log = new TestLog();
  server = await TestServer.start({ settings: { PATH: git.folder }, log: log.logger });
});
afterAll(async () => {
  await server.dispose();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  git.mend();
  await expect.poll(isReady).toBe(true);
  log.lines.length = 0;
  project = await TestProject.create(server.api);
  await project.put('notes.txt', 'one');
});

/** Two commits, and the next of the pages after the first of them. */
async function olderCommit(): Promise<string> {
  const hash = await project.mustCommit('first');
  await project.put('notes.txt', 'two');
  await project.mustCommit('second');
  return hash;
}

const isReady = async (): Promise<boolean> => {
  const replies = await Promise.all(server.apis.map((api) => api('GET', '/readyz')));
  return replies.every(({ status }) => status === 200);
};

it('a git that cannot compare two commits is not taken for an answer', async () => {
  const hash = await olderCommit();
  git.fail('merge-base');
  expect(await project.commits(`${hash}.0`)).toMatchObject({ status: 500, body: { code: 'internal' } });
  expect(await project.revert(hash)).toMatchObject({ status: 500, body: { code: 'internal' } });
  git.mend();
  expect((await project.commits(`${hash}.0`)).status).toBe(200);
  expect((await project.commits(`${'0'.repeat(39)}1.0`)).body).toMatchObject({ code: 'invalid_request' });
});

it('a push that git cannot judge is not refused as one that moves backwards', async () => {
  await olderCommit();
  const clone = path.join(folder, 'clone');
  await runUserGit(folder, ['clone', '-q', cloneUrl(server, adminToken, project.id), clone]);
  await runUserGit(clone, ['commit', '-q', '--allow-empty', '-m', 'third']);
  git.fail('merge-base');
  const refused = await runUserGit(clone, ['push', '-q']);
  expect(refused.code).not.toBe(0);
  expect(refused.text).toContain('could not check this push');
  expect(refused.text).not.toContain('forward');
  git.mend();
  expect(await runUserGit(clone, ['push', '-q'])).toMatchObject({ code: 0 });
});

it.each(['fails', 'is gone'])('git that %s is told as that, once, until it works again', async (how) => {
  const isGone = how === 'is gone';
  await project.mustCommit();
  const fresh = await TestProject.create(server.api);
  if (isGone) git.remove();
  else git.fail('everything');
  // A git process that is kept open goes on; a project that nobody has read yet needs a new one.
  await fresh.put('notes.txt', 'fresh');
  const replies = [(await fresh.read('notes.txt')).text, (await project.commits()).text];
  for (const reply of replies) expect(reply).toContain('"code":"git_unavailable"');
  const ready = await server.api('GET', '/readyz');
  expect(ready).toMatchObject({ status: 503, body: { code: 'not_ready' } });
  expect(ready.body['message']).toContain(
    isGone ? 'git does not work, it was not found' : 'git does not work, it ends with errors',
  );
  expect(await server.metrics()).toContain('phalanx_faults{part="git"} 1');
  if (isGone) git.putBack();
  else git.mend();
  await expect.poll(isReady).toBe(true);
  await project.put('notes.txt', 'three');
  // Each server that has met the fault logs it.
  expect([...new Set(log.errors)]).toEqual([expect.stringContaining('Git does not work')]);
  expect(log.errors.length).toBeLessThanOrEqual(server.urls.length);
});

async function loseCaches(): Promise<void> {
  const caches = server.dataDirs.map((dataDir) => path.join(dataDir, 'project-cache'));
  const known = caches.filter((cache) => existsSync(cache));
  expect(known).not.toEqual([]);
  for (const cache of known) await rm(cache, { recursive: true });
}

it('a cache of projects that is gone is made again', async () => {
  await loseCaches();
  await project.put('more.txt', 'two');
  expect(await project.content('notes.txt')).toBe('one');
  const clone = path.join(folder, 'made again');
  await project.mustCommit();
  await loseCaches();
  const url = cloneUrl(server, adminToken, project.id);
  expect(await runUserGit(folder, ['clone', '-q', url, clone])).toMatchObject({ code: 0 });
});

it.runIf(isOneServer)('a folder of large packs that is gone is told, and no project is missing', async () => {
  const packs = path.join(server.dataDir, 'project-packs');
  const large = randomBytes(2_000_000).toString('base64');
  await rename(packs, `${packs}.away`);
  expect(await project.write('large.txt', large)).toMatchObject({
    status: 503,
    body: { code: 'storage_unavailable' },
  });
  await rename(`${packs}.away`, packs);
  await expect.poll(isReady).toBe(true);
  await project.put('large.txt', large);
  expect(await project.content('large.txt')).toBe(large);
  expect(await project.content('notes.txt')).toBe('one');
});

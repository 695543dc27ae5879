import { mkdtempSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { cloneUrl, runUserGit, TestProject } from '../projects/testing/test-projects.ts';
import { BreakableGit } from '../testing/breakable-git.ts';
import { adminToken, TestServer } from '../testing/test-server.ts';
import { TestLog } from '../testing/test-log.ts';

vi.setConfig({ testTimeout: 60_000 });

let folder: string;
let git: BreakableGit;
let log: TestLog;
let server: TestServer;
let project: TestProject;

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'phalanx-git-faults-'));
  git = new BreakableGit(path.join(folder, 'bin'));
  log = new TestLog();
  server = await TestServer.start({ settings: { PATH: git.folder }, log: log.logger });
  project = await TestProject.create(server.api);
  await project.put('notes.txt', 'one');
});
afterEach(async () => {
  await server.dispose();
  await rm(folder, { recursive: true, force: true });
});

/** Two commits, and the next of the pages after the first of them. */
async function olderCommit(): Promise<string> {
  const hash = await project.mustCommit('first');
  await project.put('notes.txt', 'two');
  await project.mustCommit('second');
  return hash;
}

const isReady = async (): Promise<boolean> => (await server.api('GET', '/readyz')).status === 200;

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
  if (isGone) git.remove();
  else git.fail('everything');
  // What is kept open goes on; a project that nobody has used yet needs a new git.
  const replies = [
    await TestProject.create(server.api).catch((error: Error) => error.message),
    (await server.api('POST', '/api/v2/automation-project', { body: { name: 'x' } })).text,
  ];
  for (const reply of replies) expect(reply).toContain('"code":"git_unavailable"');
  const ready = await server.api('GET', '/readyz');
  expect(ready).toMatchObject({ status: 503, body: { code: 'not_ready' } });
  expect(ready.body['message']).toContain(
    isGone ? 'git does not work, it was not found' : 'git does not work, it ends with errors',
  );
  const metrics = await server.api('GET', '/metrics');
  expect(metrics.text).toContain('phalanx_faults{part="git"} 1');
  if (isGone) git.putBack();
  else git.mend();
  await vi.waitUntil(isReady, { timeout: 30_000 });
  await project.put('notes.txt', 'three');
  expect(log.errors).toEqual([expect.stringContaining('Git does not work')]);
});

it('a folder of projects that is gone is no missing project', async () => {
  const projects = path.join(server.dataDir, 'projects');
  await rename(projects, `${projects}.away`);
  expect(await project.write('notes.txt', 'lost')).toMatchObject({
    status: 503,
    body: { code: 'storage_unavailable' },
  });
  await rename(`${projects}.away`, projects);
  await vi.waitUntil(isReady, { timeout: 30_000 });
  expect(await project.content('notes.txt')).toBe('one');
});

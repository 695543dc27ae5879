import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { adminToken, TestServer } from '../testing/test-server.ts';
import { TestLog } from '../testing/test-log.ts';
import {
  cloneUrl,
  findDamage,
  gitDirOf,
  runUserGit,
  TestFolders,
  TestProject,
} from './testing/test-projects.ts';

const folders = new TestFolders();
const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];
let log: TestLog;
let server: TestServer;

beforeEach(async () => {
  log = new TestLog();
  server = await TestServer.start({ log: log.logger });
});
afterEach(async () => {
  await server.dispose();
  await folders.removeAll();
});

const git = async (gitDir: string, args: readonly string[], input = ''): Promise<string> => {
  const { code, text } = await runUserGit(gitDir, [...identity, ...args], input);
  if (code !== 0) throw new Error(text);
  return text.trim();
};

interface Old {
  commit: string;
  replaced: string;
  saved: string;
}

/** A repository as releases had it that kept each project in one: all hangs on a private ref. */
async function makeOld(id: string): Promise<Old> {
  const gitDir = path.join(server.dataDir, 'projects', `${id}.git`);
  mkdirSync(gitDir, { recursive: true });
  await git(gitDir, ['init', '--bare', '--quiet', '-b', 'main', gitDir]);
  const blob = (text: string): Promise<string> => git(gitDir, ['hash-object', '-w', '--stdin'], text);
  const tree = (entries: string): Promise<string> => git(gitDir, ['mktree'], entries);
  const file = async (name: string, text: string): Promise<string> =>
    `100644 blob ${await blob(text)}\t${name}\n`;
  const committed = await tree(await file('main.ts', 'const one: number = 1;\n'));
  const commit = await git(gitDir, ['commit-tree', committed, '-m', 'first']);
  const lost = await tree(await file('lost.txt', 'replaced by a revert'));
  const replaced = await git(gitDir, ['commit-tree', lost, '-p', commit, '-m', 'replaced']);
  const files = await tree(
    (await file('main.ts', 'const one: number = 1;\n')) + (await file('notes.txt', 'not committed')),
  );
  const compiled = await tree(await file('main.js', 'const one = 1;\n'));
  const parts = `040000 tree ${files}\tfiles\n040000 tree ${compiled}\tcompiled\n`;
  const saved = await tree(parts + (await file('head', commit)));
  const refs = {
    'refs/phalanx/saved': saved,
    [`refs/phalanx/compiled/${committed}`]: compiled,
    [`refs/phalanx/replaced/${replaced}`]: replaced,
    'refs/heads/main': commit,
    'refs/heads/side': replaced,
  };
  for (const [name, target] of Object.entries(refs)) await git(gitDir, ['update-ref', name, target]);
  await git(gitDir, ['tag', '-a', 'v1', '-m', 'one', commit]);
  return { commit, replaced, saved };
}

async function expectTakenUp(project: TestProject, { commit, replaced }: Old): Promise<void> {
  expect(await project.changes()).toEqual({ 'main.ts': 'unchanged', 'notes.txt': 'added' });
  expect(await project.content('main.js')).toBe('const one = 1;\n');
  expect(await project.content('notes.txt')).toBe('not committed');
  expect((await project.commits()).body['commits']).toMatchObject([{ hash: commit, message: 'first' }]);
  const clone = path.join(folders.make(), 'clone');
  await git(server.dataDir, ['clone', '-q', cloneUrl(server, adminToken, project.id), clone]);
  expect(await git(clone, ['rev-parse', 'origin/main', 'origin/side', 'v1^{}'])).toBe(
    [commit, replaced, commit].join('\n'),
  );
  expect(await findDamage(await gitDirOf(server, project))).toBe('');
}

it('projects of a release that had each in a repository are taken up with all that they had', async () => {
  const project = await TestProject.create(server.api);
  const empty = await TestProject.create(server.api);
  const old = await makeOld(project.id);
  await server.restart();
  await expectTakenUp(project.as(server.api), old);
  expect(existsSync(path.join(server.dataDir, 'projects'))).toBe(false);
  expect(existsSync(path.join(server.dataDir, 'projects-before', `${project.id}.git`))).toBe(true);
  expect(await empty.as(server.api).changes()).toEqual({});
  const again = project.as(server.api);
  expect((await again.revert(old.replaced)).status).toBe(200);
  expect(await again.content('lost.txt')).toBe('replaced by a revert');
});

it('a take-up that was cut short goes on, and leaves alone what was taken up before', async () => {
  const [first, second] = [await TestProject.create(server.api), await TestProject.create(server.api)];
  await makeOld(first.id);
  await server.restart();
  await first.as(server.api).put('notes.txt', 'written since');
  renameSync(path.join(server.dataDir, 'projects-before'), path.join(server.dataDir, 'projects'));
  const old = await makeOld(second.id);
  await server.restart();
  expect(await first.as(server.api).content('notes.txt')).toBe('written since');
  await expectTakenUp(second.as(server.api), old);
});

it('a repository that can not be read keeps the service from starting without it', async () => {
  const project = await TestProject.create(server.api);
  await makeOld(project.id);
  const gitDir = path.join(server.dataDir, 'projects', `${project.id}.git`);
  writeFileSync(path.join(gitDir, 'refs', 'phalanx', 'saved'), `${'1'.repeat(40)}\n`);
  await expect(server.restart()).rejects.toThrow(`The project in ${gitDir} can't be read: mend it`);
  renameSync(gitDir, `${gitDir}.away`);
  await server.restart();
  expect(await project.as(server.api).changes()).toEqual({});
});

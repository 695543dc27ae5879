import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import {
  cloneUrl,
  findDamage,
  gitDirOf,
  runUserGit,
  TestFolders,
  TestProject,
  type Ran,
} from '../projects/testing/test-projects.ts';
import type { ApiCaller } from '../../testing/api-caller.ts';
import { TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let ann: { userId: string; token: string; api: ApiCaller };
let project: TestProject;
let folder: string;
const folders = new TestFolders();

beforeAll(async () => {
  server = await TestServer.start();
  ann = await server.createCaller('ann');
});
afterAll(async () => {
  await server.dispose();
  await folders.removeAll();
});

async function makeProject(): Promise<void> {
  project = await TestProject.create(ann.api);
  folder = folders.make();
}

const git = (...args: string[]): Promise<Ran> => runUserGit(folder, args);
const url = (token = ann.token): string => cloneUrl(server, token, project.id);
const expectWell = async (): Promise<void> =>
  expect(await findDamage(await gitDirOf(server, project))).toBe('');

async function mustGit(...args: string[]): Promise<string> {
  const { code, text } = await git(...args);
  if (code !== 0) throw new Error(`git ${args.join(' ')}: ${text}`);
  return text;
}

async function commitFile(name: string, content: string | Buffer): Promise<void> {
  mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
  writeFileSync(path.join(folder, name), content);
  await mustGit('add', '-A');
  await mustGit('commit', '-qm', `change ${name}`);
}

/** Creates a project with one commit, and a clone of it. */
async function makeClone(): Promise<void> {
  await makeProject();
  await project.put('main.ts', 'const a: number = 1;\n');
  await project.put('lib/data.json', '{}\n');
  await project.mustCommit('first');
  await mustGit('clone', '-q', url(), '.');
}

describe('a clone', () => {
  beforeEach(makeProject);

  it('holds the sources of main, and nothing that was compiled or not committed', async () => {
    await project.put('main.ts', 'const a: number = 1;\n');
    await project.mustCommit('first');
    await project.put('uncommitted.txt', 'text');
    await mustGit('clone', '-q', url(), '.');
    expect(await mustGit('ls-files')).toBe('main.ts\n');
    expect(await mustGit('status', '--short', '--branch')).toBe('## main...origin/main\n');
    expect(await mustGit('ls-remote', 'origin')).toMatch(/^\S+\tHEAD\n\S+\trefs\/heads\/main\n$/);
  });

  it('of a new project is empty, and its first push fills it', async () => {
    await mustGit('clone', '-q', url(), '.');
    await mustGit('checkout', '-qB', 'main');
    await commitFile('main.ts', 'const a: number = 1;\n');
    await mustGit('push', '-q', 'origin', 'main');
    expect(await project.content('main.js')).toContain('const a = 1;');
    expect(await project.changes()).toEqual({ 'main.ts': 'unchanged' });
  });

  it('fetches what was committed later, with every version of the protocol', async () => {
    await makeClone();
    for (const version of ['0', '1', '2']) {
      await project.put('news.txt', `for version ${version}`);
      await project.mustCommit();
      await mustGit('-c', `protocol.version=${version}`, 'pull', '-q');
      expect(await mustGit('show', 'main:news.txt')).toBe(`for version ${version}`);
    }
  });

  it('can be shallow and partial', async () => {
    await makeClone();
    await project.put('more.txt', 'more');
    await project.mustCommit('second');
    await mustGit('clone', '-q', '--depth=1', url(), 'shallow');
    expect(await mustGit('-C', 'shallow', 'log', '--format=%s')).toBe('second\n');
  });
});

describe('a push to main', () => {
  beforeEach(makeClone);

  it('becomes the saved files, compiled, and what was compiled of a source that is gone goes', async () => {
    await commitFile('main.ts', 'const b: number = 2;\n');
    await commitFile('lib/more.ts', 'export const more: string = "";\n');
    await mustGit('push', '-q', 'origin', 'main');
    expect(await project.content('main.js')).toContain('const b = 2;');
    expect(await project.content('lib/more.js')).toContain('export const more = "";');
    expect(Object.values(await project.changes())).toEqual(['unchanged', 'unchanged', 'unchanged']);
    const { body } = await project.commits();
    expect(body['commits']).toMatchObject([
      { message: 'change lib/more.ts', author: { name: 'Ada', email: 'ada@example.org' } },
      { message: 'change main.ts' },
      { message: 'first' },
    ]);
    await mustGit('mv', 'main.ts', 'start.ts');
    await mustGit('commit', '-qm', 'renamed');
    await mustGit('push', '-q', 'origin', 'main');
    expect([await project.content('main.js'), await project.content('start.js')]).toEqual([
      undefined,
      expect.stringContaining('const b = 2;'),
    ]);
    await expectWell();
  });

  it('may be larger than the 1 MiB that git sends in one piece, and binary, which JSON can not give back', async () => {
    await commitFile('noise.bin', Buffer.concat([Buffer.from([0xff, 0]), randomBytes(2 * 1024 * 1024)]));
    await commitFile('text.txt', 'line\n'.repeat(250_000));
    await mustGit('push', '-q', 'origin', 'main');
    expect(Object.keys(await project.changes())).toEqual([
      'lib/data.json',
      'main.ts',
      'noise.bin',
      'text.txt',
    ]);
    const reply = await project.read('noise.bin');
    expect([reply.status, reply.body['code']]).toEqual([400, 'file_not_text']);
    await mustGit('clone', '-q', url(), 'again');
    expect(await mustGit('-C', 'again', 'rev-parse', 'HEAD')).toBe(await mustGit('rev-parse', 'HEAD'));
  });

  it('that does not compile is refused with the lines of the compiler and leaves nothing behind, and another branch takes it', async () => {
    const objects = async (): Promise<Ran> =>
      runUserGit(await gitDirOf(server, project), ['count-objects', '-v']);
    const before = await objects();
    await commitFile('main.ts', 'const b: number = "x";\n');
    const refused = await git('push', 'origin', 'main');
    expect([refused.code, refused.text]).toEqual([
      1,
      expect.stringContaining('remote:   main.ts(1,7): error TS2322'),
    ]);
    expect(await objects()).toEqual(before);
    expect(await project.content('main.ts')).toBe('const a: number = 1;\n');
    expect((await git('push', 'origin', 'main:attempt')).code).toBe(0);
    expect(await mustGit('ls-remote', 'origin', 'attempt')).toContain('refs/heads/attempt');
    expect(await project.changes()).toEqual({ 'lib/data.json': 'unchanged', 'main.ts': 'unchanged' });
  });

  it('is refused while there are uncommitted changes', async () => {
    await project.put('uncommitted.txt', 'text');
    await commitFile('mine.txt', 'mine');
    const refused = await git('push', 'origin', 'main');
    expect([refused.code, refused.text]).toEqual([
      1,
      expect.stringMatching(/remote: The project has uncommitted changes[^]*"phalanx project commit"/),
    ]);
    expect(await project.changes()).toMatchObject({ 'uncommitted.txt': 'added' });
    await project.mustCommit('second');
    await mustGit('pull', '-q', '--rebase');
    await mustGit('push', '-q', 'origin', 'main');
    expect(Object.keys(await project.changes())).toContain('mine.txt');
  });

  it('can only move forward', async () => {
    await project.put('more.txt', 'more');
    await project.mustCommit('second');
    await commitFile('mine.txt', 'mine');
    expect((await git('push', 'origin', 'main')).text).toContain('[rejected]');
    const forced = await git('push', '--force', 'origin', 'main');
    expect([forced.code, forced.text]).toEqual([
      1,
      expect.stringContaining('remote: main can only move forward'),
    ]);
    const deleted = await git('push', 'origin', ':main');
    expect([deleted.code, deleted.text]).toEqual([
      1,
      expect.stringContaining('remote: main cannot be deleted'),
    ]);
    expect(await project.content('more.txt')).toBe('more');
  });

  it('goes together with branches and tags', async () => {
    await commitFile('more.txt', 'more');
    await mustGit('tag', '-am', 'a version', 'v1');
    await mustGit('branch', 'topic');
    await mustGit('push', '-q', '--atomic', 'origin', 'main', 'topic', 'v1');
    expect(await mustGit('ls-remote', 'origin')).toMatch(/refs\/heads\/topic\n.*refs\/tags\/v1\n/s);
    expect(await project.content('more.txt')).toBe('more');
    await mustGit('push', '-q', 'origin', ':topic', ':v1');
    expect(await mustGit('ls-remote', 'origin')).not.toMatch(/topic|v1/);
  });

  it('wins or loses as a whole against another push', async () => {
    const other = folders.make();
    await runUserGit(other, ['clone', '-q', url(), '.']);
    writeFileSync(path.join(other, 'main.ts'), 'const theirs: number = 1;\n');
    await runUserGit(other, ['commit', '-qam', 'theirs']);
    await commitFile('main.ts', 'const ours: number = 1;\n');
    const both = await Promise.all([
      git('push', 'origin', 'main'),
      runUserGit(other, ['push', 'origin', 'main']),
    ]);
    expect(both.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([0, 1]);
    const winner = both[0]?.code === 0 ? 'ours' : 'theirs';
    expect(await project.content('main.ts')).toContain(winner);
    expect(await project.content('main.js')).toContain(winner);
    expect((await project.commits()).body['commits']).toHaveLength(2);
    await expectWell();
  });

  it('never mixes with writes that arrive at the same time', async () => {
    for (let round = 0; round < 3; round += 1) {
      await commitFile('main.ts', `const pushed: number = ${round};\n`);
      const [push, write] = await Promise.all([
        git('push', 'origin', 'main'),
        project.write('main.ts', `const written: number = ${round};\n`),
      ]);
      expect(write.status).toBe(200);
      expect(await project.content('main.ts')).toBe(`const written: number = ${round};\n`);
      expect(await project.content('main.js')).toContain(`const written = ${round};`);
      if (push.code === 0) await project.mustCommit();
      else {
        expect(push.text).toMatch(/uncommitted changes|main has moved/);
        const { body } = await project.commits();
        await project.revert(String((body['commits'] as { hash: string }[])[0]?.hash));
      }
      await mustGit('fetch', '-q');
      await mustGit('reset', '-q', '--hard', 'origin/main');
    }
    await expectWell();
  });
});

describe('callers of git', () => {
  beforeAll(async () => {
    await makeClone();
    await commitFile('more.txt', 'more');
  });

  it.each([
    [
      'no token',
      () => `${server.url}/git/${project.id}.git`,
      /could not read Username|Authentication failed/,
    ],
    ['a wrong token', () => url('phx_wrong'), /Authentication failed/],
    ['a project that is not there', () => url().replace(project.id, crypto.randomUUID()), /was not found/],
    ['a path out of the folder', () => url().replace(project.id, '..%2f..'), /was not found/],
  ])('are refused with %s', async (_, address, says) => {
    const { code, text } = await git('ls-remote', address());
    expect([code, text]).toEqual([128, expect.stringMatching(says)]);
  });

  it('are asked for a password in the way that git understands', async () => {
    const reply = await fetch(`${server.url}/git/${project.id}.git/info/refs?service=git-upload-pack`);
    expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/^Basic realm=/),
    ]);
  });

  it.each([
    ['may fetch and not push with the scope read', { scopes: ['read'] }, 0, 128],
    ['may not fetch without the scope read', { scopes: ['launch'] }, 128, 128],
    ['see nothing of it with a token for another project', 'another project', 128, 128],
  ])('%s', async (_, limit, fetchCode, pushCode) => {
    const fields = typeof limit === 'string' ? { project_ids: [await server.createProject(ann.api)] } : limit;
    const { secret } = await server.createToken({ user_id: ann.userId, ...fields });
    expect((await git('ls-remote', url(secret))).code).toBe(fetchCode);
    expect((await git('push', url(secret), 'main')).code).toBe(pushCode);
    expect(await project.content('more.txt')).toBeUndefined();
  });

  it('get no file of the repository over plain HTTP', async () => {
    for (const file of ['HEAD', 'config', 'objects/info/packs', '../../phalanx.db', 'hooks/pre-receive']) {
      const reply = await fetch(`${server.url}/git/${project.id}.git/${file}`, {
        headers: { authorization: `Bearer ${ann.token}` },
      });
      expect(reply.status).toBe(404);
    }
  });

  it('may fetch as viewers and push as editors', async () => {
    const ben = await server.createCaller('ben');
    const member = `/api/v2/automation-project/${project.id}/members/${ben.userId}`;
    expect((await git('ls-remote', url(ben.token))).text).toContain('was not found');
    await ann.api('PUT', member, { body: { role: 'shared_viewer' } });
    expect((await git('ls-remote', url(ben.token))).code).toBe(0);
    const refused = await git('push', url(ben.token), 'main');
    expect([refused.code, refused.text]).toEqual([
      128,
      expect.stringContaining('You may read this project, but not push'),
    ]);
    await ann.api('PUT', member, { body: { role: 'shared_editor' } });
    expect((await git('push', url(ben.token), 'main')).code).toBe(0);
  });

  it('are let go when their project is deleted', async () => {
    await project.put('large.bin', 'x'.repeat(1024 * 1024));
    const clones = Array.from({ length: 4 }, () => runUserGit(folders.make(), ['clone', '-q', url(), '.']));
    const { status } = await project.delete();
    expect(status).toBe(200);
    for (const { code } of await Promise.all(clones)) expect([0, 128]).toContain(code);
    expect((await git('fetch')).text).toContain('was not found');
    expect((await project.changes().catch(String)) as unknown).toContain('project_not_found');
  });
});

describe('a push that could be better', () => {
  it('is accepted, with the warnings that a write of its files would give', async () => {
    await makeClone();
    const schema = '{"type": "no type"}';
    const written = await (await TestProject.create(ann.api)).write('parameters.schema.json', schema);
    const [warning] = written.body['warnings'] as string[];
    await commitFile('parameters.schema.json', schema);
    expect(await mustGit('push', 'origin', 'main')).toContain(`remote: warning: ${warning}`);
    await commitFile('notes.txt', 'nothing to look at');
    expect(await mustGit('push', 'origin', 'main')).not.toContain('warning');
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import {
  cloneUrl,
  findDamage,
  gitDirOf,
  runUserGit,
  TestFolders,
  TestProject,
} from '../projects/testing/test-projects.ts';
import type { ApiCaller } from '../testing/api-caller.ts';
import { TestServer } from '../testing/test-server.ts';

let server: TestServer;
let ann: { token: string; api: ApiCaller };
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
beforeEach(async () => {
  project = await TestProject.create(ann.api);
  folder = folders.make();
  await git(['init', '-q', '-b', 'main']);
});

async function git(args: readonly string[], input = ''): Promise<string> {
  const { code, text } = await runUserGit(folder, args, input);
  if (code !== 0) throw new Error(text);
  return text.trim();
}

interface Entry {
  mode: string;
  name: string | Buffer;
  id: string;
}

const blob = (content: string): Promise<string> => git(['hash-object', '-w', '--stdin'], content);
const submodule = '1'.repeat(40);

/** A tree as no honest git writes it. */
async function tree(...entries: Entry[]): Promise<string> {
  const bytes = Buffer.concat(
    entries.flatMap(({ mode, name, id }) => [
      Buffer.from(`${mode} `),
      Buffer.from(name),
      Buffer.from([0]),
      Buffer.from(id, 'hex'),
    ]),
  );
  const { writeFile } = await import('node:fs/promises');
  await writeFile(`${folder}/.git/tree`, bytes);
  return git(['hash-object', '-w', '-t', 'tree', '--literally', '.git/tree']);
}

async function commitTree(id: string, parent?: string): Promise<string> {
  return git(['commit-tree', id, '-m', 'hostile', ...(parent === undefined ? [] : ['-p', parent])]);
}

async function push(commit: string, branch: string): Promise<{ code: number; text: string }> {
  return runUserGit(folder, [
    'push',
    cloneUrl(server, ann.token, project.id),
    `${commit}:refs/heads/${branch}`,
  ]);
}

type MakeTree = () => Promise<string>;
const file = async (name: string | Buffer, mode = '100644'): Promise<string> =>
  tree({ mode, name, id: await blob('text') });

const hostile: readonly [string, MakeTree, RegExp][] = [
  ['a symbolic link', () => file('link', '120000'), /symbolic link/],
  ['a submodule', () => tree({ mode: '160000', name: 'sub', id: submodule }), /submodule/],
  [
    'a symbolic link in a folder',
    async () => tree({ mode: '40000', name: 'a', id: await file('link', '120000') }),
    /symbolic link/,
  ],
  ['a file named .git', () => file('.git'), /\.git/],
  [
    'a folder named .GIT',
    async () => tree({ mode: '40000', name: '.GIT', id: await file('config') }),
    /git/i,
  ],
  ['git~1', () => file('git~1'), /git/],
  ['.git with an invisible character', () => file('.g\u200cit'), /git/],
  ['..', async () => tree({ mode: '40000', name: '..', id: await file('evil') }), /\.\./],
  ['.', async () => tree({ mode: '40000', name: '.', id: await file('evil') }), /\./],
  ['a slash in a name', () => file('../../evil'), /contains full pathnames|fullPathname/],
  ['a backslash in a name', () => file('a\\b'), /backslash/],
  ['a line break in a name', () => file('a\nb'), /control character/],
  ['a name that is no UTF-8', () => file(Buffer.from([0x61, 0xff])), /UTF-8/],
  ['a name that is too long', () => file(`${'.'.repeat(100_000)}x`), /more than 255 bytes/],
  ['.gitmodules', () => file('.gitmodules'), /gitmodules/],
  [
    'a folder named .gitmodules',
    async () => tree({ mode: '40000', name: '.gitmodules', id: await file('x') }),
    /gitmodules/,
  ],
  [
    'a folder named .gitattributes',
    async () => tree({ mode: '40000', name: '.gitattributes', id: await file('x') }),
    /gitattributes/,
  ],
  ['a writable mode', () => file('a', '100666'), /mode/i],
  [
    'a file twice',
    async () =>
      tree(
        { mode: '100644', name: 'a', id: await blob('1') },
        { mode: '100644', name: 'a', id: await blob('2') },
      ),
    /duplicate/i,
  ],
  [
    'folders out of order',
    async () =>
      tree(
        { mode: '100644', name: 'b', id: await blob('1') },
        { mode: '100644', name: 'a', id: await blob('2') },
      ),
    /sorted/i,
  ],
  [
    'a path that is too long',
    async () => {
      let id = await file('x'.repeat(200));
      for (let depth = 0; depth < 5; depth += 1)
        id = await tree({ mode: '40000', name: 'y'.repeat(200), id });
      return id;
    },
    /1024 bytes/,
  ],
  [
    'a compiled file beside its source',
    async () =>
      tree(
        { mode: '100644', name: 'main.js', id: await blob('1') },
        { mode: '100644', name: 'main.ts', id: await blob('1') },
      ),
    /compiled from "main\.ts"/,
  ],
  [
    'two sources of one compiled file',
    async () =>
      tree(
        { mode: '100644', name: 'main.ts', id: await blob('1') },
        { mode: '100644', name: 'main.tsx', id: await blob('1') },
      ),
    /would be compiled to/,
  ],
];

describe('a push', () => {
  it.each(hostile)('of %s is refused on main and on other branches', async (_, make, says) => {
    const commit = await commitTree(await make());
    const before = await runUserGit(await gitDirOf(server, project), ['count-objects', '-v']);
    for (const branch of ['main', 'topic']) {
      const { code, text } = await push(commit, branch);
      expect([code, text]).toEqual([1, expect.stringMatching(says)]);
    }
    expect(await runUserGit(await gitDirOf(server, project), ['count-objects', '-v'])).toEqual(before);
    expect(await project.changes()).toEqual({});
  });

  it('is refused when an earlier commit of it has what the newest has not', async () => {
    const first = await commitTree(await file('link', '120000'));
    const second = await commitTree(await file('fine.txt'), first);
    expect((await push(second, 'main')).text).toContain('symbolic link');
  });

  it('is refused with too many files', async () => {
    const id = await blob('x');
    const names = Array.from({ length: 10_001 }, (_, index) => `${index}`).sort();
    const commit = await commitTree(await tree(...names.map((name) => ({ mode: '100644', name, id }))));
    expect((await push(commit, 'main')).text).toContain('at most 10000');
  });

  it.each([1, 2])(
    'is refused with a million paths of few objects, %i commits from its tip',
    async (depth) => {
      let id = await file('x');
      for (let level = 0; level < 6; level += 1)
        id = await tree(
          ...Array.from({ length: 10 }, (_, digit) => `${digit}`).map((name) => ({
            mode: '40000',
            name,
            id,
          })),
        );
      let commit = await commitTree(id);
      if (depth === 2) commit = await commitTree(await file('fine.txt'), commit);
      expect((await push(commit, 'topic')).text).toMatch(/1000000 files/);
    },
  );

  it('is refused with a commit, or a folder, that is too large to be read', async () => {
    const long = await git(['commit-tree', await file('x'), '-F', '-'], 'x'.repeat(100_000));
    expect((await push(long, 'topic')).text).toContain('a commit may have 65536');
    const id = await blob('x');
    const names = Array.from({ length: 60_000 }, (_, index) => `${10_000_000 + index}`);
    const wide = await commitTree(await tree(...names.map((name) => ({ mode: '100644', name, id }))));
    expect((await push(wide, 'topic')).text).toContain('a folder may have 2097152');
  });

  it('is refused with a path that is too long below its tip', async () => {
    let id = await file('x');
    for (let level = 0; level < 6; level += 1) id = await tree({ mode: '40000', name: 'y'.repeat(200), id });
    const commit = await commitTree(await file('fine.txt'), await commitTree(id));
    expect((await push(commit, 'topic')).text).toContain('1024 bytes');
  });

  it('of long messages is listed in pages that end sooner', async () => {
    const id = await file('x');
    let commit: string | undefined;
    const parent = (): string[] => (commit === undefined ? [] : ['-p', commit]);
    for (let at = 0; at < 20; at += 1)
      commit = await git(['commit-tree', id, '-F', '-', ...parent()], `${at} ${'x'.repeat(60_000)}`);
    expect((await push(commit ?? '', 'main')).code).toBe(0);
    const first = await project.commits();
    expect(first.text.length).toBeLessThan(1_100_000);
    expect(first.body['commits']).toHaveLength(17);
    const rest = await project.commits(String(first.body['next_cursor']));
    expect(rest.body).toMatchObject({ commits: [{}, {}, {}], next_cursor: null });
  });

  it('is refused with folders that are nested too deeply, at its tip and below it', async () => {
    let id = await file('x');
    for (let depth = 0; depth < 65; depth += 1) id = await tree({ mode: '40000', name: 'd', id });
    const deep = await commitTree(id);
    expect((await push(deep, 'topic')).text).toContain('64 folders');
    expect((await push(await commitTree(await file('fine.txt'), deep), 'main')).text).toContain('64 folders');
  });

  it('is refused with folders of many MB in a small pack', async () => {
    const id = await blob('x');
    const names = Array.from({ length: 54_000 }, (_, index) => `${10_000_000 + index}`);
    const entries = names.map((name) => ({ mode: '100644', name, id }));
    let commit: string | undefined;
    for (let at = 0; at < 36; at += 1)
      commit = await commitTree(await tree(...entries.toSpliced(at, 1)), commit);
    expect((await push(commit ?? '', 'topic')).text).toContain('push in smaller steps');
    expect((await project.commits()).status).toBe(200);
  });

  it('is refused with a file that is too large', async () => {
    const commit = await commitTree(
      await tree({ mode: '100644', name: 'large', id: await blob('x'.repeat(50 * 1024 * 1024 + 1)) }),
    );
    expect((await push(commit, 'topic')).text).toContain('a file may have 52428800');
  });

  it.each(['refs/phalanx/saved', 'refs/notes/x', 'refs/heads/main/below'])(
    'to %s is refused',
    async (ref) => {
      await project.put('a.txt', 'a');
      await project.mustCommit();
      const commit = await commitTree(await file('fine.txt'));
      const { code } = await runUserGit(folder, [
        'push',
        cloneUrl(server, ann.token, project.id),
        `${commit}:${ref}`,
      ]);
      expect(code).toBe(1);
      expect(await project.content('a.txt')).toBe('a');
      expect(await findDamage(await gitDirOf(server, project))).toBe('');
    },
  );

  it('of a tag that is no commit is refused', async () => {
    const { code, text } = await runUserGit(folder, [
      'push',
      cloneUrl(server, ann.token, project.id),
      `${await blob('text')}:refs/tags/blob`,
    ]);
    expect([code, text]).toEqual([1, expect.stringContaining('is not a commit')]);
  });
});

describe('the endpoints of git', () => {
  const call = (
    path: string,
    init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
  ): Promise<Response> =>
    fetch(`${server.url}/git/${project.id}.git/${path}`, {
      ...init,
      headers: { authorization: `Bearer ${ann.token}`, ...init.headers },
    });

  it.each([
    ['info/refs', 403],
    ['info/refs?service=git-upload-archive', 403],
    ['info/refs?service=git-receive-pack', 200],
  ])('answer GET %s', async (path, status) => {
    expect((await call(path)).status).toBe(status);
  });

  it('let no header reach the environment of git', async () => {
    const headers = { 'git-protocol': 'version=2:\u0020x=$(touch /tmp/x)', 'x-git-dir': '/etc' };
    expect((await call('info/refs?service=git-upload-pack', { headers })).status).toBe(200);
  });

  it.each([
    ['application/json', '{}', 415],
    ['application/x-git-receive-pack-request', 'rubbish', 200],
    ['application/x-git-receive-pack-request', '', 200],
  ])('take rubbish as %s without harm', async (type, body, status) => {
    const reply = await call('git-receive-pack', { method: 'POST', body, headers: { 'content-type': type } });
    await reply.arrayBuffer().catch(() => undefined);
    expect(reply.status).toBe(status);
    await project.put('a.txt', 'still works');
  });

  it('survive a body that is not what its encoding says', async () => {
    const reply = await call('git-upload-pack', {
      method: 'POST',
      body: 'not zipped',
      headers: { 'content-type': 'application/x-git-upload-pack-request', 'content-encoding': 'gzip' },
    });
    await reply.arrayBuffer().catch(() => undefined);
    await project.put('a.txt', 'still works');
    expect(await project.content('a.txt')).toBe('still works');
  });
});

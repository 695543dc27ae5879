import { readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { NewObjects } from '../git/draft.ts';
import { buildPack } from '../git/pack.ts';
import { installPack } from '../git/testing/install-pack.ts';
import {
  cloneUrl,
  findDamage,
  gitDirOf,
  type Ran,
  runUserGit,
  TestFolders,
  TestProject,
} from '../projects/testing/test-projects.ts';
import type { ApiCaller } from '../../testing/api-caller.ts';
import { TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let ann: { token: string; api: ApiCaller };
/** Project that refuses every push and stays empty. */
let project: TestProject;
const folders = new TestFolders();
const folder = folders.make();
/** Objects that the user's repository does not have yet. */
let objects = new NewObjects();

beforeAll(async () => {
  server = await TestServer.start();
  ann = await server.createCaller('ann');
  project = await TestProject.create(ann.api);
  await runUserGit(folder, ['init', '-q', '-b', 'main']);
});
afterAll(async () => {
  await server.dispose();
  await folders.removeAll();
});

interface Entry {
  mode: string;
  name: string | Buffer;
  id: string;
}

const blob = (content: string): string => objects.add('blob', content);
const submodule = '1'.repeat(40);

/** Builds the bytes of a tree that a genuine git never writes. */
const treeBytes = (entries: readonly Entry[]): Buffer =>
  Buffer.concat(
    entries.flatMap(({ mode, name, id }) => [
      Buffer.from(`${mode} `),
      Buffer.from(name),
      Buffer.from([0]),
      Buffer.from(id, 'hex'),
    ]),
  );
const tree = (...entries: readonly Entry[]): string => objects.add('tree', treeBytes(entries));

/** Builds the bytes of a tree of sorted files, all with the same content and with eight-digit names. */
function wideTreeBytes(count: number): Buffer {
  const id = blob('x');
  const entries = Array.from({ length: count }, (_, at) => ({
    mode: '100644',
    name: String(10_000_000 + at),
    id,
  }));
  return treeBytes(entries);
}

function commitTree(id: string, parent?: string, message = 'hostile'): string {
  const ada = 'Ada <ada@example.org> 1700000000 +0000';
  const parents = parent === undefined ? '' : `parent ${parent}\n`;
  return objects.add('commit', `tree ${id}\n${parents}author ${ada}\ncommitter ${ada}\n\n${message}\n`);
}

async function pushTo(target: TestProject, id: string, ref: string): Promise<Ran> {
  const pack = await buildPack(objects.list());
  objects = new NewObjects();
  await installPack(path.join(folder, '.git'), pack);
  return runUserGit(folder, ['push', cloneUrl(server, ann.token, target.id), `${id}:${ref}`]);
}
const push = (commit: string, branch: string): Promise<Ran> =>
  pushTo(project, commit, `refs/heads/${branch}`);

type MakeTree = () => string;
const file = (name: string | Buffer, mode = '100644'): string => tree({ mode, name, id: blob('text') });

const hostile: readonly [string, MakeTree, RegExp][] = [
  ['a symbolic link', () => file('link', '120000'), /symbolic link/],
  ['a submodule', () => tree({ mode: '160000', name: 'sub', id: submodule }), /submodule/],
  [
    'a symbolic link in a folder',
    () => tree({ mode: '40000', name: 'a', id: file('link', '120000') }),
    /symbolic link/,
  ],
  ['a file named .git', () => file('.git'), /\.git/],
  ['a folder named .GIT', () => tree({ mode: '40000', name: '.GIT', id: file('config') }), /git/i],
  ['git~1', () => file('git~1'), /git/],
  ['.git with an invisible character', () => file('.g\u200cit'), /git/],
  ['..', () => tree({ mode: '40000', name: '..', id: file('evil') }), /\.\./],
  ['.', () => tree({ mode: '40000', name: '.', id: file('evil') }), /\./],
  ['a slash in a name', () => file('../../evil'), /contains full pathnames|fullPathname/],
  ['a backslash in a name', () => file('a\\b'), /backslash/],
  ['a line break in a name', () => file('a\nb'), /control character/],
  ['a name that is no UTF-8', () => file(Buffer.from([0x61, 0xff])), /UTF-8/],
  ['a name that is too long', () => file(`${'.'.repeat(100_000)}x`), /more than 255 bytes/],
  ['.gitmodules', () => file('.gitmodules'), /gitmodules/],
  [
    'a folder named .gitmodules',
    () => tree({ mode: '40000', name: '.gitmodules', id: file('x') }),
    /gitmodules/,
  ],
  [
    'a folder named .gitattributes',
    () => tree({ mode: '40000', name: '.gitattributes', id: file('x') }),
    /gitattributes/,
  ],
  ['a writable mode', () => file('a', '100666'), /mode/i],
  [
    'a file twice',
    () => tree({ mode: '100644', name: 'a', id: blob('1') }, { mode: '100644', name: 'a', id: blob('2') }),
    /duplicate/i,
  ],
  [
    'folders out of order',
    () => tree({ mode: '100644', name: 'b', id: blob('1') }, { mode: '100644', name: 'a', id: blob('2') }),
    /sorted/i,
  ],
  [
    'a path that is too long',
    () => {
      let id = file('x'.repeat(200));
      for (let depth = 0; depth < 5; depth += 1) id = tree({ mode: '40000', name: 'y'.repeat(200), id });
      return id;
    },
    /1024 bytes/,
  ],
  [
    'a compiled file beside its source',
    () =>
      tree(
        { mode: '100644', name: 'main.js', id: blob('1') },
        { mode: '100644', name: 'main.ts', id: blob('1') },
      ),
    /compiled from "main\.ts"/,
  ],
  [
    'two sources of one compiled file',
    () =>
      tree(
        { mode: '100644', name: 'main.ts', id: blob('1') },
        { mode: '100644', name: 'main.tsx', id: blob('1') },
      ),
    /would be compiled to/,
  ],
];

/**
 * Names of pushes that fail one check each: git's own check of objects, our check of each folder, and our check of the
 * newest commit as a whole. None of the checks depends on the branch.
 */
const refusedByEach = ['a file twice', 'a symbolic link', 'a compiled file beside its source'];

/** Lists the object files of the server's repository of the project. */
async function listObjects(): Promise<string[]> {
  const found = readdirSync(path.join(await gitDirOf(server, project), 'objects'), { recursive: true });
  return found.map(String).toSorted();
}

describe('a push', () => {
  it.each(hostile)('of %s is refused', async (name, make, says) => {
    const commit = commitTree(make());
    const before = await listObjects();
    const branches = refusedByEach.includes(name) ? ['main', 'topic'] : ['main'];
    for (const branch of branches) {
      const { code, text } = await push(commit, branch);
      expect([code, text]).toEqual([1, expect.stringMatching(says)]);
    }
    expect(await listObjects()).toEqual(before);
    expect(await project.changes()).toEqual({});
  });

  it('is refused when an earlier commit of it has what the newest has not', async () => {
    const first = commitTree(file('link', '120000'));
    const second = commitTree(file('fine.txt'), first);
    expect((await push(second, 'main')).text).toContain('symbolic link');
  });

  it('is refused with too many files', async () => {
    expect((await push(commitTree(objects.add('tree', wideTreeBytes(10_001))), 'main')).text).toContain(
      'at most 10000',
    );
  });

  it.each([1, 2])(
    'is refused with a million paths of few objects, %i commits from its tip',
    async (depth) => {
      let id = file('x');
      const digits = Array.from({ length: 10 }, (_, digit) => `${digit}`);
      for (let level = 0; level < 6; level += 1) {
        const below = id;
        id = tree(...digits.map((name) => ({ mode: '40000', name, id: below })));
      }
      let commit = commitTree(id);
      if (depth === 2) commit = commitTree(file('fine.txt'), commit);
      expect((await push(commit, 'topic')).text).toMatch(/1000000 files/);
    },
  );

  it('is refused with a commit, or a folder, that is too large to be read', async () => {
    const long = commitTree(file('x'), undefined, 'x'.repeat(100_000));
    expect((await push(long, 'topic')).text).toContain('a commit may have 65536');
    const wide = commitTree(objects.add('tree', wideTreeBytes(60_000)));
    expect((await push(wide, 'topic')).text).toContain('a folder may have 2097152');
  });

  it('is refused with a path that is too long below its tip', async () => {
    let id = file('x');
    for (let level = 0; level < 6; level += 1) id = tree({ mode: '40000', name: 'y'.repeat(200), id });
    const commit = commitTree(file('fine.txt'), commitTree(id));
    expect((await push(commit, 'topic')).text).toContain('1024 bytes');
  });

  it('of long messages is listed in pages that end sooner', async () => {
    const own = await TestProject.create(ann.api);
    const id = file('x');
    let commit: string | undefined;
    for (let at = 0; at < 20; at += 1) commit = commitTree(id, commit, `${at} ${'x'.repeat(60_000)}`);
    expect((await pushTo(own, commit ?? '', 'refs/heads/main')).code).toBe(0);
    const first = await own.commits();
    expect(first.text.length).toBeLessThan(1_100_000);
    expect(first.body['commits']).toHaveLength(17);
    const rest = await own.commits(String(first.body['next_cursor']));
    expect(rest.body).toMatchObject({ commits: [{}, {}, {}], next_cursor: null });
  });

  it('is refused with folders that are nested too deeply, at its tip and below it', async () => {
    let id = file('x');
    for (let depth = 0; depth < 65; depth += 1) id = tree({ mode: '40000', name: 'd', id });
    const deep = commitTree(id);
    expect((await push(deep, 'topic')).text).toContain('64 folders');
    expect((await push(commitTree(file('fine.txt'), deep), 'main')).text).toContain('64 folders');
  });

  it('is refused with folders of many MB in a small pack', async () => {
    const bytes = wideTreeBytes(58_000);
    const entryBytes = bytes.length / 58_000;
    let commit: string | undefined;
    for (let at = 0; at < 33; at += 1) {
      const others = [bytes.subarray(0, at * entryBytes), bytes.subarray((at + 1) * entryBytes)];
      commit = commitTree(objects.add('tree', Buffer.concat(others)), commit);
    }
    expect((await push(commit ?? '', 'topic')).text).toContain('push in smaller steps');
    expect((await project.commits()).status).toBe(200);
  });

  it('is refused with a file that is too large', async () => {
    const id = blob('x'.repeat(50 * 1024 * 1024 + 1));
    const commit = commitTree(tree({ mode: '100644', name: 'large', id }));
    expect((await push(commit, 'topic')).text).toContain('a file may have 52428800');
  });

  it('to anything but a branch or a tag is refused', async () => {
    const own = await TestProject.create(ann.api);
    await own.put('a.txt', 'a');
    await own.mustCommit();
    const commit = commitTree(file('fine.txt'));
    for (const ref of ['refs/phalanx/saved', 'refs/notes/x', 'refs/heads/main/below']) {
      const { code, text } = await pushTo(own, commit, ref);
      expect([code, text]).toEqual([1, expect.stringContaining(ref)]);
      expect(await own.content('a.txt')).toBe('a');
    }
    expect(await findDamage(await gitDirOf(server, own))).toBe('');
  });

  it('of more than 1,000 branches is refused', async () => {
    const commit = commitTree(file('fine.txt'));
    await installPack(path.join(folder, '.git'), await buildPack(objects.list()));
    objects = new NewObjects();
    // Pushes enough refs that the hook is still sending when the server stops reading.
    const refs = Array.from({ length: 5000 }, (_, at) => `${commit}:refs/heads/one-of-many-${at}`);
    const { code, text } = await runUserGit(folder, [
      'push',
      cloneUrl(server, ann.token, project.id),
      ...refs,
    ]);
    expect([code, text]).toEqual([1, expect.stringContaining('at most 1000 branches and tags')]);
    expect(await findDamage(await gitDirOf(server, project))).toBe('');
  });

  it('of a tag that is no commit is refused', async () => {
    const { code, text } = await pushTo(project, blob('text'), 'refs/tags/blob');
    expect([code, text]).toEqual([1, expect.stringContaining('is not a commit')]);
  });
});

describe('the endpoints of git', () => {
  beforeAll(async () => {
    project = await TestProject.create(ann.api);
  });
  const call = (
    place: string,
    init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
  ): Promise<Response> =>
    fetch(`${server.url}/git/${project.id}.git/${place}`, {
      ...init,
      headers: { authorization: `Bearer ${ann.token}`, ...init.headers },
    });

  it.each([
    ['info/refs', 403],
    ['info/refs?service=git-upload-archive', 403],
    ['info/refs?service=git-receive-pack', 200],
  ])('answer GET %s', async (place, status) => {
    expect((await call(place)).status).toBe(status);
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

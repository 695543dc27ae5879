import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { findDamage, gitDirOf, runUserGit, TestProject } from '../projects/testing/test-projects.ts';
import type { ApiCaller } from '../../testing/api-caller.ts';
import { stringAt } from '../../testing/string-at.ts';
import { TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let ann: { userId: string; api: ApiCaller };
let project: TestProject;

beforeAll(async () => {
  server = await TestServer.start();
  ann = await server.createCaller('Ann <the> "first"');
});
afterAll(() => server.dispose());
beforeEach(async () => {
  project = await TestProject.create(ann.api);
});

describe('a commit', () => {
  it('gives the hash that git knows it by, with the caller as its author', async () => {
    await project.put('main.ts', 'const a = 1;\n');
    const reply = await project.commit('  first\r\n\r\nwith a body \n');
    expect(reply.status).toBe(201);
    const hash = stringAt(reply.body['commit'], 'hash');
    expect(reply.body).toEqual({ success: true, commit: { hash, message: 'first\n\nwith a body' } });
    const { text } = await runUserGit(await gitDirOf(server, project), [
      'log',
      '--format=%H %an <%ae>%n%B',
      'main',
    ]);
    expect(text).toContain(`${hash} Ann  the  "first <${ann.userId}@phalanx.invalid>\nfirst\n\nwith a body`);
    const { body } = await project.commits();
    expect(body).toMatchObject({
      commits: [{ hash, message: 'first\n\nwith a body', parents: [], created_at: expect.any(Number) }],
      next_cursor: null,
    });
  });

  it('holds sources only', async () => {
    await project.put('main.ts', 'const a = 1;\n');
    await project.mustCommit();
    const { text } = await runUserGit(await gitDirOf(server, project), [
      'ls-tree',
      '-r',
      '--name-only',
      'main',
    ]);
    expect(text).toBe('main.ts\n');
  });

  it('takes all changes at once, deletions too', async () => {
    await project.put('a.txt', 'a');
    await project.put('b.txt', 'b');
    await project.mustCommit();
    await project.remove('a.txt');
    await project.put('c.txt', 'c');
    await project.mustCommit();
    expect(await project.changes()).toEqual({ 'b.txt': 'unchanged', 'c.txt': 'unchanged' });
    expect((await project.commit('again')).body).toMatchObject({ success: false, code: 'nothing_to_commit' });
  });

  it('can leave a project without files', async () => {
    await project.put('a.txt', 'a');
    await project.mustCommit();
    await project.remove('a.txt');
    await project.mustCommit();
    expect(await project.changes()).toEqual({});
    expect((await project.commit('again')).status).toBe(400);
    await project.put('a.txt', 'a');
    expect(await project.changes()).toEqual({ 'a.txt': 'added' });
    expect(await findDamage(await gitDirOf(server, project))).toBe('');
  });

  it('needs changes', async () => {
    expect((await project.commit('empty')).body).toMatchObject({ success: false, code: 'nothing_to_commit' });
    await project.put('a.txt', 'a');
    await project.mustCommit();
    await project.put('a.txt', 'b');
    await project.put('a.txt', 'a');
    expect((await project.commit('no change after all')).status).toBe(400);
  });

  it.each([
    ['no text', 1],
    ['nothing', ''],
    ['white space', ' \n\t '],
    ['1001 characters', 'x'.repeat(1001)],
    ['a NUL', 'a\u0000b'],
    ['an escape sequence', 'a\u001b[31mb'],
    ['half of a surrogate pair', '\ud83d'],
  ])('refuses a message of %s', async (_, message) => {
    await project.put('a.txt', 'a');
    const reply = await project.commit(message);
    expect([reply.status, reply.body['message']]).toEqual([400, expect.stringContaining('message')]);
  });

  it.each(['x', ' x ', 'x'.repeat(1000), '🦴'.repeat(1000), '-m --amend', '# no comment', 'é\n\n\nü'])(
    'keeps a message as it is: %j',
    async (message) => {
      await project.put('a.txt', 'a');
      await project.mustCommit(message);
      const { body } = await project.commits();
      expect(body['commits']).toMatchObject([{ message: message.trim() }]);
    },
  );
});

describe('the list of commits', () => {
  it('comes in pages that stay as they are while commits are added', async () => {
    const hashes: string[] = [];
    const add = async (index: number): Promise<void> => {
      await project.put('a.txt', `${index}`);
      hashes.unshift(await project.mustCommit(`commit ${index}`));
    };
    const list = (query: string) =>
      ann.api('GET', `/api/v2/automation/commits/${project.id}?limit=5${query}`);
    for (let index = 0; index < 8; index += 1) await add(index);
    const first = await list('');
    const expected = [...hashes];
    await add(200);
    const second = await list(`&cursor=${stringAt(first.body, 'next_cursor')}`);
    const listed = [first, second].flatMap(({ body }) => body['commits'] as { hash: string }[]);
    expect(listed.map(({ hash }) => hash)).toEqual(expected);
    expect(second.body['next_cursor']).toBeNull();
  });

  it.each(['x', '--all', `${'0'.repeat(40)}.1`, 'HEAD.5'])('refuses the cursor %s', async (cursor) => {
    const reply = await project.commits(cursor);
    expect([reply.status, reply.body['message']]).toEqual([400, expect.stringContaining('cursor')]);
  });
});

describe('the files of a commit', () => {
  it('are listed and read as it has them, whatever is saved now', async () => {
    await project.put('a.txt', 'one\n');
    await project.put('gone.txt', 'old\n');
    const commit = await project.mustCommit();
    await project.put('a.txt', 'two\n');
    await project.remove('gone.txt');
    const read = (path: string, hash = commit) =>
      ann.api('GET', `/api/v2/automation/file/${project.id}?path=${path}&commit=${hash}`);
    const list = (hash: string) =>
      ann.api('GET', `/api/v2/automation/files/${project.id}?limit=1000&commit=${hash}`);
    expect((await list(commit)).body).toMatchObject({
      dirty: false,
      files: expect.arrayContaining([
        expect.objectContaining({ path: 'a.txt', size: 4, change: 'unchanged' }),
        expect.objectContaining({ path: 'gone.txt', change: 'unchanged' }),
      ]),
    });
    expect((await read('a.txt')).body).toMatchObject({ content: 'one\n' });
    expect((await read('gone.txt')).body).toMatchObject({ content: 'old\n' });
    expect((await read('none.txt')).body).toMatchObject({ code: 'file_not_found' });
    const unknown = '0'.repeat(40);
    for (const reply of [await read('a.txt', unknown), await list(unknown)])
      expect(reply).toMatchObject({ status: 404, body: { code: 'commit_not_found' } });
    expect((await read('a.txt', 'main')).status).toBe(400);
  });
});

describe('the diff', () => {
  it('tells what a commit of the history changed, also the first', async () => {
    const commit = async (content: string): Promise<string> => {
      await project.put('a.txt', content);
      return stringAt((await project.commit('change')).body['commit'], 'hash');
    };
    const diffOf = (hash: string) => ann.api('GET', `/api/v2/automation/diff/${project.id}?commit=${hash}`);
    const [first, second] = [await commit('one\n'), await commit('two\n')];
    expect((await diffOf(first)).body).toMatchObject({
      base: null,
      files: [{ path: 'a.txt', change: 'added', diff: expect.stringContaining('+one') }],
    });
    expect((await diffOf(second)).body).toMatchObject({
      base: first,
      files: [{ path: 'a.txt', change: 'modified', diff: expect.stringContaining('-one\n+two') }],
    });
    expect(await diffOf('0'.repeat(40))).toMatchObject({ status: 404, body: { code: 'commit_not_found' } });
    expect((await diffOf('main')).status).toBe(400);
  });

  it('has a text for each changed file', async () => {
    for (const name of ['changed.txt', 'gone.txt', 'ä "odd" name.txt']) await project.put(name, 'one\ntwo\n');
    const base = await project.mustCommit();
    await project.put('changed.txt', 'one\n2\ndiff --git a/x b/x\n');
    await project.put('new.txt', 'new\n');
    await project.put('ä "odd" name.txt', 'three\n');
    await project.remove('gone.txt');
    const { body } = await project.diff();
    expect(body).toMatchObject({ success: true, base, truncated: false });
    expect(body['files']).toMatchObject([
      {
        path: 'changed.txt',
        change: 'modified',
        diff: expect.stringContaining('-two\n+2\n+diff --git a/x b/x\n'),
      },
      { path: 'gone.txt', change: 'deleted', diff: expect.stringContaining('-one\n-two\n') },
      { path: 'new.txt', change: 'added', diff: expect.stringContaining('+new\n') },
      { path: 'ä "odd" name.txt', change: 'modified', diff: expect.stringContaining('+three\n') },
    ]);
  });

  it('leaves out the text of large files, and says when the whole is too large', async () => {
    await project.put('large.txt', 'x'.repeat(2 * 1024 * 1024));
    for (let index = 0; index < 6; index += 1)
      await project.put(`part-${index}.txt`, `${index}${'x'.repeat(998)}\n`.repeat(900));
    const { body } = await project.diff();
    expect(body['truncated']).toBe(true);
    expect(body['files']).toHaveLength(7);
    expect(body['files']).toMatchObject([
      { path: 'large.txt', diff: null },
      { diff: expect.any(String) },
      ...Array.from({ length: 5 }, () => ({})),
    ]);
  });

  it('is empty without changes', async () => {
    expect((await project.diff()).body).toEqual({ success: true, base: null, files: [], truncated: false });
  });
});

describe('a revert', () => {
  it('brings back the files of a commit with what they were compiled to', async () => {
    await project.put('main.ts', 'const first = 1;\n');
    const first = await project.mustCommit('first');
    await project.put('main.ts', 'const second = 2;\n');
    await project.put('more.ts', 'const more = 2;\n');
    const second = await project.mustCommit('second');
    const reply = await project.revert(first.toUpperCase());
    expect(reply.body).toMatchObject({ commit: { hash: first, message: 'first' }, replaced: null });
    expect(await project.content('main.js')).toContain('const first = 1;');
    expect(await project.content('more.js')).toBeUndefined();
    expect(await project.changes()).toEqual({ 'main.ts': 'modified', 'more.ts': 'deleted' });
    const third = await project.mustCommit('back');
    const { body } = await project.commits();
    expect(body['commits']).toMatchObject([{ hash: third }, { hash: second }, { hash: first }]);
  });

  it('keeps the uncommitted changes that it replaces', async () => {
    await project.put('main.ts', 'const committed = 1;\n');
    const head = await project.mustCommit();
    await project.put('main.ts', 'const uncommitted = 1;\n');
    const replaced = stringAt((await project.revert(head)).body, 'replaced');
    expect(await project.changes()).toEqual({ 'main.ts': 'unchanged' });
    expect((await project.revert(replaced)).status).toBe(200);
    expect(await project.content('main.ts')).toBe('const uncommitted = 1;\n');
    expect(await project.content('main.js')).toContain('const uncommitted = 1;');
  });

  it('works for a commit in which one file no longer fits the types of another', async () => {
    await project.put('lib.ts', 'export const f = (a: string) => a;\n');
    await project.put('main.ts', "import { f } from './lib';\nf('x');\n");
    await project.put('lib.ts', 'export const f = (a: number) => a;\n');
    const broken = await project.mustCommit();
    await project.put('main.ts', "import { f } from './lib';\nf(1);\n");
    await project.mustCommit();
    expect((await project.revert(broken)).status).toBe(200);
    expect(await project.content('main.js')).toContain('f("x")');
  });

  it.each(['x', 'HEAD', 'main~1', '--all', '0'.repeat(40)])('knows no commit %s', async (hash) => {
    await project.put('a.txt', 'a');
    await project.mustCommit();
    const reply = await project.revert(hash);
    expect([reply.status, reply.body['code']]).toEqual([404, 'commit_not_found']);
  });

  it('knows no commit of another project, and no tree', async () => {
    const other = await TestProject.create(ann.api);
    await other.put('a.txt', 'other');
    const foreign = await other.mustCommit();
    await project.put('a.txt', 'a');
    await project.mustCommit();
    const { text } = await runUserGit(await gitDirOf(server, project), ['rev-parse', 'main^{tree}']);
    for (const hash of [foreign, text.trim()]) expect((await project.revert(hash)).status).toBe(404);
  });
});

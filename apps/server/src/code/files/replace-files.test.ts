import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { TestProject } from '../projects/testing/test-projects.ts';
import type { ApiCaller } from '../../testing/api-caller.ts';
import { TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let api: ApiCaller;
let project: TestProject;

beforeAll(async () => {
  server = await TestServer.start();
  ({ api } = await server.createCaller('ann'));
});
afterAll(() => server.dispose());
beforeEach(async () => {
  project = await TestProject.create(api);
});

const replace = async (
  files: Record<string, string>,
  { deleted = [], etag }: { deleted?: string[]; etag?: string } = {},
) => project.replace(files, { deleted, etag: etag ?? (await project.etag()) });

describe('many files at once', () => {
  it('are saved with what they are compiled to, in whatever order they need each other', async () => {
    await project.put('old.ts', 'export const old = 1;\n');
    await project.put('kept.txt', 'kept');
    const before = await project.etag();
    const { status, body } = await replace(
      {
        'main.ts': `import { n } from './lib/n.ts';\nexport const m: number = n;\n`,
        'lib/n.ts': 'export const n = 2;\n',
        'data.json': '{',
      },
      { deleted: ['old.ts'] },
    );
    expect(body).toEqual({
      success: true,
      etag: await project.etag(),
      warnings: [expect.stringMatching(/^data\.json\(1,\d+\): error TS/)],
    });
    expect([status, before]).not.toContain(body['etag']);
    expect(await project.content('lib/n.js')).toContain('n = 2');
    expect(await project.content('old.js')).toBeUndefined();
    expect(Object.keys(await project.changes())).toEqual(['data.json', 'kept.txt', 'lib/n.ts', 'main.ts']);
  });

  it('change nothing when one of them does not compile, and say where', async () => {
    await project.put('a.ts', 'export const a = 1;\n');
    const before = await project.etag();
    const { status, body } = await replace({
      'a.ts': 'export const a = 2;\n',
      'b.ts': `import { a } from './a.ts';\nexport const b: string = a;\n`,
      'c.txt': 'c',
    });
    expect([status, body['code']]).toEqual([400, 'compile_failed']);
    expect(body['errors']).toEqual([expect.stringMatching(/^b\.ts\(2,14\): error TS2322: /)]);
    expect(await project.etag()).toBe(before);
    expect(await project.content('a.js')).toContain('a = 1');
  });

  it('break nothing that stays as it is', async () => {
    await project.put('n.ts', 'export const n = 1;\n');
    await project.put('user.ts', `import { n } from './n.ts';\nexport const m: number = n;\n`);
    expect(await replace({ 'n.ts': `export const n = 'text';\n` })).toMatchObject({
      status: 400,
      body: { errors: [expect.stringMatching(/^user\.ts\(2,14\)/)] },
    });
  });

  it('are refused with 412 when the files are not those that the caller has seen', async () => {
    const seen = await project.etag();
    await project.put('theirs.txt', 'theirs');
    const { status, body } = await replace({ 'mine.txt': 'mine' }, { etag: seen });
    expect([status, body['code']]).toEqual([412, 'precondition_failed']);
    expect(Object.keys(await project.changes())).toEqual(['theirs.txt']);
  });

  it('of several writers who have seen the same are those of exactly one', async () => {
    const etag = await project.etag();
    const replies = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        replace({ 'a.ts': `export const a = ${index};\n`, 'b.txt': `${index}` }, { etag }),
      ),
    );
    const winners = replies.flatMap(({ status }, index) => (status === 200 ? [index] : []));
    expect(winners).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 412)).toHaveLength(5);
    expect(await project.content('b.txt')).toBe(`${winners[0]}`);
    expect(await project.content('a.js')).toContain(`a = ${winners[0]};`);
  });

  it('have the rules of single writes', async () => {
    await project.put('main.ts', 'export {};\n');
    await project.put('plain', 'a file');
    await project.put('folder/x.txt', 'x');
    const before = await project.etag();
    for (const [files, code] of [
      [{ '../a': '' }, 'invalid_path'],
      [{ '.git/config': '' }, 'invalid_path'],
      [{ 'plain/a': '' }, 'invalid_path'],
      [{ 'main.js/a': '' }, 'invalid_path'],
      [{ folder: '' }, 'invalid_path'],
      [{ 'new/a': '', new: '' }, 'invalid_path'],
      [{ 'main.js': '' }, 'compiled_file'],
      [{ 'main.tsx': '' }, 'source_conflict'],
      [{ 'b.js': '', 'b.ts': '' }, 'compiled_file'],
      [{ 'tsconfig.json': '{"compilerOptions": {"outDir": "/"}}' }, 'invalid_tsconfig'],
      [{ 'a.txt': '\uD800' }, 'invalid_content'],
    ] as const)
      expect({ files, ...(await replace(files)).body }).toMatchObject({ files, code });
    for (const [deleted, code] of [
      [['none.txt'], 'file_not_found'],
      [['main.js'], 'compiled_file'],
      [['plain', 'plain'], 'invalid_path'],
    ] as const)
      expect((await replace({}, { deleted: [...deleted] })).body['code']).toBe(code);
    expect(await project.etag()).toBe(before);
    expect(await replace({ 'plain/a': 'now a folder' }, { deleted: ['plain'] })).toMatchObject({
      status: 200,
    });
    expect(await project.content('plain/a')).toBe('now a folder');
  });

  it('can be larger than what the server reads in passing', async () => {
    const large = 'Zürich 🏔\n'.repeat(200_000);
    const { status } = await replace({
      'large.txt': large,
      'a.ts': 'export const a: number = 1;\n',
      'empty.txt': '',
    });
    expect(status).toBe(200);
    expect(await project.content('large.txt')).toBe(large);
    expect(await project.content('a.js')).toContain('a = 1');
    expect(await project.content('empty.txt')).toBe('');
    const half = await replace({ 'large.txt': large, 'half.txt': '\uD800' });
    expect([half.status, half.body['code']]).toEqual([400, 'invalid_content']);
  });

  it('are no business of those who may not write', async () => {
    const { api: stranger } = await server.createCaller('bob');
    const body = { files: [{ path: 'a.txt', content: 'a' }], deleted: [], expected_etag: '"x"' };
    const reply = await stranger('PUT', `/api/v2/automation/files/${project.id}`, { body });
    expect([reply.status, reply.body['code']]).toEqual([404, 'project_not_found']);
  });
});

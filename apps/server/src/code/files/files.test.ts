import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { findDamage, gitDirOf, TestProject } from '../projects/testing/test-projects.ts';
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

describe('writing a file', () => {
  it('compiles TypeScript and saves source and compiled file', async () => {
    const reply = await project.write('flows/login.ts', 'export const steps: number = 3;\n');
    expect(reply.body).toEqual({
      success: true,
      path: 'flows/login.ts',
      compiledPath: 'flows/login.js',
      compiled: true,
      warnings: [],
    });
    expect(await project.content('flows/login.ts')).toBe('export const steps: number = 3;\n');
    expect(await project.content('flows/login.js')).toMatch(/^export const steps = 3;\n/);
  });

  it.each([
    ['a.tsx', 'a.js'],
    ['a.mts', 'a.mjs'],
    ['a.cts', 'a.cjs'],
  ])('compiles %s to %s', async (source, compiled) => {
    const reply = await project.write(source, 'const a: number = 1;\n');
    expect(reply.body).toMatchObject({ compiledPath: compiled, compiled: true });
    expect(await project.content(compiled)).toContain('const a = 1;');
  });

  it.each(['readme.md', 'types.d.ts', 'data.json', 'plain.js', 'no-ending'])(
    'saves %s as it is',
    async (path) => {
      const reply = await project.write(path, '{}');
      const body = { success: true, path, compiledPath: path, compiled: false, warnings: [] };
      expect(reply.body).toEqual(body);
    },
  );

  it('refuses code that does not compile, with a line for each mistake, and changes nothing', async () => {
    await project.put('main.ts', 'const a: number = 1;\n');
    const compiled = await project.content('main.js');
    const reply = await project.write('main.ts', 'const a: number = "x";\nlet b: string = 1;\n');
    expect([reply.status, reply.body['code']]).toEqual([400, 'compile_failed']);
    expect(reply.body['errors']).toEqual([
      expect.stringMatching(/^main\.ts\(1,7\): error TS2322: /),
      expect.stringMatching(/^main\.ts\(2,5\): error TS2322: /),
    ]);
    expect(await project.content('main.ts')).toBe('const a: number = 1;\n');
    expect(await project.content('main.js')).toBe(compiled);
  });

  it.each([
    ['plain.js', 'let a = ;', /^plain\.js\(1,9\): error TS1005: Unexpected ";"$/],
    ['types.d.ts', 'interface A {', /^types\.d\.ts\(1,14\): error TS1005: '}' expected\.$/],
    ['data.json', '{"a": }', /^data\.json\(1,7\): error TS1005: Unexpected "}"/],
    ['parameters.schema.json', '{', /^parameters\.schema\.json\(1,2\): error TS1005: /],
    ['parameters.schema.json', '{"type": "nonsense"}', /^parameters\.schema\.json\(1,1\): error TS5024: /],
    ['parameters.schema.json', '{"$ref": "#"}', /^parameters\.schema\.json\(1,1\): error TS5024: .*circular/],
  ])('saves %s with the mistake in %s, and warns of it', async (path, content, line) => {
    const reply = await project.write(path, content);
    expect([reply.status, reply.body['warnings']]).toEqual([200, [expect.stringMatching(line)]]);
    expect(await project.content(path)).toBe(content);
  });

  it('warns of what it breaks in files that use it, near and far', async () => {
    await project.put('a.ts', 'export const a = 1;\nexport class Base { go() {} }\n');
    await project.put('b.ts', "import { Base } from './a';\nexport class Page extends Base {}\n");
    await project.put(
      'main.ts',
      "import { a } from './a';\nimport { Page } from './b';\nnew Page().go();\na;\n",
    );
    const reply = await project.write('a.ts', 'export class Base {}\n');
    expect([reply.status, reply.body['warnings']]).toEqual([
      200,
      [
        "main.ts(1,10): error TS2305: Module './a' has no exported member 'a'.".replace("'./a'", `'"./a"'`),
        "main.ts(3,12): error TS2339: Property 'go' does not exist on type 'Page'.",
      ],
    ]);
    const mended = await project.write('a.ts', 'export const a = 1;\nexport class Base { go() {} }\n');
    expect(mended.body['warnings']).toEqual([]);
  });

  it('sees the types of the other files of the project', async () => {
    await project.put('lib/count.ts', 'export const count = (text: string): number => text.length;\n');
    const wrong = await project.write('main.ts', "import { count } from './lib/count';\ncount(1);\n");
    expect(wrong.body['errors']).toEqual([expect.stringContaining('main.ts(2,7): error TS2345')]);
    await project.put('main.ts', "import { count } from './lib/count';\ncount('1');\n");
  });

  it('refuses a tsconfig.json that names what does not exist here', async () => {
    const reply = await project.write('tsconfig.json', '{"compilerOptions": {"plugins": [{"name": "x"}]}}');
    expect([reply.status, reply.body['code']]).toEqual([400, 'invalid_tsconfig']);
    expect(await project.content('tsconfig.json')).toBeUndefined();
  });

  it('keeps what JSON can hold byte for byte', async () => {
    const content = '\u0000\u0001\t\r\n"\\ \u2028 ÄÖ 漢字 🦴\u{10FFFF}\uFEFF';
    for (const text of [content, '', '\uFEFFbom', '\r\n'.repeat(1000)]) {
      await project.put('text.txt', text);
      expect(await project.content('text.txt')).toBe(text);
    }
  });

  it.each([
    ['half of a surrogate pair', '{"path":"a.txt","content":"\\ud800"}', 400, 'invalid_content'],
    ['a path with half of a surrogate pair', '{"path":"a\\udc00.txt","content":""}', 400, 'invalid_path'],
    ['a number', '{"path":"a.txt","content":1}', 400, 'invalid_request'],
    ['no content', '{"path":"a.txt"}', 400, 'invalid_request'],
    ['no path', '{"content":""}', 400, 'invalid_request'],
    ['no JSON', '{"path":', 400, 'malformed_json'],
  ])('refuses %s', async (_, raw, status, code) => {
    const reply = await api('PUT', `/api/v2/automation/file/${project.id}`, { raw });
    expect([reply.status, reply.body['code']]).toEqual([status, code]);
    expect(await project.changes()).toEqual({});
  });

  it('refuses attributes that git would take for damage', async () => {
    const reply = await project.write('sub/.gitattributes', `*.txt ${'x'.repeat(2100)}\n`);
    expect([reply.status, reply.body['code']]).toEqual([400, 'invalid_content']);
    await project.put('sub/.gitattributes', '*.txt text eol=crlf\n');
    await project.put('sub/a.txt', 'one\r\ntwo\n');
    expect(await project.content('sub/a.txt')).toBe('one\r\ntwo\n');
    expect(await findDamage(await gitDirOf(server, project))).toBe('');
  });
});

describe('a path that is taken', () => {
  beforeEach(async () => {
    await project.put('main.ts', 'const a = 1;\n');
    await project.put('folder/file.txt', 'text');
  });

  it.each([
    ['folder', 'invalid_path', '"folder" is a folder'],
    ['folder/file.txt/more.txt', 'invalid_path', 'uses a file as a folder: \\"folder/file.txt\\"'],
    ['main.ts/more.txt', 'invalid_path', 'uses a file as a folder: \\"main.ts\\"'],
    ['main.js/more.txt', 'invalid_path', 'uses a file as a folder: \\"main.js\\"'],
    ['main.js', 'compiled_file', 'compiled from main.ts'],
    ['main.tsx', 'source_conflict', 'main.ts'],
  ])('can not be written: %s', async (path, code, says) => {
    const reply = await project.write(path, 'const b = 2;\n');
    expect([reply.status, reply.body['code']]).toEqual([400, code]);
    expect(reply.text).toContain(says.replace('"folder" is', '\\"folder\\" is'));
  });

  it('can not be where a file would be compiled to', async () => {
    await project.put('deep.js/file.txt', 'text');
    const reply = await project.write('deep.ts', 'const b = 2;\n');
    expect([reply.status, reply.body['code']]).toEqual([400, 'invalid_path']);
  });

  it('is not given to a compiled file while it has JavaScript of the user’s own', async () => {
    await project.put('own.js', 'var mine = 1;\n');
    const reply = await project.write('own.ts', 'const compiled: number = 1;\n');
    expect([reply.status, reply.body['code'], reply.body['message']]).toEqual([
      400,
      'compiled_path_taken',
      'own.ts would be compiled to own.js, which is a file of yours: delete or rename it first.',
    ]);
    expect(await project.content('own.js')).toBe('var mine = 1;\n');
    await project.remove('own.js');
    await project.put('own.ts', 'const compiled: number = 1;\n');
  });

  it('can be a file where a folder was, when its files are gone', async () => {
    await project.remove('folder/file.txt');
    await project.put('folder', 'now a file');
    expect(await project.content('folder')).toBe('now a file');
  });
});

describe('deleting a file', () => {
  it('deletes what was compiled of it too', async () => {
    await project.put('main.ts', 'const a = 1;\n');
    expect((await project.remove('main.ts')).status).toBe(200);
    expect([await project.content('main.ts'), await project.content('main.js')]).toEqual([
      undefined,
      undefined,
    ]);
    await project.put('main.js', 'mine');
    expect(await project.content('main.js')).toBe('mine');
  });

  it.each([
    ['main.js', 400, 'compiled_file'],
    ['missing.txt', 404, 'file_not_found'],
    ['main.ts/missing.txt', 404, 'file_not_found'],
    ['a', 400, 'invalid_path'],
    ['../main.ts', 400, 'invalid_path'],
  ])('refuses %s', async (path, status, code) => {
    await project.put('main.ts', 'const a = 1;\n');
    await project.put('a/b.txt', 'text');
    const reply = await project.remove(path);
    expect([reply.status, reply.body['code']]).toEqual([status, code]);
    expect(Object.keys(await project.changes())).toEqual(['a/b.txt', 'main.ts']);
  });
});

describe('the list of files', () => {
  it('says of each file how it differs from the newest commit', async () => {
    for (const name of ['same', 'changed', 'gone']) await project.put(`${name}.txt`, name);
    await project.put('main.ts', 'const a = 1;\n');
    await project.mustCommit();
    await project.put('changed.txt', 'otherwise');
    await project.put('new.txt', 'new');
    await project.remove('gone.txt');
    const { body } = await api('GET', `/api/v2/automation/files/${project.id}`);
    expect(body).toEqual({
      success: true,
      dirty: true,
      etag: await project.etag(),
      next_cursor: null,
      files: [
        {
          path: 'changed.txt',
          size: 9,
          etag: expect.any(String),
          change: 'modified',
          compiled_path: 'changed.txt',
        },
        { path: 'gone.txt', size: 4, etag: expect.any(String), change: 'deleted', compiled_path: 'gone.txt' },
        {
          path: 'main.ts',
          size: 13,
          etag: expect.any(String),
          change: 'unchanged',
          compiled_path: 'main.js',
        },
        { path: 'new.txt', size: 3, etag: expect.any(String), change: 'added', compiled_path: 'new.txt' },
        {
          path: 'same.txt',
          size: 4,
          etag: expect.any(String),
          change: 'unchanged',
          compiled_path: 'same.txt',
        },
      ],
    });
  });

  it('is empty for a new project', async () => {
    const { body } = await api('GET', `/api/v2/automation/files/${project.id}`);
    expect(body).toEqual({
      success: true,
      files: [],
      dirty: false,
      etag: '"4b825dc642cb6eb9a060e54bf8d69288fbee4904"',
      next_cursor: null,
    });
  });
});

describe('reading a file', () => {
  it.each([
    ['missing.txt', 404, 'file_not_found'],
    ['folder', 404, 'file_not_found'],
    ['', 400, 'invalid_path'],
    ['/etc/passwd', 400, 'invalid_path'],
  ])('answers for %j', async (path, status, code) => {
    await project.put('folder/file.txt', 'text');
    const reply = await project.read(path);
    expect([reply.status, reply.body['code']]).toEqual([status, code]);
  });

  it('finds everything again after a restart', async () => {
    await project.put('main.ts', 'const a = 1;\n');
    await project.mustCommit();
    await project.put('more.txt', 'uncommitted');
    const compiled = await project.content('main.js');
    await server.restart();
    expect(await project.content('main.js')).toBe(compiled);
    expect(await project.changes()).toEqual({ 'main.ts': 'unchanged', 'more.txt': 'added' });
  });
});

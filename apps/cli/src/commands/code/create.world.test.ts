import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { projectRoutes } from '@phalanx/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { defaultConfigText } from '../../project/types/write-types.ts';
import { runCli } from '../../testing/cli-process.ts';
import { TestService } from '../../testing/test-service.ts';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start(1);
});
afterAll(() => service.stop());

const at = (...names: string[]): string => path.join(service.folder, ...names);
const require = createRequire(import.meta.url);
const tsc = path.join(
  path.dirname(require.resolve('typescript/package.json')),
  require('typescript/package.json').bin.tsc,
);

test('a new project has code that type-checks, pushes and runs on any phone', async () => {
  const created = await service.run(['project', 'create', 'My shop']);
  expect(created).toMatchObject({ code: 0, stdout: expect.stringContaining('Project "My shop" has the ID') });
  expect(created.stderr).toContain('cd My-shop && phalanx project push');
  const files = [
    '.gitignore',
    '.phalanx',
    'AGENTS.md',
    'ci-sample.yml',
    'main.ts',
    'parameters.schema.json',
    'screens',
    'tsconfig.json',
  ];
  expect((await readdir(at('My-shop'))).sort()).toEqual(files);

  const cwd = at('My-shop');
  const { compilerOptions, include } = JSON.parse(await readFile(path.join(cwd, 'tsconfig.json'), 'utf8'));
  const permissive = JSON.parse(defaultConfigText);
  expect({ compilerOptions, include }).toEqual({
    compilerOptions: { ...permissive.compilerOptions, strict: true },
    include: permissive.include,
  });
  await promisify(execFile)(process.execPath, [tsc, '--strict'], { cwd });
  expect(await runCli(['test'], { cwd })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('1 golden'),
  });
  expect(await service.run(['project', 'push'], { cwd })).toMatchObject({ code: 0, stderr: '' });
  const options = ['--junit', 'report.xml', '--param', 'greeting=Servus'];
  const run = await service.run(['run', '--all-ready', ...options], { cwd });
  expect(run).toMatchObject({ code: 0, stdout: expect.stringMatching(/Servus from google Pixel 8/) });
  expect(await readFile(at('My-shop', 'report.xml'), 'utf8')).toContain('<testsuite name="My shop"');
  const misspelt = await service.run(['run', '--all-ready', '--param', 'greting=x'], { cwd });
  expect(misspelt).toMatchObject({ code: 3, stderr: expect.stringContaining('greting') });
});

test('a picture in the folder keeps nothing from being pushed, and run --push pushes first', async () => {
  expect(await service.run(['project', 'create', 'Pictures'])).toMatchObject({ code: 0 });
  const cwd = at('Pictures');
  await writeFile(path.join(cwd, 'screen.jpg'), Buffer.from([0xff, 0xd8, 0xff, 0xe0]));
  await writeFile(path.join(cwd, 'main.ts'), "console.log('pushed first');\n");
  const run = await service.run(['run', '--push', '--all-ready', '--follow'], { cwd });
  expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('pushed first') });
  await writeFile(path.join(cwd, 'main.ts'), "console.log('changed');\n");
  const old = await service.run(['run', '--all-ready', '--follow'], { cwd });
  expect(old.stderr).toContain('phalanx run --push');
  expect(old.stdout).toContain('pushed first');
  expect(await service.run(['run', 'Pictures', '--push', '--all-ready'], { cwd })).toMatchObject({ code: 2 });
});

test('init makes a project of a folder with code, once', async () => {
  await mkdir(at('own'));
  await writeFile(at('own', 'main.ts'), 'console.log(1);\n');
  const cwd = at('own');
  const made = await service.run(['init'], { cwd });
  expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('Project "own" has the ID') });
  expect(await readFile(at('own', 'main.ts'), 'utf8')).toBe('console.log(1);\n');
  expect(await service.run(['init'], { cwd })).toMatchObject({ code: 2 });
});

test('a project that is refused leaves no folder behind', async () => {
  expect(await service.run(['project', 'create', 'Twice', '--no-folder'])).toMatchObject({ code: 0 });
  expect((await service.run(['project', 'create', 'Twice'])).code).toBe(3);
  expect((await service.run(['project', 'create', 'Twice', '--dir', 'new-folder'])).code).toBe(3);
  const left = (await readdir(at('.'))).filter((name) => /^(Twice|new-folder)$/.test(name));
  expect(left).toEqual([]);
  // An empty folder that existed before stays.
  await mkdir(at('old-folder'));
  expect((await service.run(['project', 'create', 'Twice', '--dir', 'old-folder'])).code).toBe(3);
  expect(await readdir(at('.'))).toContain('old-folder');
});

test('what lies in a named folder stays as it is', async () => {
  await mkdir(at('code'));
  await writeFile(at('code', 'main.js'), 'console.log(1);\n');
  await writeFile(at('code', 'AGENTS.md'), 'Mine.\n');
  expect(await service.run(['project', 'create', 'code', '--dir', 'code'])).toMatchObject({ code: 0 });
  expect((await readdir(at('code'))).sort()).toEqual([
    '.gitignore',
    '.phalanx',
    'AGENTS.md',
    'ci-sample.yml',
    'main.js',
    'tsconfig.json',
  ]);
  expect(await readFile(at('code', 'AGENTS.md'), 'utf8')).toBe('Mine.\n');
});

test('a folder that is in the way leaves no project behind', async () => {
  await mkdir(at('taken'));
  await writeFile(at('taken', 'x'), '');
  const refused = await service.run(['project', 'create', 'taken']);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('is not empty') });
  const { projects } = await service.api.call(projectRoutes.list);
  expect(projects.map(({ name }) => name)).not.toContain('taken');
});

test('the types of a folder that is missing are refused in a sentence', async () => {
  const { code, stderr } = await service.run(['types', 'missing/folder']);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: `${at('missing/folder')} is not a folder: pass the folder with your code.\n`,
  });
});

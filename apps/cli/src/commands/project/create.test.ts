import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { projectRoutes } from '@phalanx/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';

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
  const files = ['.gitignore', '.phalanx', 'AGENTS.md', 'main.ts', 'parameters.schema.json', 'tsconfig.json'];
  expect((await readdir(at('My-shop'))).sort()).toEqual(files);

  const cwd = at('My-shop');
  await promisify(execFile)(process.execPath, [tsc, '--strict'], { cwd });
  expect(await service.run(['project', 'push'], { cwd })).toMatchObject({ code: 0, stderr: '' });
  const options = ['--junit', 'report.xml', '--param', 'greeting=Servus'];
  const run = await service.run(['run', '--all-ready', ...options], { cwd });
  expect(run).toMatchObject({ code: 0, stdout: expect.stringMatching(/Servus from google Pixel 8/) });
  expect(await readFile(at('My-shop', 'report.xml'), 'utf8')).toContain('<testsuite name="My shop"');
  const misspelt = await service.run(['run', '--all-ready', '--param', 'greting=x'], { cwd });
  expect(misspelt).toMatchObject({ code: 3, stderr: expect.stringContaining('greting') });
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
    stderr: `${at('missing/folder')} is no folder: name the one with your code.\n`,
  });
});

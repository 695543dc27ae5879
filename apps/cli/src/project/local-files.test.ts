import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';

import { findPathProblem, writeBelow } from './local-files.ts';

test.each([
  '../x',
  'a/../../x',
  '/etc/passwd',
  'a//b',
  '',
  '.',
  './a',
  'a/',
  'C:/x',
  'c:x',
  'a\\..\\b',
  'a\nb',
  'a\u0000b',
  '\u009b',
  '.git/hooks/post-checkout',
  '.GIT/config',
  'x/.git/config',
  '.git./config',
  '.git /config',
  'GIT~1/config',
  '.git:x/y',
  '.phalanx/project.json',
  '.Phalanx/base.json',
])('the path %j of a server is not written', (file) => {
  expect(findPathProblem(file)).toBeDefined();
});

test.each([
  'main.ts',
  'flows/login.ts',
  '.gitignore',
  '..a',
  'a..',
  'git',
  'phalanx/x',
  'Zürich 🏔.json',
  '-rf',
  '$(x).ts',
])('the path %j is', (file) => {
  expect(findPathProblem(file)).toBeUndefined();
});

test('nothing is written through a symbolic link', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-link-'));
  const [root, outside] = [path.join(folder, 'root'), path.join(folder, 'outside')];
  await mkdir(root);
  await mkdir(outside);
  await symlink(outside, path.join(root, 'way'));
  await expect(writeBelow(root, 'way/x.ts', 'x')).rejects.toThrow('in the way');
  expect(await readdir(outside)).toEqual([]);

  const other = path.join(folder, 'other');
  await mkdir(other);
  await symlink(outside, path.join(other, '.phalanx'));
  await expect(writeBelow(other, '.phalanx/project.json', '{}')).rejects.toThrow('in the way');
  expect(await readdir(outside)).toEqual([]);
  await rm(folder, { recursive: true });
});

import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';

import { makeFolder, prepareFolder } from './folder-problem.ts';

it.each([
  ['is closed to other users of the machine', 0o755, 0o700],
  ["stays as it is when it is everybody's", 0o1777, 0o1777],
])('a folder that was there before %s', async (_, before, after) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-folder-'));
  await chmod(folder, before);
  await prepareFolder(folder);
  expect((await stat(folder)).mode & 0o7777).toBe(after);
  await writeFile(path.join(folder, 'file'), '');
  expect((await stat(path.join(folder, 'file'))).mode & 0o777).toBe(0o600);
  await rm(folder, { recursive: true });
});

it('a folder is made with those above it, for its user alone, and may be there already', async () => {
  const above = await mkdtemp(path.join(tmpdir(), 'phalanx-folder-'));
  const folder = path.join(above, 'one', 'two', 'three');
  makeFolder(folder);
  makeFolder(folder);
  expect((await stat(path.join(above, 'one'))).mode & 0o777).toBe(0o700);
  await writeFile(path.join(folder, 'file'), '');
  expect(() => makeFolder(path.join(folder, 'file'))).toThrow('EEXIST');
  expect(() => makeFolder(path.join(folder, 'file', 'below'))).toThrow('ENOTDIR');
  await rm(above, { recursive: true });
});

it.runIf(process.platform === 'linux')('a folder that the system refuses to make is told as that', () => {
  expect(() => makeFolder('/proc/nope')).toThrow('ENOENT');
  expect(() => makeFolder('/proc/nope/below')).toThrow('ENOENT');
});

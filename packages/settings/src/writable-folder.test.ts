import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';

import { prepareFolder } from './writable-folder.ts';

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

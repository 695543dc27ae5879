import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { listLocalFiles } from './local-files.ts';

/** Lists the files of a new project folder with these files. */
async function listed(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const root = await mkdtemp(path.join(tmpdir(), 'phalanx-ignore-'));
  onTestFinished(() => rm(root, { recursive: true }));
  for (const [file, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), content);
  }
  return (await listLocalFiles(root, [])).paths;
}

test('git, npm and the folder of the CLI are never part of a project', async () => {
  const files = {
    '.git/x': '',
    'a/.git': '',
    'node_modules/x': '',
    'a/node_modules/x': '',
    '.phalanx/x': '',
  };
  expect(await listed({ ...files, 'git/x': '', '.gitignore': '!node_modules\n' })).toEqual([
    '.gitignore',
    'git/x',
  ]);
});

test('the patterns are those of git', async () => {
  const rules = '# comment\n*.log\nbuild/\n/top\ndocs/*.md\n*.txt\n!keep.txt\n[ab].ts\n';
  const files = [
    'x/y/b.log',
    'x/build/y',
    'top',
    'x/top',
    'docs/a.md',
    'docs/x/a.md',
    'a.txt',
    'keep.txt',
    'a.ts',
  ];
  const kept = ['.gitignore', 'docs/x/a.md', 'keep.txt', 'x/top'];
  expect(
    await listed({ '.gitignore': rules, ...Object.fromEntries(files.map((file) => [file, ''])) }),
  ).toEqual(kept);
});

test('a folder has rules of its own, which stand above those further up', async () => {
  const files = {
    '.gitignore': '*.log\n',
    'flows/.gitignore': '/draft.ts\n!kept.log\n',
    'flows/draft.ts': '',
    'flows/deep/draft.ts': '',
    'flows/kept.log': '',
    'kept.log': '',
  };
  expect(await listed(files)).toEqual([
    '.gitignore',
    'flows/.gitignore',
    'flows/deep/draft.ts',
    'flows/kept.log',
  ]);
});

test('a pattern that tries every way to fit is left out', async () => {
  const deep = `${'a/'.repeat(60)}c`;
  expect(await listed({ '.gitignore': `${'**/a/'.repeat(60)}b\n`, [deep]: '' })).toEqual([
    '.gitignore',
    deep,
  ]);
});

import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runUserGit, TestFolders } from '../projects/testing/test-projects.ts';
import { NewObjects } from './draft.ts';
import { buildPack, listPacked, PackWriter } from './pack.ts';
import { installPack } from './testing/install-pack.ts';
import { fileMode, folderMode } from './git-objects.ts';

const folders = new TestFolders();
let gitDir: string;

beforeAll(async () => {
  gitDir = path.join(folders.make(), 'one.git');
  mkdirSync(gitDir);
  await runUserGit(gitDir, ['init', '--bare', '--quiet', '-b', 'main', gitDir]);
});
afterAll(() => folders.removeAll());

const read = async (id: string): Promise<string> => (await runUserGit(gitDir, ['cat-file', '-p', id])).text;

it('git takes a pack of every kind of object, and makes the same index of it', async () => {
  const objects = new NewObjects();
  const texts = [
    '',
    'x',
    'text '.repeat(3),
    'line\n'.repeat(40_000),
    randomBytes(300_000).toString('base64'),
  ];
  const blobs = texts.map((text) => objects.add('blob', text));
  const entries = blobs.map((id, index) => [`file-${index}`, { mode: fileMode, id }] as const);
  const below = objects.addTree(new Map(entries));
  // Sorts as git does: a folder as if its name ended with a slash, and names by their bytes.
  const root = objects.addTree(
    new Map([
      ['a', { mode: folderMode, id: below }],
      ['a.txt', { mode: fileMode, id: blobs[1] ?? '' }],
      ['a0', { mode: fileMode, id: blobs[1] ?? '' }],
      ['\uFF5E', { mode: fileMode, id: blobs[1] ?? '' }],
      ['\u{1F600}', { mode: fileMode, id: blobs[1] ?? '' }],
    ]),
  );
  const who = 'Ada <ada@example.org> 1700000000 +0000';
  const commit = objects.add('commit', `tree ${root}\nauthor ${who}\ncommitter ${who}\n\nfirst\n`);
  const pack = await buildPack(objects.list());
  const file = await installPack(gitDir, pack);
  const copy = path.join(folders.make(), 'copy.pack');
  writeFileSync(copy, pack.pack);
  const told = await runUserGit(gitDir, ['index-pack', '--strict', '--index-version=2', copy]);
  expect(told).toEqual({ code: 0, text: `${pack.hash}\n` });
  expect(readFileSync(copy.replace('.pack', '.idx')).equals(pack.index)).toBe(true);
  expect(readFileSync(file).equals(pack.pack)).toBe(true);
  await runUserGit(gitDir, ['update-ref', 'refs/heads/main', commit]);
  expect(await runUserGit(gitDir, ['fsck', '--strict', '--full'])).toEqual({ code: 0, text: '' });
  for (const [index, id] of blobs.entries()) expect(await read(id)).toBe(texts[index]);
  expect(listPacked(pack.index)).toEqual(new Set(objects.list().map(({ id }) => id)));
});

it('packs the content of a file without reading it as a whole', async () => {
  const file = path.join(folders.make(), 'large');
  const content = randomBytes(5_000_000);
  writeFileSync(file, content);
  const objects = new NewObjects();
  const id = await objects.addFile(file, content.length);
  const writer = new PackWriter(objects.list());
  const pieces: Buffer[] = [];
  for await (const piece of writer.pieces()) pieces.push(piece);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(1_000_000);
  await installPack(gitDir, { hash: writer.hash, pack: Buffer.concat(pieces), index: writer.index() });
  const sum = createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
  expect(id).toBe(sum);
  expect((await runUserGit(gitDir, ['cat-file', '-s', id])).text.trim()).toBe(String(content.length));
  expect((await runUserGit(gitDir, ['fsck', '--full', '--no-dangling'])).code).toBe(0);
});

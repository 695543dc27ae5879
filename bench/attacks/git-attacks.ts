import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';

import type { Attack, Ground } from './attack.ts';

/** Runs git with a text as its input. Returns both of its output streams. */
async function git(folder: string, args: readonly string[], input = ''): Promise<string> {
  return new Promise((resolve) => {
    const identity = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.com'];
    const options = { cwd: folder, maxBuffer: 2 ** 28 };
    const child = execFile('git', [...identity, ...args], options, (_, stdout, stderr) =>
      resolve(stdout.trim() === '' ? stderr : stdout.trim()),
    );
    // A command that reads no input may have ended.
    child.stdin?.on('error', () => undefined).end(input);
  });
}

async function pushTree(
  ground: Ground,
  name: string,
  make: (folder: string) => Promise<string>,
): Promise<string> {
  const folder = path.join(ground.folder, `${name}-${crypto.randomUUID()}`);
  await mkdir(folder);
  await git(folder, ['init', '--quiet']);
  const commit = await git(folder, ['commit-tree', await make(folder), '-m', 'hostile']);
  const said = await git(folder, ['push', ground.project.cloneUrl, `${commit}:refs/heads/${name}`]);
  return lastWords(said);
}

function lastWords(said: string): string {
  const short = said.replaceAll(/\.{4,}/g, '…');
  const refusal = /remote: (error: )?(.{0,90})/.exec(short)?.[2] ?? short.slice(-90);
  return `answer: ${refusal.trim()}`;
}

const entry = (id: string, name: string, kind: 'blob' | 'tree'): string =>
  `${kind === 'blob' ? '100644' : '040000'} ${kind} ${id}\t${name}\0`;

/** Nests ten folders in each of ten folders, and so on: each object is stored once. */
async function manyPaths(folder: string, levels: number): Promise<string> {
  let id = await git(folder, ['hash-object', '-w', '--stdin'], 'x');
  for (let level = 0; level < levels; level += 1) {
    const entries = Array.from({ length: 10 }, (_, digit) =>
      entry(id, String(digit), level === 0 ? 'blob' : 'tree'),
    );
    id = await git(folder, ['mktree', '-z'], entries.join(''));
  }
  return id;
}

/** Creates folders that differ in one entry each, which git packs as deltas of each other. */
async function similarFolders(folder: string, count: number, entries: number): Promise<string> {
  const id = await git(folder, ['hash-object', '-w', '--stdin'], 'x');
  const names = Array.from({ length: entries }, (_, at) => `entry-${String(at).padStart(6, '0')}`);
  const folders: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const all = [...names, `only-${at}`].map((name) => entry(id, name, 'blob'));
    folders.push(entry(await git(folder, ['mktree', '-z'], all.join('')), `folder-${at}`, 'tree'));
  }
  return git(folder, ['mktree', '-z'], folders.join(''));
}

/** Creates a few commits with long messages that compress well. */
async function longMessages(ground: Ground, count: number, sizeBytes: number): Promise<string> {
  const folder = path.join(ground.folder, crypto.randomUUID());
  await mkdir(folder);
  await git(folder, ['init', '--quiet']);
  const tree = await git(folder, ['mktree'], '');
  let commit = '';
  for (let at = 0; at < count; at += 1) {
    const parent = commit === '' ? [] : ['-p', commit];
    commit = await git(folder, ['commit-tree', tree, ...parent], `${at}${'a'.repeat(sizeBytes)}`);
  }
  return lastWords(await git(folder, ['push', ground.project.cloneUrl, `${commit}:refs/heads/long`]));
}

/** Creates files of zeros with different ends: a small pack that is large when unpacked. */
async function zeros(folder: string, count: number, sizeBytes: number): Promise<string> {
  const entries: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const id = await git(folder, ['hash-object', '-w', '--stdin'], `${'0'.repeat(sizeBytes)}${at}`);
    entries.push(entry(id, `zeros-${at}`, 'blob'));
  }
  return git(folder, ['mktree', '-z'], entries.join(''));
}

/** Attacks of the report on the second release. */
export const pushAttacks: readonly Attack[] = [
  {
    name: 'delta-push',
    attack: 'a push of 300 folders in deltas',
    before: 'writes p99 5.9 s, launches p99 2 s',
    play: (ground) => pushTree(ground, 'deltas', (folder) => similarFolders(folder, 300, 2000)),
  },
  {
    name: 'large-push',
    attack: 'a push that resolves to 1 GB',
    before: 'with 2.2 GB reads p50 0.4 s, max 1.3 s',
    play: (ground) => pushTree(ground, 'zeros', (folder) => zeros(folder, 25, 40_000_000)),
  },
  {
    name: 'long-messages',
    attack: '20 commit messages of 20 MB',
    before: 'refused after 4.5 to 5.7 s',
    play: (ground) => longMessages(ground, 20, 20_000_000),
  },
];

/** Attacks of the report on the first release. */
export const gitAttacks: readonly Attack[] = [
  {
    name: 'dots-in-a-name',
    attack: 'push of a file name of 100,000 dots and an x',
    before: '12.8 s',
    play: (ground) =>
      pushTree(ground, 'dots', async (folder) => {
        const id = await git(folder, ['hash-object', '-w', '--stdin'], 'x');
        return git(folder, ['mktree', '-z'], entry(id, `${'.'.repeat(100_000)}x`, 'blob'));
      }),
  },
  {
    name: 'many-paths',
    attack: 'push of 100,000 paths in 771 bytes',
    before: '7.1 s, 3.4 GB of memory',
    play: (ground) => pushTree(ground, 'paths', (folder) => manyPaths(folder, 5)),
  },
  {
    name: 'wide-folder',
    attack: 'push of a folder with 200,000 entries',
    before: '10.4 s with 2,000,000, 3.2 GB',
    play: (ground) =>
      pushTree(ground, 'wide', async (folder) => {
        const id = await git(folder, ['hash-object', '-w', '--stdin'], 'x');
        const names = Array.from({ length: 200_000 }, (_, index) => entry(id, String(index), 'blob'));
        return git(folder, ['mktree', '-z'], names.join(''));
      }),
  },
];

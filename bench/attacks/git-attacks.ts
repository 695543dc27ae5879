import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';

import type { Attack, Ground } from './attack.ts';

/** Git with a text as its input; returns what it prints on both. */
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
  const folder = path.join(ground.folder, name);
  await mkdir(folder);
  await git(folder, ['init', '--quiet']);
  const commit = await git(folder, ['commit-tree', await make(folder), '-m', 'hostile']);
  const said = await git(folder, ['push', ground.project.cloneUrl, `${commit}:refs/heads/${name}`]);
  const short = said.replaceAll(/\.{4,}/g, '…');
  const refusal = /remote: (error: )?(.{0,90})/.exec(short)?.[2] ?? short.slice(-90);
  return `refused: ${refusal.trim()}`;
}

const entry = (id: string, name: string, kind: 'blob' | 'tree'): string =>
  `${kind === 'blob' ? '100644' : '040000'} ${kind} ${id}\t${name}\0`;

/** Ten folders in each of ten folders, and so on: every object is there once. */
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

export const gitAttacks: readonly Attack[] = [
  {
    finding: '2',
    attack: 'push of a file name of 100,000 dots and an x',
    before: '12.8 s',
    play: (ground) =>
      pushTree(ground, 'dots', async (folder) => {
        const id = await git(folder, ['hash-object', '-w', '--stdin'], 'x');
        return git(folder, ['mktree', '-z'], entry(id, `${'.'.repeat(100_000)}x`, 'blob'));
      }),
  },
  {
    finding: '3',
    attack: 'push of 100,000 paths in 771 bytes',
    before: '7.1 s, 3.4 GB of memory',
    play: (ground) => pushTree(ground, 'paths', (folder) => manyPaths(folder, 5)),
  },
  {
    finding: '3',
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

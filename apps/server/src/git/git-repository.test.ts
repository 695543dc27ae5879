import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import { TestFolders } from '../projects/testing/test-projects.ts';
import type { GitProgram } from './git-program.ts';
import { GitRepository, noObject } from './git-repository.ts';
import { prepareGit } from './prepare-git.ts';
import { RepositoryPool } from './repository-pool.ts';
import { runGit } from './run-git.ts';
import { removeStaleFiles } from './stale-files.ts';
import { buildTree, findAt, listDifferences, listFiles, withEntry } from './tree-paths.ts';
import { fileMode } from './tree.ts';

vi.setConfig({ testTimeout: 60_000 });

const folders = new TestFolders();
const ref = 'refs/phalanx/saved';
let git: GitProgram;
let folder: string;
let repository: GitRepository;

const init = async (name: string): Promise<string> => {
  const gitDir = path.join(folder, `${name}.git`);
  mkdirSync(gitDir, { recursive: true });
  await runGit(git, ['init', '--bare', '--quiet', gitDir], { gitDir });
  mkdirSync(path.join(gitDir, 'refs', 'phalanx'), { recursive: true });
  return gitDir;
};

beforeAll(async () => {
  git = await prepareGit(path.join(folders.make(), 'git'), process.env['PATH'] ?? '');
});
beforeEach(async () => {
  folder = folders.make();
  repository = new GitRepository(git, await init('one'));
});
afterAll(() => folders.removeAll());

describe('a repository', () => {
  it('answers many requests at once, each with its own answer', async () => {
    const texts = Array.from({ length: 100 }, (_, index) => `text ${index}\n`.repeat(index));
    const ids = await Promise.all(texts.map((text) => repository.writeBlob(text)));
    const read = await Promise.all(ids.map((id) => repository.readBlob(id)));
    expect(read.map(String)).toEqual(texts);
    await repository.close();
  });

  it('goes on when its processes are killed, in the middle of requests too', async () => {
    for (let round = 0; round < 5; round += 1) {
      const writes = Promise.all(
        Array.from({ length: 20 }, (_, index) => repository.writeBlob(`${round} ${index}`)),
      );
      repository.kill();
      const ids = await writes;
      const tree = await repository.writeTree(new Map([['a', { mode: fileMode, id: ids[0] ?? '' }]]));
      const before = (await repository.findRef(ref)) ?? noObject;
      const moved = repository.updateRef(ref, tree, before);
      repository.kill();
      expect(await moved).toBe(true);
      expect(await repository.findRef(ref)).toBe(tree);
    }
    await repository.close();
  });

  it('moves a ref only from where the caller saw it', async () => {
    const [first, second, third] = await Promise.all(
      ['1', '2', '3'].map(async (text) =>
        repository.writeTree(new Map([[text, { mode: fileMode, id: await repository.writeBlob(text) }]])),
      ),
    );
    expect(await repository.updateRef(ref, first ?? '', noObject)).toBe(true);
    expect(await repository.updateRef(ref, second ?? '', noObject)).toBe(false);
    expect(await repository.updateRef(ref, second ?? '', first ?? '')).toBe(true);
    expect(await repository.updateRef(ref, third ?? '', first ?? '')).toBe(false);
    expect(await repository.findRef(ref)).toBe(second);
    await repository.close();
  });

  it('is freed from the lock of a process that was killed long ago', async () => {
    const lock = path.join(repository.gitDir, `${ref}.lock`);
    writeFileSync(lock, '');
    await removeStaleFiles(repository.gitDir);
    const tree = await repository.writeTree(new Map());
    expect(await repository.updateRef(ref, tree, noObject)).toBe(true);
    await repository.close();
  });

  it('is freed from such a lock while it is open, too', async () => {
    const tree = await repository.writeTree(new Map());
    writeFileSync(path.join(repository.gitDir, `${ref}.lock`), '');
    expect(await repository.updateRef(ref, tree, noObject)).toBe(true);
    await repository.close();
  });

  it('edits, lists and compares nested trees', async () => {
    const entry = async (text: string) => ({ mode: fileMode, id: await repository.writeBlob(text) });
    const [one, two] = [await entry('one'), await entry('two')];
    const built = await buildTree(
      repository,
      new Map([
        ['a/b/c', one],
        ['a/d', one],
        ['e', one],
      ]),
    );
    const edited = await withEntry(repository, await withEntry(repository, built, 'a/b/c', two), 'x/y', one);
    const reduced = await withEntry(repository, edited, 'e', undefined);
    expect([...(await listFiles(repository, reduced)).keys()].sort()).toEqual(['a/b/c', 'a/d', 'x/y']);
    expect(await listDifferences(repository, built, reduced)).toEqual(
      new Map([
        ['a/b/c', { before: one, after: two }],
        ['x/y', { before: undefined, after: one }],
        ['e', { before: one, after: undefined }],
      ]),
    );
    const kinds = ['a', 'a/b/c', 'a/b/c/d', 'nothing/here'].map(
      async (name) => (await findAt(repository, reduced, name)).kind,
    );
    expect(await Promise.all(kinds)).toEqual(['folder', 'file', 'beyond_file', 'nothing']);
    expect(
      await withEntry(repository, await withEntry(repository, undefined, 'a/b', one), 'a/b', undefined),
    ).toBeUndefined();
    await repository.close();
  });
});

describe('the pool of open repositories', () => {
  it('keeps no more open than it may, serves everyone, and opens again what it has closed', async () => {
    const names = Array.from({ length: 9 }, (_, index) => `pool-${index}`);
    for (const name of names) await init(name);
    let opened = 0;
    const prepare = async (): Promise<void> => void (opened += 1);
    const pool = new RepositoryPool({ git, folder, prepare, maxOpen: 3 });
    let busy = 0;
    let mostBusy = 0;
    const visit = (name: string): Promise<string> =>
      pool.use(name, async (one) => {
        busy += 1;
        mostBusy = Math.max(mostBusy, busy);
        const id = await one.writeBlob(name);
        busy -= 1;
        return (await one.readBlob(id)).toString();
      });
    expect(await Promise.all(names.map(visit))).toEqual(names);
    expect(mostBusy).toBeLessThanOrEqual(3);
    expect(opened).toBe(9);
    await visit('pool-8');
    expect(opened).toBe(9);
    await visit('pool-0');
    expect(opened).toBe(10);
    await pool.close();
  });

  it('gives the reason to whoever asks for a repository that can not be opened, and tries again', async () => {
    let fails = true;
    const prepare = async (): Promise<void> => {
      if (fails) throw new Error('not now');
    };
    const pool = new RepositoryPool({ git, folder, prepare });
    const visit = () =>
      pool.use('one', async (one) => (await one.readBlob(await one.writeBlob('x'))).toString());
    await expect(Promise.all([visit(), visit()])).rejects.toThrow('not now');
    fails = false;
    expect(await visit()).toBe('x');
    await pool.close();
  });
});

describe('the git of this machine', () => {
  it('is asked for in one clear line when it is missing', async () => {
    await expect(prepareGit(path.join(folders.make(), 'git'), '/nowhere')).rejects.toThrow(
      /^git cannot be used, it was not found: projects need git 2\.38/,
    );
  });

  it('is cut off from the configuration of users and of the machine', async () => {
    const { stdout } = await runGit(git, ['config', '--list', '--show-origin'], {
      gitDir: repository.gitDir,
    });
    const origins = new Set(
      stdout
        .toString()
        .trim()
        .split('\n')
        .map((line) => line.split('\t')[0]),
    );
    expect(origins.size).toBe(2);
    await repository.close();
  });
});

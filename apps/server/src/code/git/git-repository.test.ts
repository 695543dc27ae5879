import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestFolders } from '../projects/testing/test-projects.ts';
import { type GitProgram, runGit } from './git-process.ts';
import { Draft, NewObjects } from './draft.ts';
import { GitRepository } from './git-repository.ts';
import { RepositoryPool } from './repository-pool.ts';
import { buildPack } from './pack.ts';
import { prepareGit } from './prepare-git.ts';
import { installPack } from './testing/install-pack.ts';
import { buildTree, findAt, listDifferences, listFiles, withEntry } from './tree-paths.ts';
import { fileMode } from './git-objects.ts';

const folders = new TestFolders();
let git: GitProgram;
let folder: string;
let repository: GitRepository;

const init = async (name: string): Promise<string> => {
  const gitDir = path.join(folder, `${name}.git`);
  mkdirSync(gitDir, { recursive: true });
  await runGit(git, ['init', '--bare', '--quiet', gitDir], { gitDir });
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

/** Stores texts as blobs and returns their hashes. */
async function storeTexts(gitDir: string, texts: readonly string[]): Promise<string[]> {
  const objects = new NewObjects();
  const ids = texts.map((text) => objects.add('blob', text));
  await installPack(gitDir, await buildPack(objects.list()));
  return ids;
}

describe('a repository', () => {
  it('answers many requests at once, each with its own answer', async () => {
    const texts = Array.from({ length: 100 }, (_, index) => `text ${index}\n`.repeat(index));
    const ids = await storeTexts(repository.gitDir, texts);
    const read = await Promise.all(ids.map((id) => repository.readBlob(id)));
    expect(read.map(String)).toEqual(texts);
    await repository.close();
  });

  it('goes on when its process is killed, in the middle of requests too, and sees what came meanwhile', async () => {
    for (let round = 0; round < 5; round += 1) {
      const texts = Array.from({ length: 20 }, (_, index) => `${round} ${index}`);
      const ids = await storeTexts(repository.gitDir, texts);
      const reads = Promise.all(ids.map((id) => repository.readBlob(id)));
      repository.kill();
      expect((await reads).map(String)).toEqual(texts);
    }
    await repository.close();
  });

  it('edits, lists and compares nested trees', async () => {
    const draft = new Draft(repository, new NewObjects());
    const entry = (text: string) => ({ mode: fileMode, id: draft.writeBlob(text) });
    const [one, two] = [entry('one'), entry('two')];
    const built = buildTree(
      draft,
      new Map([
        ['a/b/c', one],
        ['a/d', one],
        ['e', one],
      ]),
    );
    const edited = await withEntry(draft, await withEntry(draft, built, 'a/b/c', two), 'x/y', one);
    const reduced = await withEntry(draft, edited, 'e', undefined);
    expect([...(await listFiles(draft, reduced)).keys()].sort()).toEqual(['a/b/c', 'a/d', 'x/y']);
    expect(await listDifferences(draft, built, reduced)).toEqual(
      new Map([
        ['a/b/c', { before: one, after: two }],
        ['x/y', { before: undefined, after: one }],
        ['e', { before: one, after: undefined }],
      ]),
    );
    const kinds = ['a', 'a/b/c', 'a/b/c/d', 'nothing/here'].map(
      async (name) => (await findAt(draft, reduced, name)).kind,
    );
    expect(await Promise.all(kinds)).toEqual(['folder', 'file', 'beyond_file', 'nothing']);
    expect(
      await withEntry(draft, await withEntry(draft, undefined, 'a/b', one), 'a/b', undefined),
    ).toBeUndefined();
    await repository.close();
  });
});

describe('the pool of open repositories', () => {
  it('keeps no more open than it may, serves everyone, and opens again what it has closed', async () => {
    const names = Array.from({ length: 9 }, (_, index) => `pool-${index}`);
    const ids = new Map<string, string>();
    for (const name of names) {
      const [id = ''] = await storeTexts(await init(name), [name]);
      ids.set(name, id);
    }
    let opened = 0;
    const gitDirOf = (name: string): string => {
      opened += 1;
      return path.join(folder, `${name}.git`);
    };
    const pool = new RepositoryPool({ git, gitDirOf, maxOpen: 3 });
    let busy = 0;
    let maxBusy = 0;
    const visit = (name: string): Promise<string> =>
      pool.use(name, async (one) => {
        busy += 1;
        maxBusy = Math.max(maxBusy, busy);
        const text = String(await one.readBlob(ids.get(name) ?? ''));
        busy -= 1;
        return text;
      });
    expect(await Promise.all(names.map(visit))).toEqual(names);
    expect(maxBusy).toBeLessThanOrEqual(3);
    expect(opened).toBe(9);
    await visit('pool-8');
    expect(opened).toBe(9);
    await visit('pool-0');
    expect(opened).toBe(10);
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

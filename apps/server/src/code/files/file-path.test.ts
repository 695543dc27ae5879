import { mkdirSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { Draft, NewObjects } from '../git/draft.ts';
import { GitRepository } from '../git/git-repository.ts';
import { buildPack } from '../git/pack.ts';
import { installPack } from '../git/testing/install-pack.ts';
import { prepareGit } from '../git/prepare-git.ts';
import { runGit } from '../git/git-process.ts';
import { buildTree } from '../git/tree-paths.ts';
import { fileMode } from '../git/git-objects.ts';
import { TestFolders } from '../projects/testing/test-projects.ts';
import { findPathProblem } from './file-path.ts';

const folders = new TestFolders();
afterAll(() => folders.removeAll());

describe('the path of a file', () => {
  it.each([
    'main.ts',
    'a/b/c.txt',
    '.gitignore',
    '.gitattributes',
    'a/.gitattributes',
    '.gitignore/x',
    '.mailmap/x',
    '.github/workflow.yml',
    'x.git',
    'git',
    'git~2',
    '.git2',
    '...',
    '..a',
    'a b',
    ' leading and trailing ',
    'con',
    'Ä/漢字/🦴.txt',
    'a:b',
    '-rf',
    '"quoted"',
    Array.from({ length: 4 }, () => 'x'.repeat(255)).join('/'),
    `${'a/'.repeat(64)}b`,
  ])('can be %j', (text) => {
    expect(findPathProblem(text)).toBeUndefined();
  });

  it.each([
    '',
    'x'.repeat(256),
    `a/${'ä'.repeat(128)}/b`,
    '/',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    'a/../b',
    'a/./b',
    './a',
    'a\\b',
    'C:\\x',
    'a\u0000b',
    'a\nb',
    'a\u007fb',
    'a\u0085b',
    '\ud800',
    'a\udc00/b',
    'x'.repeat(1025),
    `${'a/'.repeat(65)}b`,
    'é'.repeat(513),
    '.git',
    '.GIT/config',
    'a/.Git/hooks/x',
    '.git ',
    '.git.',
    '.git. . ',
    '.git::$INDEX_ALLOCATION/x',
    '.git:x',
    'git~1',
    'GIT~1/config',
    'git~1.',
    'git~1:stream',
    '.g\u200cit',
    '\ufeff.git',
    '.gi\u202et/x',
    '.gitmodules',
    'a/.GitModules',
    '.gitmodules ',
    '.gitmodules:x',
    'gitmod~1',
    'GITMOD~4.',
    'gi7eba~1',
    'gi7~1234',
    '.gitm\u200dodules',
    '.gitattributes ',
    '.GITATTRIBUTES',
    'gitatt~1',
    'gi7d29~9',
    '.gitattributes/x',
    'a/.gitattributes/b/c.txt',
  ])('can not be %j', (text) => {
    expect(findPathProblem(text)).toEqual(expect.any(String));
  });

  const letters = fc.constantFrom(
    ...['.', '..', 'git', '.git', 'GIT', 'modules', 'attributes', '~1', '~', ':', ' ', '/', '\\', 'a', 'é'],
    ...['\u200c', '\ufeff', '$I', 'gi7eba', 'gi7d29', 'gitmod', 'gitatt', '1', '\u0000', '\n', '🦴'],
  );
  const nastyPath = fc.array(letters, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''));

  it('is one that git takes without a complaint, whatever else it is', async () => {
    const folder = folders.make();
    const git = await prepareGit(path.join(folder, 'git'), process.env['PATH'] ?? '');
    const gitDir = path.join(folder, 'x.git');
    mkdirSync(gitDir);
    await runGit(git, ['init', '--bare', '--quiet', gitDir], { gitDir });
    const repository = new GitRepository(git, gitDir);
    const objects = new NewObjects();
    const draft = new Draft(repository, objects);
    const id = draft.writeBlob('text');
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.oneof(nastyPath, fc.string({ unit: 'binary', maxLength: 12 })), async (text) => {
        if (findPathProblem(text) !== undefined || seen.has(text)) return;
        seen.add(text);
        // Puts each path into its own folder, so that no path runs through another one's file.
        buildTree(draft, new Map([[`${seen.size}/${text}`, { mode: fileMode, id }]]));
      }),
      { numRuns: 1500 },
    );
    await repository.close();
    await installPack(gitDir, await buildPack(objects.list()));
    expect(seen.size).toBeGreaterThan(200);
    const { stdout } = await runGit(git, ['fsck', '--strict', '--full', '--no-dangling'], { gitDir });
    expect(stdout.toString()).toBe('');
  });
});

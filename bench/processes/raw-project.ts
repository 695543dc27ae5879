import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { transform } from 'esbuild';
import { Type } from 'typebox';

import { GitRepository, noObject } from '../../apps/server/src/git/git-repository.ts';
import { prepareGit } from '../../apps/server/src/git/prepare-git.ts';
import { runGit } from '../../apps/server/src/git/run-git.ts';
import { fileMode } from '../../apps/server/src/git/tree.ts';
import { buildTree, withEntry } from '../../apps/server/src/git/tree-paths.ts';
import { answerParent, command } from '../harness/answer-parent.ts';
import { changedContent, changedPath, sampleFiles } from '../projects/sample-project.ts';
import { openRawChecker, type RawChecker } from '../projects/raw-checker.ts';

const ref = 'refs/heads/main';
const who = { NAME: 'bench', EMAIL: 'bench@phalanx.invalid' };
const environment = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((role) =>
    Object.entries(who).map(([field, value]) => [`GIT_${role}_${field}`, value]),
  ),
);

interface RawProject {
  checker: RawChecker;
  repository: GitRepository;
  tree: string | undefined;
  head: string | undefined;
}

let project: RawProject | undefined;

async function openRepository(folder: string): Promise<GitRepository> {
  const git = await prepareGit(path.join(folder, 'git'), process.env['PATH'] ?? '');
  const gitDir = path.join(folder, 'raw.git');
  await mkdir(path.join(gitDir, 'refs'), { recursive: true });
  await runGit(git, ['init', '--bare', '--quiet', '--template=', gitDir], { gitDir });
  return new GitRepository(git, gitDir);
}

function getProject(): RawProject {
  if (project === undefined) throw new Error('open comes first');
  return project;
}

async function elapsedMs(work: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function emit(content: string): Promise<unknown> {
  const options = { target: 'es2024', sourcemap: 'inline', sourcesContent: false, charset: 'utf8' } as const;
  return transform(content, { ...options, loader: 'ts' });
}

/** One blob, the folders above it, one ref: safe on the disk like a write of the service. */
async function store(open: RawProject, content: string): Promise<void> {
  const { repository } = open;
  const id = await repository.writeBlob(content);
  const before = open.tree;
  open.tree = await withEntry(repository, before, changedPath, { mode: fileMode, id });
  await repository.updateRef('refs/phalanx/saved', open.tree ?? noObject, before ?? noObject);
}

async function commit(open: RawProject): Promise<void> {
  const { repository, tree, head } = open;
  if (tree === undefined) throw new Error('nothing was written yet');
  const args = ['commit-tree', tree, ...(head === undefined ? [] : ['-p', head]), '-m', 'bench'];
  const { stdout } = await runGit(repository.git, args, { gitDir: repository.gitDir, environment });
  open.head = stdout.toString().trim();
  await repository.updateRef(ref, open.head, head ?? noObject);
}

answerParent({
  /** A project of so many files: open in a native checker, and in a repository whose git commands stay open. */
  open: command(
    Type.Object({ folder: Type.String(), files: Type.Integer() }),
    async ({ folder, files: count }) => {
      const files = sampleFiles(count);
      const repository = await openRepository(folder);
      // What the other files hold does not matter to git.
      const id = await repository.writeBlob('the same in all files');
      const tree = await buildTree(
        repository,
        new Map(Array.from(files.keys(), (name) => [name, { mode: fileMode, id }])),
      );
      project = { checker: await openRawChecker(files), repository, tree, head: undefined };
      await repository.updateRef('refs/phalanx/saved', tree ?? noObject, noObject);
    },
  ),
  /** Checks, emits and stores a changed file, one after the other. Returns how long each took, in ms. */
  write: async () => {
    const open = getProject();
    const content = changedContent();
    return {
      checkMs: await elapsedMs(() => open.checker.check(changedPath, content)),
      emitMs: await elapsedMs(() => emit(content)),
      gitMs: await elapsedMs(() => store(open, content)),
    };
  },
  /** Stores a change, and then commits it. Returns how long the commit took, in ms. */
  commit: async () => {
    const open = getProject();
    await store(open, changedContent());
    return elapsedMs(() => commit(open));
  },
});

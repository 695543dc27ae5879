import { transform } from 'esbuild';
import { Type } from 'typebox';
import { noObject } from '../../apps/server/src/code/git/git-objects.ts';
import { runGit } from '../../apps/server/src/code/git/git-process.ts';
import { answerParent, command } from '../harness/answer-parent.ts';
import { changedContent, changedPath, sampleFiles } from '../projects/sample-project.ts';
import { openRawChecker, type RawChecker } from '../projects/raw-checker.ts';
import { RawGit, type RawTree } from '../projects/raw-git.ts';

const ref = 'refs/heads/main';
const who = { NAME: 'bench', EMAIL: 'bench@phalanx.invalid' };
const environment = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((role) =>
    Object.entries(who).map(([field, value]) => [`GIT_${role}_${field}`, value]),
  ),
);

interface RawProject {
  checker: RawChecker;
  repository: RawGit;
  root: RawTree;
  known: Map<RawTree, string>;
  tree: string;
  head: string | undefined;
}

let project: RawProject | undefined;

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

/** Adds an entry at a path; the folders above it must be written again. */
function put({ root, known }: Pick<RawProject, 'root' | 'known'>, name: string, id: string): void {
  const segments = name.split('/');
  let folder = root;
  known.delete(folder);
  for (const segment of segments.slice(0, -1)) {
    const found = folder.get(segment);
    const below: RawTree = found === undefined || typeof found === 'string' ? new Map() : found;
    folder.set(segment, below);
    folder = below;
    known.delete(folder);
  }
  folder.set(segments.at(-1) ?? '', id);
}

/** Stores one blob, the folders above it, and one ref, synced to the disk like a write of the service. */
async function store(open: RawProject, content: string): Promise<void> {
  const { repository, root, known, tree } = open;
  put(open, changedPath, await repository.writeBlob(content));
  open.tree = await repository.writeTree(root, known);
  await repository.updateRef('refs/phalanx/saved', open.tree, tree);
}

async function commit(open: RawProject): Promise<void> {
  const { repository, tree, head } = open;
  const args = ['commit-tree', tree, ...(head === undefined ? [] : ['-p', head]), '-m', 'bench'];
  const { stdout } = await runGit(repository.git, args, { gitDir: repository.gitDir, environment });
  open.head = stdout.toString().trim();
  await repository.updateRef(ref, open.head, head ?? noObject);
}

answerParent({
  /** Opens a project in a native checker, and in a repository with persistent git commands. */
  open: command(
    Type.Object({ folder: Type.String(), files: Type.Integer() }),
    async ({ folder, files: count }) => {
      const files = sampleFiles(count);
      const repository = await RawGit.open(folder);
      // The content of the other files does not matter to git.
      const id = await repository.writeBlob('the same in all files');
      const root: RawTree = new Map();
      const known = new Map<RawTree, string>();
      for (const name of files.keys()) put({ root, known }, name, id);
      const tree = await repository.writeTree(root, known);
      project = { checker: await openRawChecker(files), repository, root, known, tree, head: undefined };
      await repository.updateRef('refs/phalanx/saved', tree, noObject);
    },
  ),
  /** Checks, emits and stores changed files one by one. Returns the durations in ms. */
  write: async () => {
    const open = getProject();
    const content = changedContent();
    return {
      checkMs: await elapsedMs(() => open.checker.check(changedPath, content)),
      emitMs: await elapsedMs(() => emit(content)),
      gitMs: await elapsedMs(() => store(open, content)),
    };
  },
  /** Stores a change without a commit. Returns the duration in ms. */
  save: () => elapsedMs(() => store(getProject(), changedContent())),
  /** Stores a change and then commits it. Returns the duration of the commit in ms. */
  commit: async () => {
    const open = getProject();
    await store(open, changedContent());
    return elapsedMs(() => commit(open));
  },
});

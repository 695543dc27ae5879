import { randomUUID } from 'node:crypto';
import { mkdir, open, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type GitProgram, runGit } from '../../apps/server/src/code/git/git-process.ts';
import type { Reading } from '../../apps/server/src/code/git/batch-process.ts';
import { KeptOpen } from '../../apps/server/src/code/git/kept-open.ts';
import { prepareGit } from '../../apps/server/src/code/git/prepare-git.ts';

/** Entries by name; the value of a folder is another tree. */
export type RawTree = Map<string, string | RawTree>;

function* readLine(): Reading<string> {
  return (yield 'line').toString();
}

function* readLines(): Reading<void> {
  for (let count = 0; count < 3; count += 1) yield 'line';
}

/** Writes to a repository through persistent git commands, with everything synced. */
export class RawGit {
  readonly git: GitProgram;
  readonly gitDir: string;
  readonly #blobs: KeptOpen;
  readonly #trees: KeptOpen;
  readonly #refs: KeptOpen;

  private constructor(git: GitProgram, gitDir: string) {
    this.git = git;
    this.gitDir = gitDir;
    const keep = (...args: string[]) =>
      new KeptOpen(git, { args: ['-c', 'core.fsync=all', ...args], gitDir });
    this.#blobs = keep('hash-object', '-w', '--no-filters', '--stdin-paths');
    this.#trees = keep('mktree', '-z', '--batch', '--missing');
    this.#refs = keep('update-ref', '--stdin');
  }

  static async open(folder: string): Promise<RawGit> {
    const git = await prepareGit(path.join(folder, 'git'), process.env['PATH'] ?? '');
    const gitDir = path.join(folder, 'raw.git');
    await mkdir(path.join(gitDir, 'refs', 'phalanx'), { recursive: true });
    await runGit(git, ['init', '--bare', '--quiet', '--template=', gitDir], { gitDir });
    return new RawGit(git, gitDir);
  }

  async writeBlob(content: string): Promise<string> {
    const file = path.join(this.git.stagingFolder, randomUUID());
    await writeFile(file, content);
    const id = await this.#blobs.request(`${file}\n`, readLine);
    await unlink(file);
    return id;
  }

  /** Writes the tree of a folder. Subfolders with known object names are not written again. */
  async writeTree(tree: RawTree, known: Map<RawTree, string>): Promise<string> {
    let text = '';
    for (const [name, entry] of tree) {
      if (typeof entry === 'string') text += `100644 blob ${entry}\t${name}\0`;
      else text += `040000 tree ${known.get(entry) ?? (await this.writeTree(entry, known))}\t${name}\0`;
    }
    const id = await this.#trees.request(`${text}\0`, readLine);
    known.set(tree, id);
    return id;
  }

  async updateRef(name: string, next: string, before: string): Promise<void> {
    await this.#refs.request(`start\nupdate ${name} ${next} ${before}\nprepare\ncommit\n`, readLines);
    const folder = await open(path.dirname(path.join(this.gitDir, name)));
    await folder.sync();
    await folder.close();
  }
}

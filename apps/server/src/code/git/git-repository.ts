import type { GitProgram } from './git-process.ts';
import type { Reading } from './batch-process.ts';
import { KeptOpen } from './kept-open.ts';
import { type GitObjects, type ObjectInfo, parseTree, type Tree, TreeCache } from './git-objects.ts';

function parseInfo(line: Buffer): ObjectInfo | undefined {
  const match = /^([0-9a-f]{40}) (\w+) (\d+)$/.exec(line.toString());
  if (match === null) return undefined;
  return { id: match[1] ?? '', type: match[2] ?? '', sizeBytes: Number(match[3]) };
}

function* readInfo(): Reading<ObjectInfo | undefined> {
  return parseInfo(yield 'line');
}

function* readContents(): Reading<{ info: ObjectInfo; bytes: Buffer } | undefined> {
  const info = parseInfo(yield 'line');
  if (info === undefined) return undefined;
  const bytes = yield info.sizeBytes;
  yield 1;
  return { info, bytes };
}

/** Error for a missing object that must exist. */
export class ObjectMissing extends Error {
  override readonly name = 'ObjectMissing';
}

/** Objects of one repository, read by a long-running git command. */
export class GitRepository implements GitObjects {
  readonly gitDir: string;
  readonly git: GitProgram;
  readonly openedAt = performance.now();
  readonly #reader: KeptOpen;
  readonly #trees = new TreeCache();

  /** Creates a reader of a repository. `environment`: adds the quarantine of a push to the repository. */
  constructor(git: GitProgram, gitDir: string, environment: Readonly<Record<string, string>> = {}) {
    this.git = git;
    this.gitDir = gitDir;
    this.#reader = new KeptOpen(git, { args: ['cat-file', '--batch-command'], gitDir, environment });
  }

  findInfo(name: string): Promise<ObjectInfo | undefined> {
    return this.#reader.request(`info ${name}\n`, readInfo);
  }

  async readBlob(id: string): Promise<Buffer> {
    return (await this.#contents(id)).bytes;
  }

  async readTree(id: string): Promise<Tree> {
    const known = this.#trees.find(id);
    if (known !== undefined) return known;
    const { info, bytes } = await this.#contents(id);
    if (info.type !== 'tree') throw new Error(`${id} is a ${info.type}, not a tree`);
    const tree = parseTree(bytes);
    this.#trees.add(id, tree);
    return tree;
  }

  /** Caches trees that were just stored, so that they need not be read. */
  remember(trees: ReadonlyMap<string, Tree>): void {
    for (const [id, tree] of trees) this.#trees.add(id, tree);
  }

  async close(): Promise<void> {
    await this.#reader.close();
  }

  kill(): void {
    this.#reader.kill();
  }

  async #contents(id: string): Promise<{ info: ObjectInfo; bytes: Buffer }> {
    const found = await this.#reader.request(`contents ${id}\n`, readContents);
    if (found === undefined) throw new ObjectMissing(`object ${id} is missing in ${this.gitDir}`);
    return found;
  }
}

import { randomUUID } from 'node:crypto';
import { unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { BatchProcessEnded, KeptOpen, type Reading } from './batch-process.ts';
import type { GitProgram } from './git-program.ts';
import { runGit } from './run-git.ts';
import { removeStaleLock } from './stale-files.ts';
import { errorCodeOf } from '../error-code.ts';
import { syncFolder } from '../sync-folder.ts';
import { formatTree, parseTree, type Tree, TreeCache } from './tree.ts';

export interface ObjectInfo {
  readonly id: string;
  readonly type: string;
  readonly sizeBytes: number;
}

export const noObject = '0'.repeat(40);

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

function* readId(): Reading<string> {
  const line = (yield 'line').toString();
  if (!/^[0-9a-f]{40}$/.test(line)) throw new Error(`git answered "${line}" instead of an object's name`);
  return line;
}

function* readTransaction(): Reading<void> {
  for (const step of ['start', 'prepare', 'commit']) {
    const line = (yield 'line').toString();
    if (line !== `${step}: ok`) throw new Error(`git answered "${line}" to ${step}`);
  }
}

/** One repository, driven by git commands that are kept open. Everything but `updateRef` is safe to do twice. */
export class GitRepository {
  readonly gitDir: string;
  readonly git: GitProgram;
  readonly openedAt = performance.now();
  readonly #reader: KeptOpen;
  readonly #blobWriter: KeptOpen;
  readonly #commitWriter: KeptOpen;
  readonly #treeWriter: KeptOpen;
  readonly #refWriter: KeptOpen;
  readonly #trees = new TreeCache();

  /** `environment`: for a repository that is seen together with the quarantine of a push. */
  constructor(git: GitProgram, gitDir: string, environment: Readonly<Record<string, string>> = {}) {
    this.git = git;
    this.gitDir = gitDir;
    const keep = (...args: string[]) => new KeptOpen(git, { args, gitDir, environment });
    this.#reader = keep('cat-file', '--batch-command');
    this.#blobWriter = keep('hash-object', '-w', '--no-filters', '--stdin-paths');
    this.#commitWriter = keep('hash-object', '-t', 'commit', '-w', '--no-filters', '--stdin-paths');
    // The entries were written a moment ago or stand in the tree before: no need to look for each of them.
    this.#treeWriter = keep('mktree', '-z', '--batch', '--missing');
    this.#refWriter = keep('update-ref', '--stdin');
  }

  /** By name of an object or of a ref; the name must not come from a caller unchecked. */
  findInfo(name: string): Promise<ObjectInfo | undefined> {
    return this.#reader.request(`info ${name}\n`, readInfo);
  }

  async findRef(name: string): Promise<string | undefined> {
    return (await this.findInfo(name))?.id;
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

  /** Stores the content of a large file outside of the repository, by a process of its own: nobody waits behind it. */
  async writeLargeBlobOf(file: string): Promise<string> {
    const args = ['hash-object', '-w', '--no-filters', file];
    const { stdout } = await runGit(this.git, args, { gitDir: this.gitDir });
    return stdout.toString().trim();
  }

  writeBlob(content: string | Buffer): Promise<string> {
    return this.#writeStaged(this.#blobWriter, content);
  }

  /** `text`: the commit object; git refuses one that is not well-formed. */
  writeCommit(text: string): Promise<string> {
    return this.#writeStaged(this.#commitWriter, text);
  }

  async writeTree(tree: Tree): Promise<string> {
    const id = await this.#treeWriter.request(formatTree(tree), readId);
    this.#trees.add(id, tree);
    return id;
  }

  /**
   * Moves a ref if it still is where the caller saw it (`noObject`: nowhere), and makes that durable. Returns false
   * when it is elsewhere.
   */
  async updateRef(name: string, next: string, before: string, attempts = 2): Promise<boolean> {
    const input = `start\nupdate ${name} ${next} ${before}\nprepare\ncommit\n`;
    try {
      await this.#refWriter.requestOnce(input, readTransaction);
    } catch (error) {
      if (!(error instanceof BatchProcessEnded)) throw error;
      // It ends at every refusal, and may be killed at any time: what it has done shows in the ref alone.
      const now = (await this.findRef(name)) ?? noObject;
      if (now !== next && now !== before) return false;
      if (now !== next && attempts === 1) throw error;
      if (now !== next) {
        await removeStaleLock(path.join(this.gitDir, `${name}.lock`));
        return this.updateRef(name, next, before, attempts - 1);
      }
    }
    await this.#syncFolderOf(name);
    return true;
  }

  async #writeStaged(writer: KeptOpen, content: string | Buffer): Promise<string> {
    const file = path.join(this.git.stagingFolder, randomUUID());
    try {
      await writeFile(file, content);
      return await writer.request(`${file}\n`, readId);
    } finally {
      await unlink(file).catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#all().map((process) => process.close()));
  }

  kill(): void {
    for (const process of this.#all()) process.kill();
  }

  #all(): KeptOpen[] {
    return [this.#reader, this.#blobWriter, this.#commitWriter, this.#treeWriter, this.#refWriter];
  }

  async #contents(id: string): Promise<{ info: ObjectInfo; bytes: Buffer }> {
    const found = await this.#reader.request(`contents ${id}\n`, readContents);
    if (found === undefined) throw new Error(`object ${id} is missing in ${this.gitDir}`);
    return found;
  }

  /**
   * Git syncs what it writes but not the renames that give it its name. Syncing the folder of the last rename makes
   * it durable and, on file systems with an ordered journal, the renames before it.
   */
  async #syncFolderOf(ref: string): Promise<void> {
    try {
      await syncFolder(path.dirname(path.join(this.gitDir, ref)));
    } catch (error) {
      // Git's upkeep has moved the ref to a file of many refs, which it syncs, and taken the empty folder away.
      if (errorCodeOf(error) !== 'ENOENT') throw error;
    }
  }
}

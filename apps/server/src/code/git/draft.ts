import { createHash, hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type GitObjects, type ObjectInfo, formatTree, type Tree, isFolder } from './git-objects.ts';
import type { PackedObject } from './pack.ts';

/** New git objects to store, in memory or in files. */
export class NewObjects {
  readonly #objects: Map<string, PackedObject>;
  readonly #trees: Map<string, Tree>;

  constructor(known?: NewObjects) {
    this.#objects = new Map(known === undefined ? [] : known.#objects);
    this.#trees = new Map(known === undefined ? [] : known.#trees);
  }

  get trees(): ReadonlyMap<string, Tree> {
    return this.#trees;
  }

  list(): PackedObject[] {
    return [...this.#objects.values()];
  }

  find(id: string): PackedObject | undefined {
    return this.#objects.get(id);
  }

  /** Adds an object and returns its git hash, like the other methods that add objects. */
  add(type: PackedObject['type'], text: string | Buffer): string {
    const content = Buffer.from(text);
    const id = hash('sha1', Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]), 'hex');
    if (!this.#objects.has(id)) this.#objects.set(id, { id, type, sizeBytes: content.length, content });
    return id;
  }

  addTree(tree: Tree): string {
    const id = this.add('tree', formatTree(tree));
    this.#trees.set(id, tree);
    return id;
  }

  /** Drops an object with everything below it. */
  drop(id: string): void {
    const tree = this.#objects.has(id) ? this.#trees.get(id) : undefined;
    this.#objects.delete(id);
    if (tree !== undefined) for (const entry of tree.values()) this.drop(entry.id);
  }

  /** Adds the content of a file. The file must exist until the objects are stored. */
  async addFile(file: string, sizeBytes: number): Promise<string> {
    const sum = createHash('sha1').update(`blob ${sizeBytes}\0`);
    for await (const piece of createReadStream(file)) if (Buffer.isBuffer(piece)) sum.update(piece);
    const id = sum.digest('hex');
    this.#objects.set(id, { id, type: 'blob', sizeBytes, content: file });
    return id;
  }
}

/**
 * Repository together with the new objects of a change. Other readers do not see these objects until the change is
 * stored.
 */
export class Draft implements GitObjects {
  readonly git;
  readonly gitDir;
  readonly #repository: GitObjects;
  readonly #objects: NewObjects;

  constructor(repository: GitObjects, objects: NewObjects) {
    this.git = repository.git;
    this.gitDir = repository.gitDir;
    this.#repository = repository;
    this.#objects = objects;
  }

  async findInfo(name: string): Promise<ObjectInfo | undefined> {
    return this.#objects.find(name) ?? this.#repository.findInfo(name);
  }

  async readBlob(id: string): Promise<Buffer> {
    const known = this.#objects.find(id)?.content;
    if (known === undefined) return this.#repository.readBlob(id);
    return typeof known === 'string' ? readFile(known) : known;
  }

  async readTree(id: string): Promise<Tree> {
    return this.#objects.trees.get(id) ?? this.#repository.readTree(id);
  }

  writeBlob(content: string | Buffer): string {
    return this.#objects.add('blob', content);
  }

  writeTree(tree: Tree): string {
    return this.#objects.addTree(tree);
  }

  /** Writes the commit object `text`. */
  writeCommit(text: string): string {
    return this.#objects.add('commit', text);
  }
}

/** Drops from `objects` the objects at the same path in both trees, because they are already stored. */
export async function dropKnown(
  repository: GitObjects,
  objects: NewObjects,
  { before, after }: { before: string | undefined; after: string | undefined },
): Promise<void> {
  if (before === undefined || after === undefined) return;
  if (before === after) objects.drop(after);
  const next = objects.trees.get(after);
  if (next === undefined) return;
  const known = await repository.readTree(before);
  for (const [name, entry] of next) {
    const old = known.get(name);
    if (old?.id === entry.id) objects.drop(entry.id);
    else if (old !== undefined && isFolder(old) && isFolder(entry))
      await dropKnown(repository, objects, { before: old.id, after: entry.id });
  }
}

import { randomBytes } from 'node:crypto';

import type { ToProcess } from './process/messages.ts';
import { readProjectSettings, settingsPath, type SettingsResult } from './project-settings.ts';
import { isTypeScript } from './source-paths.ts';

/** Immutable snapshot of a project's files, such as a git tree. */
export interface ProjectFiles {
  readonly projectId: string;
  /** User for whom the project is compiled. */
  readonly userId?: string;
  /** ID of the snapshot. Differs whenever any file differs. */
  readonly treeId: string;
  /** Lists all files: each path with a version that differs whenever the content differs, such as the blob's hash. */
  list(): Promise<ReadonlyMap<string, string>>;
  /** Reads a file. Undefined when there is no such file. */
  read(path: string): Promise<string | undefined>;
  /** Already known contents, by path. */
  readonly given?: ReadonlyMap<string, string>;
}

/** Maximum total length of a project's sources, in UTF-16 units. A checker could not hold more. */
const maxSourcesLength = 128 * 1024 * 1024;
/**
 * Length from which a batch is flushed, in UTF-16 units, so that serialising a message does not block the event loop.
 */
const maxBatchLength = 1024 * 1024;
/** Version of a content that is not saved. The next update sends the file again. */
const unknownContent = '';

type FileUpdate = [path: string, content: string | null];

export class SourcesTooLarge extends Error {
  constructor() {
    super(
      `the TypeScript files of the project are larger than ${maxSourcesLength / 1024 / 1024} MB together`,
    );
    this.name = 'SourcesTooLarge';
  }
}

/** Tracks which files of one project a compile process has, and sends the process the changes. */
export class ProjectMirror {
  /** Unguessable folder of the project in the checker. */
  readonly root = `/p${randomBytes(16).toString('hex')}`;
  readonly #send: (message: ToProcess) => Promise<void>;
  readonly #contents = new Map<string, string>();
  readonly #lengths = new Map<string, number>();
  #treeId: string | undefined;
  #settings: SettingsResult = readProjectSettings(undefined);
  #batch: FileUpdate[] = [];
  #batchLength = 0;
  #sourcesLength = 0;

  constructor(send: (message: ToProcess) => Promise<void>) {
    this.#send = send;
  }

  /** Total length of the sources that the process has, in UTF-16 units. */
  get sourcesLength(): number {
    return this.#sourcesLength;
  }

  /** Updates the process to `files`, with `change` applied if given. Returns the settings of that snapshot. */
  async update(files: ProjectFiles, change?: { path: string; content: string }): Promise<SettingsResult> {
    if (this.#treeId !== files.treeId) await this.#follow(files);
    this.#treeId = files.treeId;
    if (change !== undefined) {
      await this.#set(change.path, change.content, unknownContent);
      this.#treeId = undefined;
    }
    await this.#flush([]);
    return this.#settings;
  }

  /** Sends contents that a check needed, such as JSON. */
  async supply(files: ProjectFiles, paths: readonly string[]): Promise<void> {
    for (const path of paths) await this.#set(path, (await files.read(path)) ?? '', this.#contents.get(path));
    await this.#flush([]);
  }

  async #follow(files: ProjectFiles): Promise<void> {
    const listed = await files.list();
    const removed = [...this.#contents.keys()].filter((path) => !listed.has(path));
    for (const path of removed) this.#drop(path);
    if (removed.length > 0) await this.#flush(removed);
    for (const [path, content] of listed)
      if (this.#contents.get(path) !== content) await this.#followFile(files, path, content);
    if (!listed.has(settingsPath)) this.#settings = readProjectSettings(undefined);
  }

  async #followFile(files: ProjectFiles, path: string, content: string): Promise<void> {
    const isRead = isTypeScript(path) || path === settingsPath;
    const text = isRead ? ((await files.read(path)) ?? '') : null;
    if (path === settingsPath && text !== null) this.#settings = readProjectSettings(text);
    await this.#set(path, text, content);
  }

  async #set(path: string, text: string | null, content: string | undefined): Promise<void> {
    const length = text?.length ?? 0;
    this.#sourcesLength += length - (this.#lengths.get(path) ?? 0);
    this.#lengths.set(path, length);
    if (this.#sourcesLength > maxSourcesLength) throw new SourcesTooLarge();
    this.#contents.set(path, content ?? unknownContent);
    this.#batch.push([path, text]);
    this.#batchLength += length;
    if (this.#batchLength > maxBatchLength) await this.#flush([]);
  }

  #drop(path: string): void {
    this.#sourcesLength -= this.#lengths.get(path) ?? 0;
    this.#lengths.delete(path);
    this.#contents.delete(path);
  }

  async #flush(removed: string[]): Promise<void> {
    if (removed.length === 0 && this.#batch.length === 0) return;
    const set = this.#batch;
    this.#batch = [];
    this.#batchLength = 0;
    await this.#send({ kind: 'files', root: this.root, set, removed });
  }
}

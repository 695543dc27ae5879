import { readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { isLanguageLibrary } from '../checking-options.ts';

/** Content of a project file. Null while only the file's existence is known. */
export type FileContent = string | null;

export type ReadLibrary = (absolutePath: string) => string | undefined;

/**
 * Files visible to the checker: the warm projects, each below its own root, fixed files such as the runtime's types,
 * and the language libraries. Answers every file request itself, so that the checker never accesses the disk.
 */
export class VirtualFiles {
  readonly #projects = new Map<string, Map<string, FileContent>>();
  readonly #fixed = new Map<string, string>();
  readonly #readLibrary: ReadLibrary;
  #wanted: string[] = [];

  constructor(readLibrary: ReadLibrary) {
    this.#readLibrary = readLibrary;
  }

  /** Returns the files of the project at `root`, such as `/p1`, by path. */
  getProject(root: string): Map<string, FileContent> {
    const project = this.#projects.get(root) ?? new Map<string, FileContent>();
    this.#projects.set(root, project);
    return project;
  }

  removeProject(root: string): void {
    this.#projects.delete(root);
  }

  setFixed(absolutePath: string, content: string): void {
    this.#fixed.set(absolutePath, content);
  }

  removeFixed(absolutePath: string): void {
    this.#fixed.delete(absolutePath);
  }

  /** Returns the files whose content was requested while only their existence was known, and clears the list. */
  takeWanted(): string[] {
    const wanted = this.#wanted;
    this.#wanted = [];
    return wanted;
  }

  /**
   * File system for the checker. Null means that there is no such file; undefined would make the checker read the disk.
   */
  readonly callbacks = {
    readFile: (name: string): string | null => this.#read(name),
    fileExists: (name: string): boolean => this.#fixed.has(name) || this.#find(name) !== undefined,
    directoryExists: (name: string): boolean => this.#isFolder(name),
    getAccessibleEntries: (): { files: string[]; directories: string[] } => ({ files: [], directories: [] }),
    realpath: (name: string): string => name,
  };

  #read(name: string): string | null {
    const content = this.#find(name);
    if (content === null) this.#wanted.push(name);
    return content ?? this.#fixed.get(name) ?? this.#readLibrary(name) ?? null;
  }

  #find(name: string): FileContent | undefined {
    const end = name.indexOf('/', 1);
    return end === -1 ? undefined : this.#projects.get(name.slice(0, end))?.get(name.slice(end + 1));
  }

  /**
   * Whether a folder may exist. Any folder below a project may exist, except `node_modules`, because there are no
   * packages.
   */
  #isFolder(name: string): boolean {
    if (name.endsWith('/node_modules')) return false;
    const end = name.indexOf('/', 1);
    return this.#projects.has(end === -1 ? name : name.slice(0, end));
  }
}

/** Returns the folder of the checker's platform package, which contains the language libraries. */
export function findLibraryFolder(): string {
  const typescript = createRequire(fileURLToPath(import.meta.resolve('typescript/package.json')));
  const name = `@typescript/typescript-${process.platform}-${process.arch}/package.json`;
  return realpathSync(join(dirname(typescript.resolve(name)), 'lib'));
}

/**
 * Creates a reader of the language libraries in `folder`, such as `lib.es2025.d.ts`. The reader reads no other files.
 */
export function createLibraryReader(folder: string): ReadLibrary {
  const texts = new Map<string, string>();
  return (absolutePath) => {
    const name = /^lib\.(.+)\.d\.ts$/.exec(basename(absolutePath))?.[1];
    if (name === undefined || !isLanguageLibrary(name) || dirname(absolutePath) !== folder) return undefined;
    const text = texts.get(name) ?? readFileSync(absolutePath, 'utf8');
    texts.set(name, text);
    return text;
  };
}

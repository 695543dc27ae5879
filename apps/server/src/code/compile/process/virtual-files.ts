import { readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { SettingError } from '@phalanx/settings';

import { isLanguageLibrary } from '../checking-options.ts';

/** Content of a file of a project, or null while only its existence is known. */
export type FileContent = string | null;

export type ReadLibrary = (absolutePath: string) => string | undefined;

/**
 * All files that the checker can see: the warm projects, each below its own root, fixed files such as the types of the
 * runtime, and the libraries of the language. Answers every question itself, so that none reaches a disk.
 */
export class VirtualFiles {
  readonly #projects = new Map<string, Map<string, FileContent>>();
  readonly #fixed = new Map<string, string>();
  readonly #readLibrary: ReadLibrary;
  #wanted: string[] = [];

  constructor(readLibrary: ReadLibrary) {
    this.#readLibrary = readLibrary;
  }

  /** Files of the project at `root`, such as `/p1`, by path. */
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

  /** Takes the files whose content was asked for while only their existence was known. Each call starts a new list. */
  takeWanted(): string[] {
    const wanted = this.#wanted;
    this.#wanted = [];
    return wanted;
  }

  /** File system for the checker. Null means that there is no such file; undefined would make it look on the disk. */
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

  /** Whether a folder may exist. Below a project every folder may, except those of packages, which do not exist. */
  #isFolder(name: string): boolean {
    if (name.endsWith('/node_modules')) return false;
    const end = name.indexOf('/', 1);
    return this.#projects.has(end === -1 ? name : name.slice(0, end));
  }
}

/** Version that this code knows. The checker's interface changes with each minor version. */
const knownVersion = '7.0.';

/** Throws a `SettingError` when the installed checker is not the one that this code was written for. */
export function requireKnownChecker(): void {
  const path = fileURLToPath(import.meta.resolve('typescript/package.json'));
  const version = /"version": "([^"]+)"/.exec(readFileSync(path, 'utf8'))?.[1] ?? 'none';
  if (version.startsWith(knownVersion)) return;
  throw new SettingError(
    `Phalanx needs the package typescript ${knownVersion}x, but ${version} is installed: install Phalanx anew, or run "npm ci" in its folder.`,
  );
}

/** Folder of the checker's own package that has its libraries. */
export function findLibraryFolder(): string {
  const typescript = createRequire(fileURLToPath(import.meta.resolve('typescript/package.json')));
  const name = `@typescript/typescript-${process.platform}-${process.arch}/package.json`;
  return realpathSync(join(dirname(typescript.resolve(name)), 'lib'));
}

/** Reads `lib.es*.d.ts` from `folder`, and nothing else of the disk. */
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

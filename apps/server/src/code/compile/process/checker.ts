// The checker's API may change with any release, so no code outside this folder uses it.
import { randomBytes } from 'node:crypto';
import {
  API,
  DiagnosticCategory,
  type Diagnostic,
  type Program,
  type Project,
  type Snapshot,
} from 'typescript/unstable/sync';
import { defaultOptions, fixedOptions } from '../checking-options.ts';
import { nothingFound, type AssistedMessage, type AssistMessage } from './messages.ts';
import { isTypeScript } from '../source-paths.ts';
import { describeSymbol, listCompletions, findReferences } from './assist.ts';
import type { Sources } from './import-graph.ts';
import { createLibraryReader, findLibraryFolder, VirtualFiles, type FileContent } from './virtual-files.ts';

/** Error of the checker. Offsets are in UTF-16 units. */
export interface CheckerMessage {
  /** Path in the project. Undefined for an error outside the project's files. */
  path: string | undefined;
  start: number;
  end: number;
  code: number;
  text: string;
}

export interface FileChanges {
  set: readonly (readonly [path: string, content: FileContent])[];
  removed: readonly string[];
}

interface WarmProject {
  config: string;
  roots: string;
  optionsText: string;
  isOpen: boolean;
  areRootsOutdated: boolean;
}

type ChangeKind = 'changed' | 'created' | 'deleted';

const globalName = /^(?:declare )?(?:const|var|function|class|interface|type) (\w+)/gm;

/** Native checker that keeps projects warm. Its calls block the thread. */
export class Checker {
  readonly #files: VirtualFiles;
  readonly #api: API;
  readonly #libraryFolder = findLibraryFolder();
  /** Random part of internal paths, so that code can't guess the paths of other projects or of generated files. */
  readonly #secret = randomBytes(16).toString('hex');
  readonly #projects = new Map<string, WarmProject>();
  readonly #agentTypes = `/t${this.#secret}/agent.d.ts`;
  /** Pending file changes by absolute path, sent to the native checker at its next update. */
  readonly #pending = new Map<string, ChangeKind>();
  /** Global names visible to every file. */
  readonly #globals: readonly string[];
  #closing: string[] = [];
  #snapshot: Snapshot | undefined;

  constructor(agentTypes: string) {
    this.#files = new VirtualFiles(createLibraryReader(this.#libraryFolder));
    this.#files.setFixed(this.#agentTypes, agentTypes);
    this.#globals = Array.from(agentTypes.matchAll(globalName), ([, name = '']) => name);
    this.#api = new API({ cwd: '/', fs: this.#files.callbacks });
  }

  /**
   * Applies file changes to a project. `root` identifies the project: one unguessable path segment, such as `/p5f…`.
   */
  change(root: string, { set, removed }: FileChanges): void {
    const project = this.#warm(root);
    const files = this.#files.getProject(root);
    for (const [path, content] of set) this.#set({ root, files, project }, path, content);
    for (const path of removed) {
      if (!files.delete(path)) continue;
      this.#note(`${root}/${path}`, 'deleted');
      project.areRootsOutdated ||= isTypeScript(path);
    }
  }

  getSources(root: string): Sources {
    const files = this.#files.getProject(root);
    return { has: (path) => files.has(path), findText: (path) => files.get(path) ?? undefined };
  }

  /** Lists the paths of all known files of a project. */
  listFiles(root: string): string[] {
    return [...this.#files.getProject(root).keys()];
  }

  /**
   * Lists the errors in one file, or in the whole project without `path`. `wanted` lists files whose content the check
   * needed but did not have. The result is invalid until those files are supplied.
   */
  check(root: string, options: object, path?: string): { messages: CheckerMessage[]; wanted: string[] } {
    const project = this.#warm(root);
    this.#files.takeWanted();
    const { program } = this.#open(root, project, options);
    const file = path === undefined ? undefined : `${root}/${path}`;
    const found = listDiagnostics(program, file).filter(
      ({ fileName = project.config }) =>
        fileName === project.config ||
        (file === undefined ? fileName.startsWith(`${root}/`) : fileName === file),
    );
    return {
      messages: found.map((diagnostic) => this.#message(root, diagnostic)),
      wanted: this.#takeWanted(root),
    };
  }

  /** Describes the symbol, completions or references at a place. `wanted` works as in `check`. */
  assist({ root, settings, path, position, of }: AssistMessage): Omit<AssistedMessage, 'kind'> {
    const warm = this.#warm(root);
    this.#files.takeWanted();
    const project = this.#open(root, warm, settings.options);
    const show = (text: string): string => this.#withoutPlaces(root, text);
    const place = { project, file: `${root}/${path}`, position, show };
    const found = {
      ...nothingFound,
      ...(of === 'symbol' ? { symbol: describeSymbol(place) } : {}),
      ...(of === 'completions' ? { completions: listCompletions(place, this.#globals) } : {}),
      ...(of === 'references' ? { references: findReferences(place, root) } : {}),
    };
    return { ...found, wanted: this.#takeWanted(root) };
  }

  /** Runs work on the compiler's view of a project. The names of the project's files begin with `root`. */
  look<Result>(
    { root, settings }: Pick<AssistMessage, 'root' | 'settings'>,
    work: (project: Project) => Result,
  ): Result {
    return work(this.#open(root, this.#warm(root), settings.options));
  }

  #takeWanted(root: string): string[] {
    const wanted = this.#files.takeWanted().filter((name) => name.startsWith(`${root}/`));
    return wanted.map((name) => name.slice(root.length + 1));
  }

  /** Lists the syntax errors of a text that belongs to no project. */
  checkSyntax(path: string, content: string): CheckerMessage[] {
    const root = `/s${this.#secret}`;
    this.change(root, { set: [[path, content]], removed: [] });
    const { program } = this.#open(root, this.#warm(root), {});
    const found = program.getSyntacticDiagnostics(`${root}/${path}`);
    const messages = found.map((diagnostic) => this.#message(root, diagnostic));
    this.forget(root);
    return messages;
  }

  /** Evicts a warm project. The next check frees its memory. */
  forget(root: string): void {
    const project = this.#projects.get(root);
    if (project === undefined) return;
    for (const path of this.#files.getProject(root).keys()) this.#note(`${root}/${path}`, 'deleted');
    this.#note(project.config, 'deleted');
    this.#note(project.roots, 'deleted');
    if (project.isOpen) this.#closing.push(project.config);
    this.#files.removeProject(root);
    this.#files.removeFixed(project.config);
    this.#files.removeFixed(project.roots);
    this.#projects.delete(root);
  }

  close(): void {
    this.#api.close();
  }

  #warm(root: string): WarmProject {
    const folder = `/c${this.#secret}${root}`;
    const project = this.#projects.get(root) ?? {
      config: `${folder}/tsconfig.json`,
      roots: `${folder}/roots.ts`,
      optionsText: '',
      isOpen: false,
      areRootsOutdated: true,
    };
    this.#projects.set(root, project);
    return project;
  }

  #set(
    place: { root: string; files: Map<string, FileContent>; project: WarmProject },
    path: string,
    content: FileContent,
  ): void {
    const before = place.files.get(path);
    if (before === content && before !== undefined) return;
    place.files.set(path, content);
    this.#note(`${place.root}/${path}`, before === undefined ? 'created' : 'changed');
    if (before === undefined && isTypeScript(path)) place.project.areRootsOutdated = true;
  }

  /**
   * Writes one generated file that imports all sources. If the sources themselves were roots, each reply of the checker
   * would contain their whole list.
   */
  #writeRoots(root: string, project: WarmProject): void {
    if (!project.areRootsOutdated) return;
    const paths = [...this.#files.getProject(root).keys()].filter(isTypeScript).sort();
    const lines = paths.map((path) => rootLine(`../..${root}/${path}`));
    this.#writeFixed(project.roots, [rootLine(`../..${this.#agentTypes}`), ...lines]);
    project.areRootsOutdated = false;
  }

  #writeConfig(project: WarmProject, options: object): void {
    const compilerOptions = { ...defaultOptions, ...options, ...fixedOptions };
    const text = JSON.stringify({ compilerOptions, files: ['./roots.ts'] });
    if (text === project.optionsText) return;
    this.#writeFixed(project.config, [text]);
    project.optionsText = text;
  }

  /** Writes a generated file. References come first, because they must precede imports. */
  #writeFixed(name: string, lines: readonly string[]): void {
    const inOrder = [
      ...lines.filter((line) => line.startsWith('///')),
      ...lines.filter((line) => !line.startsWith('///')),
    ];
    const isNew = !this.#files.callbacks.fileExists(name);
    this.#files.setFixed(name, inOrder.join('\n'));
    this.#note(name, isNew ? 'created' : 'changed');
  }

  /**
   * Records a change for the next update. Merges changes of one file: a file that was deleted and created again counts
   * as changed.
   */
  #note(name: string, kind: ChangeKind): void {
    const before = this.#pending.get(name);
    if (before === 'created' && kind === 'deleted') this.#pending.delete(name);
    else if (before === 'deleted' && kind === 'created') this.#pending.set(name, 'changed');
    else if (before !== 'created') this.#pending.set(name, kind);
  }

  #takePending(): Record<ChangeKind, string[]> {
    const named = (wanted: ChangeKind): string[] =>
      [...this.#pending].filter(([, kind]) => kind === wanted).map(([name]) => name);
    const pending = { changed: named('changed'), created: named('created'), deleted: named('deleted') };
    this.#pending.clear();
    return pending;
  }

  #open(root: string, project: WarmProject, options: object): Project {
    this.#writeRoots(root, project);
    this.#writeConfig(project, options);
    return this.#update(project);
  }

  #update(project: WarmProject): Project {
    const before = this.#snapshot;
    const snapshot = this.#api.updateSnapshot({
      fileChanges: this.#takePending(),
      closeProjects: this.#closing,
      ...(project.isOpen ? {} : { openProjects: [project.config] }),
    });
    this.#closing = [];
    this.#snapshot = snapshot;
    project.isOpen = true;
    before?.dispose();
    const opened = snapshot.getProject(project.config);
    if (opened === undefined) throw new Error('The checker did not open the project');
    return opened;
  }

  #message(root: string, diagnostic: Diagnostic): CheckerMessage {
    const { fileName, pos, end, code } = diagnostic;
    return {
      path: fileName?.startsWith(`${root}/`) === true ? fileName.slice(root.length + 1) : undefined,
      start: pos,
      end,
      code,
      text: this.#withoutPlaces(root, explain(diagnostic)),
    };
  }

  /** Removes internal paths, which are not for users. */
  #withoutPlaces(root: string, text: string): string {
    return text
      .replaceAll(`${this.#libraryFolder}/`, '')
      .replaceAll(`/c${this.#secret}${root}/`, '')
      .replaceAll(`/t${this.#secret}/`, '')
      .replaceAll(`${root}/`, '')
      .replaceAll(root, '.');
  }
}

/**
 * Returns the line that loads a file as a root. References a declaration file instead of importing it, because it may
 * not be a module.
 */
function rootLine(path: string): string {
  if (!/\.d\.(?:[^./]+\.)?[mc]?ts$/.test(path)) return `import ${JSON.stringify(path)};`;
  return `/// <reference path=${path.includes('"') ? `'${path}'` : `"${path}"`} />`;
}

/** Joins a message and its chain of reasons into one line. */
const explain = ({ text, messageChain }: Diagnostic): string =>
  [text, ...(messageChain ?? []).map(explain)].join(' ');

/** Lists syntax errors, or type errors when all of the code parses. */
function listDiagnostics(program: Program, file: string | undefined): readonly Diagnostic[] {
  const syntactic = program.getSyntacticDiagnostics(file);
  const found = syntactic.length > 0 ? syntactic : program.getSemanticDiagnostics(file);
  return [...program.getProgramDiagnostics(), ...found].filter(
    ({ category }) => category === DiagnosticCategory.Error,
  );
}

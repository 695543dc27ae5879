import { posix } from 'node:path';

import { findImportedPath, findModule, findCompiledPath, isDeclaration } from '../source-paths.ts';

/** The files of a project as far as they are known. */
export interface Sources {
  readonly has: (path: string) => boolean;
  readonly findText: (path: string) => string | undefined;
}

/** Relative paths in imports, exports, references and declarations of modules. */
const specifier = /\b(?:from|import|require|module|path\s*=)\s*(?:\(\s*)?(['"`])(\.\.?(?:\/[^'"`\n]*)?)\1/g;

/** What `text` names of other files, as it is written there. */
const listSpecifiers = (text: string): string[] =>
  [...new Set(Array.from(text.matchAll(specifier), (match) => match[2] ?? ''))].filter(Boolean);

const declarations = ['', '.d.ts', '.d.mts', '.d.cts', '/index.d.ts'];

/** The file of the project that is meant; undefined when there is none yet; null outside the project. */
function findTarget({ has }: Sources, importer: string, name: string): string | undefined | null {
  const target = findImportedPath(importer, name);
  if (target === undefined) return null;
  const base = target.replace(/\.[mc]?js$/, '');
  return (
    findModule(target, has) ??
    [...declarations, '']
      .map((ending, index) => `${index === 0 ? target : base}${ending}`)
      .find((path) => has(path))
  );
}

/** Which specifiers of `path` lead, directly or through other files, to a file that is not there yet. */
export function listIncomplete(sources: Sources, path: string): string[] {
  const known = new Map<string, boolean>();
  const isIncomplete = (importer: string, name: string): boolean => {
    const target = findTarget(sources, importer, name);
    if (target === null) return false;
    if (target === undefined) return true;
    const seen = known.get(target);
    if (seen !== undefined) return seen;
    // In a circle of imports the first one that is asked answers for all.
    known.set(target, false);
    const found = namesOf(target).some((inner) => isIncomplete(target, inner));
    known.set(target, found);
    return found;
  };
  const namesOf = (file: string): string[] => listSpecifiers(sources.findText(file) ?? '');
  return namesOf(path).filter((name) => isIncomplete(path, name));
}

/** The files that use `path`, directly or through others, the nearest first. A declaration may concern every source. */
export function listUsers(sources: Sources, paths: readonly string[], path: string): string[] {
  const code = paths.filter((file) => file !== path && findCompiledPath(file) !== undefined);
  if (isDeclaration(path)) return code;
  const targets = new Map(code.map((file) => [file, listTargets(sources, file)]));
  const reached = new Set([path]);
  for (const used of reached) for (const [user, files] of targets) if (files.has(used)) reached.add(user);
  return [...reached].slice(1);
}

const listTargets = (sources: Sources, file: string): Set<string | undefined | null> =>
  new Set(listSpecifiers(sources.findText(file) ?? '').map((name) => findTarget(sources, file, name)));

interface Renaming {
  readonly from: string;
  readonly to: string;
}

/** The text of `path` as it has to be when a file of the project is renamed, which may be this one. */
export function renameImports(sources: Sources, path: string, { from, to }: Renaming): string {
  const text = sources.findText(path) ?? '';
  const home = path === from ? to : path;
  return text.replace(specifier, (written: string, quote: string, name: string) => {
    const before = findTarget(sources, path, name);
    if (typeof before !== 'string') return written;
    const after = before === from ? to : before;
    if (after === before && home === path) return written;
    return written.replace(
      `${quote}${name}${quote}`,
      `${quote}${nameOf({ name, before, after, home })}${quote}`,
    );
  });
}

interface Named {
  /** As it was written. */
  readonly name: string;
  readonly before: string;
  readonly after: string;
  /** The file that names it. */
  readonly home: string;
}

/** With an ending where it had one, and as the folder of an index where it was that. */
function nameOf({ name, before, after, home }: Named): string {
  const relative = posix.relative(posix.dirname(home), after);
  const dotted = relative.startsWith('.') ? relative : `./${relative}`;
  const written = /\.[mc]?[jt]sx?$|\.json$/.exec(name)?.[0];
  if (written !== undefined)
    return before.endsWith(written) ? dotted : dotted.replace(/\.([mc]?)tsx?$/, '.$1js');
  const bare = dotted.replace(/(?:\.d)?\.[mc]?[jt]sx?$/, '');
  return bare.endsWith('/index') && !/(?:^|\/)index$/.test(name) ? bare.slice(0, -'/index'.length) : bare;
}

import { posix } from 'node:path';

import { findImportedPath, findModule, findCompiledPath, isDeclaration } from '../source-paths.ts';

/** Known files of a project. */
export interface Sources {
  readonly has: (path: string) => boolean;
  readonly findText: (path: string) => string | undefined;
}

/** Matches relative paths in imports, exports, references and module declarations. */
const specifier = /\b(?:from|import|require|module|path\s*=)\s*(?:\(\s*)?(['"`])(\.\.?(?:\/[^'"`\n]*)?)\1/g;

/** Lists the specifiers of other files in `text`, as written there. */
const listSpecifiers = (text: string): string[] =>
  [...new Set(Array.from(text.matchAll(specifier), (match) => match[2] ?? ''))].filter(Boolean);

const declarations = ['', '.d.ts', '.d.mts', '.d.cts', '/index.d.ts'];

/**
 * Finds the project file that a specifier resolves to. Undefined when it does not exist yet; null outside the project.
 */
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

/** Lists the specifiers of `path` that lead, directly or through other files, to a file that does not exist yet. */
export function listIncomplete(sources: Sources, path: string): string[] {
  const known = new Map<string, boolean>();
  const isIncomplete = (importer: string, name: string): boolean => {
    const target = findTarget(sources, importer, name);
    if (target === null) return false;
    if (target === undefined) return true;
    const seen = known.get(target);
    if (seen !== undefined) return seen;
    // Treats a file in an import cycle as complete until its own result is known.
    known.set(target, false);
    const found = namesOf(target).some((inner) => isIncomplete(target, inner));
    known.set(target, found);
    return found;
  };
  const namesOf = (file: string): string[] => listSpecifiers(sources.findText(file) ?? '');
  return namesOf(path).filter((name) => isIncomplete(path, name));
}

/**
 * Lists the files that depend on `path`, directly or through others, the nearest first. Lists all sources for a
 * declaration file, which may affect every source.
 */
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

/** Rewrites the imports in the text of `path` for the rename of a file of the project, which may be `path` itself. */
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
  /** Specifier as it was written. */
  readonly name: string;
  readonly before: string;
  readonly after: string;
  /** File that contains the specifier. */
  readonly home: string;
}

/**
 * Returns the new specifier. Keeps an extension if the old specifier had one. Names an index file by its folder, unless
 * the old specifier ended with `index`.
 */
function nameOf({ name, before, after, home }: Named): string {
  const relative = posix.relative(posix.dirname(home), after);
  const dotted = relative.startsWith('.') ? relative : `./${relative}`;
  const written = /\.[mc]?[jt]sx?$|\.json$/.exec(name)?.[0];
  if (written !== undefined)
    return before.endsWith(written) ? dotted : dotted.replace(/\.([mc]?)tsx?$/, '.$1js');
  const bare = dotted.replace(/(?:\.d)?\.[mc]?[jt]sx?$/, '');
  return bare.endsWith('/index') && !/(?:^|\/)index$/.test(name) ? bare.slice(0, -'/index'.length) : bare;
}

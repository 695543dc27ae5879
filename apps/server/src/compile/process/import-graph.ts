import { findImportedPath, findModule } from '../import-resolution.ts';
import { findCompiledPath, isDeclaration } from '../source-paths.ts';

/** The files of a project as far as they are known. */
export interface Sources {
  readonly has: (path: string) => boolean;
  readonly findText: (path: string) => string | undefined;
}

/** Relative paths in imports, exports, references and declarations of modules. */
export const specifier =
  /\b(?:from|import|require|module|path\s*=)\s*(?:\(\s*)?(['"`])(\.\.?(?:\/[^'"`\n]*)?)\1/g;

/** What `text` names of other files, as it is written there. */
const listSpecifiers = (text: string): string[] =>
  [...new Set(Array.from(text.matchAll(specifier), (match) => match[2] ?? ''))].filter(Boolean);

const declarations = ['', '.d.ts', '.d.mts', '.d.cts', '/index.d.ts'];

/** The file of the project that is meant; undefined when there is none yet; null outside the project. */
export function findTarget({ has }: Sources, importer: string, name: string): string | undefined | null {
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

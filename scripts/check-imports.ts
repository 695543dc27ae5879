import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCycles, type ImportCycle } from './import-cycles.ts';
import { featureFolderOf, placeOf, type Import, type Place } from './import-places.ts';
import { CYCLE_RULE, FOLDER_CYCLE_RULE, IMPORT_RULES } from './import-rules.ts';
import { readImports } from './read-imports.ts';
import { listSourceFiles } from './source-files.ts';
import { Workspaces } from './workspaces.ts';

interface CheckedFile {
  readonly path: string;
  readonly imports: readonly Import[];
}

/** Returns a readable message for each violation of import-rules.ts, in the order of the files. */
export function checkImports(root: string): readonly string[] {
  const workspaces = new Workspaces(root);
  const files = listSourceFiles(root).map((path) => readFile(root, path, workspaces));
  return [...files.flatMap(brokenImports), ...cycles(files), ...folderCycles(files)];
}

function readFile(root: string, path: string, workspaces: Workspaces): CheckedFile {
  const from = placeOf(path);
  const imports = readImports(path, readFileSync(join(root, path), 'utf8')).map((found) => ({
    ...found,
    from,
    to: workspaces.resolve(found.specifier, path),
  }));
  return { path, imports };
}

function brokenImports({ imports }: CheckedFile): readonly string[] {
  return imports.flatMap((found) =>
    IMPORT_RULES.filter((rule) => rule.isBrokenBy(found)).map((rule) =>
      describe(`${found.from.path}:${found.line}: imports '${found.specifier}'`, rule),
    ),
  );
}

function cycles(files: readonly CheckedFile[]): readonly string[] {
  const known = new Set(files.map((file) => file.path));
  const targets = ({ imports }: CheckedFile): readonly string[] =>
    imports.flatMap(({ to }) => (to.kind === 'ours' && known.has(to.place.path) ? [to.place.path] : []));
  const graph = new Map(files.map((file) => [file.path, targets(file)]));
  return findCycles(graph).map((cycle) => {
    const line = lineOf(files, cycle, ({ path }) => path);
    return describe(`${line}: imports in a circle: ${wayOf(cycle, 'files')}`, CYCLE_RULE);
  });
}

function folderCycles(files: readonly CheckedFile[]): readonly string[] {
  const folderPairs = files.flatMap(({ imports }) =>
    imports.flatMap(({ from, to }): [string, string][] => {
      const pair = [
        featureFolderOf(from),
        to.kind === 'ours' ? featureFolderOf(to.place) : undefined,
      ] as const;
      return pair[0] === undefined || pair[1] === undefined || pair[0] === pair[1]
        ? []
        : [[pair[0], pair[1]]];
    }),
  );
  const graph = new Map(folderPairs.flat().map((folder): [string, string[]] => [folder, []]));
  for (const [from, to] of folderPairs) graph.get(from)?.push(to);
  return findCycles(graph).map((cycle) => {
    const line = lineOf(files, cycle, featureFolderOf);
    return describe(`${line}: folders import in a circle: ${wayOf(cycle, 'folders')}`, FOLDER_CYCLE_RULE);
  });
}

function wayOf({ path, more }: ImportCycle, what: 'files' | 'folders'): string {
  return `${path.join(' -> ')}${more > 0 ? ` (and ${more} more ${what} in circles with these)` : ''}`;
}

/** Returns the line of the first import that creates the first step of the cycle. */
function lineOf(
  files: readonly CheckedFile[],
  { path: [first, second] }: ImportCycle,
  nameOf: (place: Place) => string | undefined,
): string {
  const found = files
    .flatMap(({ imports }) => imports)
    .find(({ from, to }) => nameOf(from) === first && to.kind === 'ours' && nameOf(to.place) === second);
  return `${found?.from.path}:${found?.line}`;
}

function describe(what: string, rule: { name: string; reason: string; instead: string }): string {
  return `${what}\n  rule: ${rule.name}, because ${rule.reason}\n  instead: ${rule.instead}`;
}

if (import.meta.main) {
  const messages = checkImports(join(import.meta.dirname, '..'));
  if (messages.length > 0) {
    console.error(messages.join('\n\n'));
    console.error(`\n${messages.length} broken. The rules stand in scripts/import-rules.ts.`);
    process.exitCode = 1;
  }
}

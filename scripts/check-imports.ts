import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCycles } from './import-cycles.ts';
import { placeOf, type Import } from './import-places.ts';
import { CYCLE_RULE, IMPORT_RULES, PROCESS_RULES } from './import-rules.ts';
import { readModule, type ModuleFacts } from './read-module.ts';
import { listSourceFiles } from './source-files.ts';
import { Workspaces } from './workspaces.ts';

interface CheckedFile {
  readonly path: string;
  readonly facts: ModuleFacts;
  readonly imports: readonly Import[];
}

/** Each broken rule of import-rules.ts as one message for people, in the order of the files. */
export function checkImports(root: string): readonly string[] {
  const workspaces = new Workspaces(root);
  const files = listSourceFiles(root).map((path) => readFile(root, path, workspaces));
  return [
    ...files.flatMap((file) => [...syntax(file), ...brokenImports(file), ...brokenUses(file)]),
    ...cycles(files),
  ];
}

function readFile(root: string, path: string, workspaces: Workspaces): CheckedFile {
  const facts = readModule(path, readFileSync(join(root, path), 'utf8'));
  const from = placeOf(path);
  const imports = facts.imports.map((found) => ({
    ...found,
    from,
    to: workspaces.resolve(found.specifier, path),
  }));
  return { path, facts, imports };
}

function syntax({ path, facts }: CheckedFile): readonly string[] {
  return facts.syntaxErrors.map((error) => `${path}: can't be read: ${error}`);
}

function brokenImports({ imports }: CheckedFile): readonly string[] {
  return imports.flatMap((found) =>
    IMPORT_RULES.filter((rule) => rule.isBrokenBy(found)).map((rule) =>
      describe(`${found.from.path}:${found.line}: imports '${found.specifier}'`, rule),
    ),
  );
}

function brokenUses({ path, facts }: CheckedFile): readonly string[] {
  const place = placeOf(path);
  return facts.processUses.flatMap(({ use, line }) =>
    PROCESS_RULES.filter((rule) => rule.uses.includes(use) && !rule.isAllowedIn(place)).map((rule) =>
      describe(`${path}:${line}: uses process.${use}`, rule),
    ),
  );
}

function cycles(files: readonly CheckedFile[]): readonly string[] {
  const known = new Set(files.map((file) => file.path));
  const targets = ({ imports }: CheckedFile): readonly string[] =>
    imports.flatMap(({ to }) => (to.kind === 'ours' && known.has(to.place.path) ? [to.place.path] : []));
  const graph = new Map(files.map((file) => [file.path, targets(file)]));
  return findCycles(graph).map(({ path, moreFiles }) => {
    const tangle = moreFiles > 0 ? ` (and ${moreFiles} more files in circles with these)` : '';
    return describe(`${lineOf(files, path)}: imports in a circle: ${path.join(' -> ')}${tangle}`, CYCLE_RULE);
  });
}

function lineOf(files: readonly CheckedFile[], [from, to]: readonly string[]): string {
  const file = files.find(({ path }) => path === from);
  const found = file?.imports.find((one) => one.to.kind === 'ours' && one.to.place.path === to);
  return `${from}:${found?.line ?? 1}`;
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

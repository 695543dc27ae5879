import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { Workspaces } from './workspaces.ts';

interface Repository {
  readonly root: string;
  readonly workspaces: Workspaces;
}

interface PackedModule {
  readonly code: string;
  /** Modules loaded by `import`, `new URL` or `resolve`; paths from the root. */
  readonly loads: readonly string[];
  /** Names by which the module imports packages that are bundled. */
  readonly imports: readonly string[];
}

/** Folder of the bundled packages, from the root. */
export const bundles = 'bundles';
/** Packages of hundreds of small modules, which take each process a fifth of a second. A bundle takes a tenth of that. */
const BUNDLED = /(?<=\bfrom |\bimport\()'((?:typebox|kysely)(?:\/[^'\n]+)?)'/g;

/** Matches `from './x.ts'`, `import('../x.ts')`, `new URL('x.ts', import.meta.url)`, and names of workspaces. */
const REFERENCE = /'(\.{1,2}\/[^'\n]*\.ts|@phalanx\/[^'\n]+|(?<=new URL\(')[^'\n]+\.ts)'/g;

/**
 * Rewrites references: after types are removed, `code` still names files by `.ts` and workspaces by package; both
 * become relative paths of JavaScript files, and bundled packages those of their bundles. Line numbers stay the same.
 */
export function packModule(path: string, code: string, repository: Repository): PackedModule {
  const loads: string[] = [];
  const imports: string[] = [];
  const packed = code.replaceAll(REFERENCE, (literal, specifier: string) => {
    const target = findTarget(path, specifier, repository);
    if (target === undefined) return literal;
    if (!target.endsWith('.d.ts')) loads.push(target);
    return `'${relative(path, target).replace(/(?<!\.d)\.ts$/, '.js')}'`;
  });
  const bundled = packed.replaceAll(BUNDLED, (_, specifier: string) => {
    imports.push(specifier);
    return `'${relative(path, `${bundles}/${specifier}.js`)}'`;
  });
  return { code: bundled, loads, imports };
}

/**
 * Resolves to a file of the repository. Returns undefined for text that only looks like a path; throws for an unknown
 * part of a workspace.
 */
function findTarget(from: string, specifier: string, { root, workspaces }: Repository): string | undefined {
  const relativeOrNamed = /^[.@]/.test(specifier) ? specifier : `./${specifier}`;
  const target = workspaces.resolve(relativeOrNamed, from);
  const path = target.kind === 'ours' ? target.place.path : undefined;
  if (path !== undefined && existsSync(join(root, path))) return path;
  if (specifier.startsWith('@phalanx/')) throw new Error(`${from} names ${specifier}, which is no file.`);
  return undefined;
}

function relative(from: string, to: string): string {
  const path = posix.relative(posix.dirname(from), to);
  return path.startsWith('.') ? path : `./${path}`;
}

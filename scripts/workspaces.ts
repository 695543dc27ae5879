import { globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { placeOf, type ImportTarget } from './import-places.ts';

const Manifest = Compile(
  Type.Object({ name: Type.String(), exports: Type.Optional(Type.Record(Type.String(), Type.Unknown())) }),
);

interface Workspace {
  readonly folder: string;
  /** Files by subpath (`.`, `./client`, `./types/*`), relative to the workspace's folder. */
  readonly exports: ReadonlyMap<string, string>;
}

/** Resolves imports of workspaces by their package.json files. */
export class Workspaces {
  readonly #byName: ReadonlyMap<string, Workspace>;

  constructor(root: string) {
    const manifests = globSync('{packages/*,apps/*,tests,bench}/package.json', { cwd: root });
    this.#byName = new Map(manifests.map((path) => readWorkspace(root, path.replaceAll('\\', '/'))));
  }

  resolve(specifier: string, fromPath: string): ImportTarget {
    if (specifier.startsWith('.')) {
      const path = posix.join(posix.dirname(fromPath), specifier);
      return { kind: 'ours', place: placeOf(path), reachedBy: 'path' };
    }
    return this.#resolvePackage(specifier);
  }

  #resolvePackage(specifier: string): ImportTarget {
    const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
    const workspace = this.#byName.get(name);
    if (workspace === undefined) return { kind: 'package', name };
    const subpath = `.${specifier.slice(name.length)}`;
    const file = exportedFile(workspace, subpath);
    return {
      kind: 'ours',
      place: placeOf(posix.join(workspace.folder, file ?? subpath)),
      reachedBy: file === undefined ? 'undeclared subpath' : 'package',
    };
  }
}

function readWorkspace(root: string, path: string): [name: string, Workspace] {
  const manifest = Manifest.Parse(JSON.parse(readFileSync(join(root, path), 'utf8')));
  const exported = Object.entries(manifest.exports ?? {}).flatMap(([subpath, target]) => {
    const file = fileOf(target);
    return file === undefined ? [] : [[subpath, file] as const];
  });
  return [manifest.name, { folder: dirname(path), exports: new Map(exported) }];
}

/**
 * Returns the file of a subpath. A pattern (`./types/*`) matches any text; the longest match is not searched, because
 * no patterns overlap here.
 */
function exportedFile({ exports }: Workspace, subpath: string): string | undefined {
  for (const [pattern, file] of exports) {
    const [start = '', end] = pattern.split('*');
    if (end === undefined ? pattern !== subpath : !(subpath.startsWith(start) && subpath.endsWith(end)))
      continue;
    return file.replace(
      '*',
      subpath.slice(start.length, end === undefined ? undefined : subpath.length - end.length),
    );
  }
  return undefined;
}

/** Returns `"./src/index.ts"`, or the first file of `{"types": ..., "default": ...}`. */
function fileOf(target: unknown): string | undefined {
  if (typeof target === 'string') return target;
  if (typeof target !== 'object' || target === null) return undefined;
  return Object.values(target).map(fileOf).find(Boolean);
}

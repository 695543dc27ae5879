/** Location of a file in the repository, in the terms of the rules. */
export interface Place {
  /** Path from the root, `/`-separated: `apps/server/src/fleet/devices/store.ts`. */
  readonly path: string;
  /** `apps/server`, `packages/protocol`, `tests`, `bench` or `scripts`. */
  readonly workspace: string;
  /** Folders of the file below the workspace: `['src', 'devices']`. */
  readonly folders: readonly string[];
  /** `store.ts` */
  readonly fileName: string;
  /** Whether it is a test: a `*.test.ts`, a file in a `testing` folder, or any file of tests/. */
  readonly isTest: boolean;
}

export type ImportTarget =
  | { readonly kind: 'package'; readonly name: string }
  | {
      readonly kind: 'ours';
      readonly place: Place;
      readonly reachedBy: 'path' | 'package' | 'undeclared subpath';
    };

export interface Import {
  readonly from: Place;
  readonly line: number;
  readonly specifier: string;
  /** Whether the import is erased before the code runs: `import type`, `export type`, `import('x').T`. */
  readonly isTypeOnly: boolean;
  readonly to: ImportTarget;
}

export function placeOf(path: string): Place {
  const segments = path.split('/');
  const depth = segments[0] === 'apps' || segments[0] === 'packages' ? 2 : 1;
  const fileName = segments.at(-1) ?? '';
  const folders = segments.slice(depth, -1);
  return {
    path,
    workspace: segments.slice(0, depth).join('/'),
    folders,
    fileName,
    isTest: segments[0] === 'tests' || /\.test\.tsx?$/.test(fileName) || folders.includes('testing'),
  };
}

/**
 * Returns the feature folder of product code, which includes all folders below it: `apps/host/src/phones`; in the
 * server, whose features are grouped in rooms, `apps/server/src/fleet/devices`.
 */
export function featureFolderOf({ workspace, folders, isTest }: Place): string | undefined {
  const feature = folders.slice(1, workspace === 'apps/server' ? 3 : 2);
  const depth = workspace === 'apps/server' ? 2 : 1;
  const isBound = folders[0] === 'src' && feature.length === depth && !isTest && workspace !== 'apps/console';
  return isBound ? `${workspace}/src/${feature.join('/')}` : undefined;
}

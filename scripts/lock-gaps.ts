import { Type, type Static } from 'typebox';

const Entry = Type.Object({
  version: Type.Optional(Type.String()),
  dev: Type.Optional(Type.Boolean()),
  link: Type.Optional(Type.Boolean()),
  integrity: Type.Optional(Type.String()),
  optionalDependencies: Type.Optional(Type.Record(Type.String(), Type.String())),
});

export const PackageLock = Type.Object({ packages: Type.Record(Type.String(), Entry) });

type Packages = Static<typeof PackageLock>['packages'];

const EXACT_VERSION = /^\d+\.\d+\.\d+$/;
const PLATFORM =
  /(android|darwin|freebsd|linux|openharmony|win32)-(arm64|arm|x64|ia32|ppc64|riscv64|s390x)(?:-(.+))?$/;

/**
 * Returns the prebuilt packages for other platforms (`@oxlint/binding-darwin-arm64`) missing from a lock, as entries
 * to add. They are missing if the registry could not deliver them while the lock was created, and `npm ci` then rejects
 * the lock ("Missing: ... from lock file"). An entry without `integrity` suffices: npm skips it on other platforms, and
 * trusts the registry on its own.
 */
export function findLockGaps(packages: Packages): Readonly<Record<string, object>> {
  const gaps: Record<string, object> = {};
  for (const [path, entry] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const platform = PLATFORM.exec(name);
      if (platform === null || !EXACT_VERSION.test(version) || hasVersion(packages, path, { name, version }))
        continue;
      gaps[freePath(packages, path, name)] = gapEntry(platform, { version, isDev: entry.dev === true });
    }
  }
  return gaps;
}

/**
 * Returns the packages without an integrity hash in the lock. Developer tools for other platforms are excluded: if
 * the registry did not deliver them, there is nothing to hash.
 */
export const findUnproven = (packages: Packages): readonly string[] =>
  Object.entries(packages)
    .filter(
      ([path, { link, integrity }]) => path.includes('node_modules/') && !link && integrity === undefined,
    )
    .filter(([path, { dev }]) => dev !== true || !PLATFORM.test(path))
    .map(([path]) => path);

function hasVersion(packages: Packages, from: string, wanted: { name: string; version: string }): boolean {
  return lookUps(from, wanted.name).some((path) => packages[path]?.version === wanted.version);
}

/** Returns the folders in which Node looks for a package: below the importing one, then in each parent folder. */
function lookUps(from: string, name: string): readonly string[] {
  const above = from.split(/\/(?=node_modules\/)/);
  const folders = above.map((_, index) => above.slice(0, index + 1).join('/'));
  return [...folders.map((folder) => `${folder}/node_modules/${name}`), `node_modules/${name}`];
}

function freePath(packages: Packages, from: string, name: string): string {
  const above = `${from.slice(0, from.lastIndexOf('node_modules/'))}node_modules/${name}`;
  return above in packages ? `${from}/node_modules/${name}` : above;
}

function gapEntry(
  [, os, cpu, libc]: RegExpExecArray,
  { version, isDev }: { version: string; isDev: boolean },
): object {
  return {
    version,
    cpu: [cpu],
    ...(isDev ? { dev: true } : {}),
    ...(os === 'linux' && libc !== undefined ? { libc: [libc.startsWith('musl') ? 'musl' : 'glibc'] } : {}),
    optional: true,
    os: [os],
  };
}

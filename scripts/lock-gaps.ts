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
 * The prebuilt packages for other platforms (`@oxlint/binding-darwin-arm64`) that a lock should hold and does not,
 * as the entries to add. They are missing when the registry could not deliver them while the lock was made, and
 * then `npm ci` refuses the lock ("Missing: ... from lock file"). An entry without `integrity` is enough: npm skips
 * it on other platforms, and takes the registry's word on its own.
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
 * The packages whose content nothing in the lock vouches for. Tools of developers for other platforms are left out: where
 * the registry did not deliver them there is nothing to take a hash of.
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

/** Folders in which Node looks for a package: below the one that needs it, then in each folder above. */
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

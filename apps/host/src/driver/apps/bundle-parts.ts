/** Contents of a bundle with the APKs of one app: `.apks`, `.xapk`, `.apkm`. */
export interface BundleParts {
  /** Names of the APKs in the bundle. */
  readonly apks: readonly string[];
  readonly obbs: readonly Obb[];
  /** Names of contents that this installer does not handle. */
  readonly others: readonly string[];
}

/** Expansion file. Apps look for them in `Android/obb/PACKAGE` of the shared storage. */
export interface Obb {
  readonly name: string;
  readonly packageName: string;
}

const maxParts = 200;
/** Name of an APK at the top level, where bundles made for one phone have the base APK and its splits. */
const apkName = /^[\w.-]{1,200}\.apk$/;
const obbName = /^(?:Android\/obb\/([\w.]{1,200})\/)?((?:main|patch)\.\d{1,10}\.([\w.]{1,200})\.obb)$/;
/** Metadata of bundles, and folders. */
const ofBundle =
  /^(?:manifest\.json|info\.json|meta\.sai_v\d\.json|icon\.png|toc\.pb|APKM_installer\.url|META-INF\/.*|.*\/)$/;

/** A line of `unzip -l`: size, day, time, name. */
const listLine = /^\s*\d+\s+\S+\s+\d\d:\d\d(?::\d\d)?\s{1,4}(\S.*?)\r?$/;

/** Extracts the names from the output of `unzip -l`. */
export const namesOf = (listing: string): string[] =>
  listing.split('\n').flatMap((line) => listLine.exec(line)?.[1] ?? []);

export function bundleParts(names: readonly string[]): BundleParts {
  const contents = names.filter((name) => !ofBundle.test(name));
  const apks = names.includes('universal.apk')
    ? ['universal.apk']
    : contents.filter((name) => apkName.test(name)).slice(0, maxParts);
  const obbs = contents.flatMap((name) => obbOf(name) ?? []).slice(0, maxParts);
  const taken = new Set([...apks, ...obbs.map(({ name }) => name)]);
  return { apks, obbs, others: contents.filter((name) => !taken.has(name)) };
}

function obbOf(name: string): Obb | undefined {
  const [, folder, , ofName] = obbName.exec(name) ?? [];
  return ofName === undefined ? undefined : { name, packageName: folder ?? ofName };
}

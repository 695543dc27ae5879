import { unzipSync } from 'fflate';

const manifestName = 'AndroidManifest.xml';
const chunk = { stringPool: 0x0001, startElement: 0x0102 } as const;
const utf8Flag = 0x100;
const typeString = 3;
const launcherCategory = 'android.intent.category.LAUNCHER';

export interface ApkManifest {
  readonly packageName: string;
  readonly versionCode: number;
  readonly versionName: string;
  readonly minSdkVersion: number;
  /** Class names of the activities that a home screen shows; those of the package's own have a leading dot. */
  readonly launchers: readonly string[];
  readonly permissions: readonly string[];
}

const maxFileBytes = 64 * 1024 * 1024;

/** The wanted files of a ZIP by name. Throws for anything that is none. */
export function readZip(zip: Buffer, isWanted: (name: string) => boolean): ReadonlyMap<string, Buffer> {
  const files = unzipSync(zip, {
    filter: ({ name, originalSize }) => isWanted(name) && originalSize <= maxFileBytes,
  });
  return new Map(Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes)]));
}

const shortName = (packageName: string, name: string): string =>
  name.startsWith(`${packageName}.`) ? name.slice(packageName.length) : name;

/** What the package manager needs of an APK; undefined for anything that is none. */
export function findApkManifest(apk: Buffer): ApkManifest | undefined {
  try {
    const xml = readZip(apk, (name) => name === manifestName).get(manifestName);
    if (!xml) return undefined;
    const { attributes, launchers, permissions } = readManifestContent(xml);
    const packageName = attributes.get('package') ?? '';
    if (!/^[\w.]+$/.test(packageName)) return undefined;
    return {
      packageName,
      versionCode: Number(attributes.get('versionCode') ?? 0),
      versionName: attributes.get('versionName') ?? '',
      minSdkVersion: Number(attributes.get('minSdkVersion') ?? 1),
      launchers: launchers.map((name) => shortName(packageName, name)),
      permissions,
    };
  } catch {
    // Offsets that point outside, or data that does not inflate: not an APK.
    return undefined;
  }
}

/** A length in one or two bytes, as UTF-8 pools hold it. Returns the length and where it ends. */
function readShortLength(pool: Buffer, offset: number): [length: number, end: number] {
  const first = pool.readUInt8(offset);
  return first & 0x80
    ? [((first & 0x7f) << 8) | pool.readUInt8(offset + 1), offset + 2]
    : [first, offset + 1];
}

function readPoolString(pool: Buffer, offset: number, isUtf8: boolean): string {
  if (!isUtf8) {
    const length = pool.readUInt16LE(offset);
    return pool.toString('utf16le', offset + 2, offset + 2 + length * 2);
  }
  const [, afterCharacters] = readShortLength(pool, offset);
  const [bytes, start] = readShortLength(pool, afterCharacters);
  return pool.toString('utf8', start, start + bytes);
}

function readStringPool(pool: Buffer): string[] {
  const count = Math.min(pool.readUInt32LE(8), pool.length / 4);
  const isUtf8 = (pool.readUInt32LE(16) & utf8Flag) !== 0;
  const start = pool.readUInt32LE(20);
  return Array.from({ length: count }, (_, index) =>
    readPoolString(pool, start + pool.readUInt32LE(28 + index * 4), isUtf8),
  );
}

function readAttributes(element: Buffer, strings: readonly string[]): [name: string, value: string][] {
  const start = 16 + element.readUInt16LE(24);
  const sizeBytes = element.readUInt16LE(26);
  const count = element.readUInt16LE(28);
  return Array.from({ length: count }, (_, index) => {
    const offset = start + index * sizeBytes;
    const name = strings[element.readUInt32LE(offset + 4)] ?? '';
    const data = element.readUInt32LE(offset + 16);
    const isString = element.readUInt8(offset + 15) === typeString;
    return [name, isString ? (strings[data] ?? '') : String(data)];
  });
}

/** What a package manager takes from a manifest, as it stands there. */
interface ManifestContent {
  /** Of `manifest` and `uses-sdk`. */
  readonly attributes: ReadonlyMap<string, string>;
  /** Class names of the activities that a home screen shows. */
  readonly launchers: readonly string[];
  readonly permissions: readonly string[];
}

/** Tag and attributes of each element, in their order. Throws RangeError on a broken document. */
function* elementsOf(
  xml: Buffer,
): Generator<readonly [tag: string, attributes: ReadonlyMap<string, string>]> {
  let strings: string[] = [];
  let offset = xml.readUInt16LE(2);
  while (offset + 8 <= xml.length) {
    const type = xml.readUInt16LE(offset);
    const sizeBytes = xml.readUInt32LE(offset + 4);
    if (sizeBytes < 8) break;
    const body = xml.subarray(offset, offset + sizeBytes);
    if (type === chunk.stringPool) strings = readStringPool(body);
    if (type === chunk.startElement)
      yield [strings[body.readUInt32LE(20)] ?? '', new Map(readAttributes(body, strings))];
    offset += sizeBytes;
  }
}

/** Reads Android's compiled XML. Throws RangeError on a broken one. */
function readManifestContent(xml: Buffer): ManifestContent {
  const attributes = new Map<string, string>();
  const launchers = new Set<string>();
  const permissions: string[] = [];
  let activity = '';
  for (const [tag, given] of elementsOf(xml)) {
    const name = given.get('name') ?? '';
    if (tag === 'manifest' || tag === 'uses-sdk')
      for (const [key, value] of given) attributes.set(key, value);
    if (tag === 'uses-permission') permissions.push(name);
    if (tag === 'activity' || tag === 'activity-alias') activity = name;
    if (tag === 'category' && name === launcherCategory) launchers.add(activity);
  }
  return { attributes, launchers: [...launchers], permissions };
}

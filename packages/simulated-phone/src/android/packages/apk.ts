import { inflateRawSync } from 'node:zlib';

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

const signature = { end: 0x06054b50, centralEntry: 0x02014b50, localEntry: 0x04034b50 } as const;
const maxManifestBytes = 4 * 1024 * 1024;
const stored = 0;
const deflated = 8;

/** Offset of the central directory, from the record at the end of a ZIP file. */
function findCentralDirectory(zip: Buffer): number | undefined {
  const endRecordBytes = 22;
  const oldest = Math.max(0, zip.length - endRecordBytes - 0xffff);
  for (let offset = zip.length - endRecordBytes; offset >= oldest; offset--) {
    if (zip.readUInt32LE(offset) === signature.end) return zip.readUInt32LE(offset + 16);
  }
  return undefined;
}

function readEntry(zip: Buffer, central: number): Buffer | undefined {
  const method = zip.readUInt16LE(central + 10);
  const packedBytes = zip.readUInt32LE(central + 20);
  const local = zip.readUInt32LE(central + 42);
  if (zip.readUInt32LE(local) !== signature.localEntry) return undefined;
  const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const packed = zip.subarray(start, start + packedBytes);
  if (method === stored) return packed;
  return method === deflated ? inflateRawSync(packed, { maxOutputLength: maxManifestBytes }) : undefined;
}

/** The files of a ZIP by name, unpacked when asked for; undefined where one can't be. Throws on offsets that point outside. */
export function* zipEntries(zip: Buffer): Generator<[name: string, unpack: () => Buffer | undefined]> {
  let offset = findCentralDirectory(zip);
  while (offset !== undefined && zip.readUInt32LE(offset) === signature.centralEntry) {
    const nameBytes = zip.readUInt16LE(offset + 28);
    const entryName = zip.toString('utf8', offset + 46, offset + 46 + nameBytes);
    const entry = offset;
    yield [entryName, () => readEntry(zip, entry)];
    offset += 46 + nameBytes + zip.readUInt16LE(offset + 30) + zip.readUInt16LE(offset + 32);
  }
}

const shortName = (packageName: string, name: string): string =>
  name.startsWith(`${packageName}.`) ? name.slice(packageName.length) : name;

/** What the package manager needs of an APK; undefined for anything that is none. */
export function findApkManifest(apk: Buffer): ApkManifest | undefined {
  try {
    const [, unpack] = zipEntries(apk).find(([name]) => name === 'AndroidManifest.xml') ?? [];
    const xml = unpack?.();
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

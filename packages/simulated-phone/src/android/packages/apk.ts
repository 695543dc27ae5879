import { unzipSync, zipSync } from 'fflate';

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
  /** Class names of the activities that a home screen shows. Those in the app's own package have a leading dot. */
  readonly launchers: readonly string[];
  readonly permissions: readonly string[];
}

const maxFileBytes = 64 * 1024 * 1024;

/** Returns the wanted files of a ZIP by name. Throws for any other format. */
export function readZip(zip: Buffer, isWanted: (name: string) => boolean): ReadonlyMap<string, Buffer> {
  const files = unzipSync(zip, {
    filter: ({ name, originalSize }) => isWanted(name) && originalSize <= maxFileBytes,
  });
  return new Map(Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes)]));
}

const shortName = (packageName: string, name: string): string =>
  name.startsWith(`${packageName}.`) ? name.slice(packageName.length) : name;

/** Returns the parts of an APK's manifest that the package manager uses; undefined for another file. */
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

/** Reads a length of one or two bytes, as in UTF-8 pools. Returns the length and its end offset. */
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

/** Parts of a manifest that a package manager reads, in their original form. */
interface ManifestContent {
  /** Attributes of `manifest` and `uses-sdk`. */
  readonly attributes: ReadonlyMap<string, string>;
  /** Class names of the activities that a home screen shows. */
  readonly launchers: readonly string[];
  readonly permissions: readonly string[];
}

/** Yields tag and attributes of each element in order. Throws RangeError on a broken document. */
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

/** Reads Android's compiled XML. Throws RangeError on a broken document. */
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

const noString = 0xffffffff;
const typeInteger = 0x10;
const names = [
  'manifest',
  'uses-sdk',
  'package',
  'versionCode',
  'versionName',
  'minSdkVersion',
  'activity',
  'name',
  'category',
];

/** Manifest to build; `launchers` are the activities that can be started. */
type MadeManifest = Omit<ApkManifest, 'launchers' | 'permissions'> & Partial<Pick<ApkManifest, 'launchers'>>;

/**
 * Builds an APK that simulated phones install: a manifest without code. Real phones reject it, because it is
 * unsigned.
 */
export function makeApk(manifest: MadeManifest): Buffer {
  return makeZip([[manifestName, manifestXml(manifest)]]);
}

/**
 * Builds Android's compiled XML of `<manifest …><uses-sdk …/><activity …><category …/></manifest>`, limited to what a
 * package manager reads.
 */
function manifestXml(manifest: MadeManifest): Buffer {
  const { packageName, versionCode, versionName, minSdkVersion, launchers = [] } = manifest;
  const strings = [...names, launcherCategory];
  const text = (value: string): number => strings.push(value) - 1;
  const elements = [
    startElement(0, [
      [2, typeString, text(packageName)],
      [3, typeInteger, versionCode],
      [4, typeString, text(versionName)],
    ]),
    startElement(1, [[5, typeInteger, minSdkVersion]]),
    ...launchers.flatMap((name) => [
      startElement(6, [[7, typeString, text(name)]]),
      startElement(8, [[7, typeString, names.length]]),
    ]),
  ];
  const body = Buffer.concat([stringPool(strings), ...elements]);
  return Buffer.concat([chunkHead(0x0003, 8, 8 + body.length), body]);
}

function chunkHead(type: number, headBytes: number, sizeBytes: number): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt16LE(type, 0);
  head.writeUInt16LE(headBytes, 2);
  head.writeUInt32LE(sizeBytes, 4);
  return head;
}

const words = (...values: number[]): Buffer => Buffer.from(new Uint32Array(values).buffer);

function stringPool(strings: readonly string[]): Buffer {
  const headBytes = 28;
  let end = 0;
  const offsets: number[] = [];
  const encoded = strings.map((string) => {
    offsets.push(end);
    const bytes = Buffer.concat([
      Buffer.from([string.length, Buffer.byteLength(string)]),
      Buffer.from(`${string}\0`),
    ]);
    end += bytes.length;
    return bytes;
  });
  const start = headBytes + 4 * strings.length;
  const padding = Buffer.alloc((4 - (end % 4)) % 4);
  const counts = words(strings.length, 0, utf8Flag, start, 0, ...offsets);
  return Buffer.concat([
    chunkHead(0x0001, headBytes, start + end + padding.length),
    counts,
    ...encoded,
    padding,
  ]);
}

type Attribute = readonly [name: number, type: number, value: number];

function startElement(name: number, attributes: readonly Attribute[]): Buffer {
  const counts = Buffer.alloc(12);
  for (const [index, value] of [20, 20, attributes.length].entries()) counts.writeUInt16LE(value, index * 2);
  const body = [words(1, noString, noString, name), counts, ...attributes.map(attributeBytes)];
  const sizeBytes = body.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([chunkHead(0x0102, 16, sizeBytes), ...body]);
}

/** Encodes namespace, name and raw value; then size, zero and type of the value, and the value. */
function attributeBytes([name, type, value]: Attribute): Buffer {
  return words(noString, name, type === typeString ? value : noString, 8 + type * 0x100_0000, value);
}

/** Builds a ZIP file of uncompressed entries. */
export function makeZip(entries: readonly (readonly [name: string, content: Buffer])[]): Buffer {
  return Buffer.from(zipSync(Object.fromEntries(entries), { level: 0, mtime: '2026-01-01' }));
}

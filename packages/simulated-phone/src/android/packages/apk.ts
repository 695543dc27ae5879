import { inflateRawSync } from 'node:zlib';
import { readManifestContent } from './binary-xml.ts';

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

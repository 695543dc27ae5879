import { zipSync } from 'fflate';

import type { ApkManifest } from './apk.ts';

const manifestName = 'AndroidManifest.xml';
const noString = 0xffffffff;
const typeString = 3;
const typeInteger = 0x10;
const launcherCategory = 'android.intent.category.LAUNCHER';
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

/** `launchers` are the activities that can be started. */
type MadeManifest = Omit<ApkManifest, 'launchers' | 'permissions'> & Partial<Pick<ApkManifest, 'launchers'>>;

/** An APK that a simulated phone installs: a manifest without code. No real phone takes it, because nobody has signed it. */
export function makeApk(manifest: MadeManifest): Buffer {
  return makeZip([[manifestName, manifestXml(manifest)]]);
}

/** Android's compiled XML of `<manifest …><uses-sdk …/><activity …><category …/></manifest>`, as far as a package manager reads it. */
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
  const utf8Flag = 0x100;
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

/** Namespace, name, raw value; then size, zero and type of the value, and the value. */
function attributeBytes([name, type, value]: Attribute): Buffer {
  return words(noString, name, type === typeString ? value : noString, 8 + type * 0x100_0000, value);
}

/** A ZIP file of entries that are stored as they are. */
export function makeZip(entries: readonly (readonly [name: string, content: Buffer])[]): Buffer {
  return Buffer.from(zipSync(Object.fromEntries(entries), { level: 0, mtime: '2026-01-01' }));
}

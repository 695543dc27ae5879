import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import type { h264ParseConfiguration, ScrcpyOptions, ScrcpyOptions2_1 } from '@yume-chan/scrcpy';

export type ScrcpyProtocol = Pick<
  ScrcpyOptions<object>,
  'serialize' | 'parseVideoStreamMetadata' | 'createMediaStreamTransformer'
>;

type ScrcpyOptionsClass = new (
  init: NonNullable<ConstructorParameters<typeof ScrcpyOptions2_1<true>>[0]>,
) => ScrcpyProtocol;

interface Protocols {
  readonly ofVersions: ReadonlyMap<string, ScrcpyOptionsClass>;
  readonly parseConfiguration: typeof h264ParseConfiguration;
}

/** How the versions are started and what they send. Between patches the video is the same. Loaded where there is a server: it has 200 modules. */
async function loadProtocols(): Promise<Protocols> {
  const scrcpy = await import('@yume-chan/scrcpy');
  return {
    parseConfiguration: scrcpy.h264ParseConfiguration,
    ofVersions: new Map<string, ScrcpyOptionsClass>([
      ['2.1', scrcpy.ScrcpyOptions2_1],
      ['2.2', scrcpy.ScrcpyOptions2_2],
      ['2.3', scrcpy.ScrcpyOptions2_3],
      ['2.4', scrcpy.ScrcpyOptions2_4],
      ['2.5', scrcpy.ScrcpyOptions2_5],
      ['2.6', scrcpy.ScrcpyOptions2_6],
      ['2.7', scrcpy.ScrcpyOptions2_7],
      ['3.0', scrcpy.ScrcpyOptions3_0],
      ['3.1', scrcpy.ScrcpyOptions3_1],
      ['3.2', scrcpy.ScrcpyOptions3_2],
      ['3.3', scrcpy.ScrcpyOptions3_3],
    ]),
  };
}

/** scrcpy's server, which runs on phones. */
export interface ScrcpyServer {
  readonly localPath: string;
  readonly sha256: string;
  readonly version: string;
  readonly Options: ScrcpyOptionsClass;
  /** Of the parameters of its video. */
  readonly parseConfiguration: typeof h264ParseConfiguration;
}

/** Where packages and scrcpy's own installation put it. */
const installedPaths = ['/usr/share/scrcpy/scrcpy-server', '/usr/local/share/scrcpy/scrcpy-server'];
const maxFileBytes = 64 * 1024 * 1024;

/** `chosen`: the operator's file; `installed`: where scrcpy's client looks for it. Gives why when there is none, as the middle of a sentence. */
export async function findScrcpyServer(
  chosen: string | undefined,
  installed: string | undefined,
): Promise<ScrcpyServer | { readonly reason: string }> {
  const paths = [chosen, installed, ...installedPaths].filter((path) => path !== undefined);
  for (const path of paths) {
    const file = await readFile(path).catch((error: unknown) => String(error));
    if (typeof file !== 'string') return await serverOf(path, file);
    if (path === chosen) return { reason: `the file of PHALANX_SCRCPY_SERVER cannot be read (${file})` };
  }
  return { reason: 'no scrcpy server on the host' };
}

async function serverOf(
  localPath: string,
  file: Buffer,
): Promise<ScrcpyServer | { readonly reason: string }> {
  const version = toldVersion(file) ?? /v?(\d+\.\d+(?:\.\d+)?)(?:\.jar)?$/.exec(basename(localPath))?.[1];
  if (version === undefined) return { reason: `the version of the scrcpy server ${localPath} is unknown` };
  const { ofVersions, parseConfiguration } = await loadProtocols();
  const Options = ofVersions.get(/^\d+\.\d+/.exec(version)?.[0] ?? '');
  const known = [...ofVersions.keys()];
  if (Options === undefined)
    return {
      reason: `the scrcpy server on the host is version ${version}, and ${known[0]} to ${known.at(-1)} are known`,
    };
  const sha256 = createHash('sha256').update(file).digest('hex');
  return { localPath, sha256, version, Options, parseConfiguration };
}

/** In the code of the server, which says so to a client of another version, however it was built. */
const versionForm = /The server version \((\d+(?:\.\d+)+)\) does not match the client/;
const signature = { end: 0x06054b50, entry: 0x02014b50 } as const;
const [stored, deflated] = [0, 8];
const endBytes = 22;

function toldVersion(zip: Buffer): string | undefined {
  try {
    const code = findCode(zip);
    return code && versionForm.exec(code.toString('latin1'))?.[1];
  } catch {
    // Offsets that point outside, or data that does not inflate.
    return undefined;
  }
}

/** `classes.dex` of the ZIP file that a server is. */
function findCode(zip: Buffer): Buffer | undefined {
  const end = zip.lastIndexOf(Buffer.from(new Uint32Array([signature.end]).buffer), -endBytes);
  if (end < 0) return undefined;
  for (let at = zip.readUInt32LE(end + 16); zip.readUInt32LE(at) === signature.entry;) {
    const nameBytes = zip.readUInt16LE(at + 28);
    if (zip.toString('latin1', at + 46, at + 46 + nameBytes) === 'classes.dex') return contentOf(zip, at);
    at += 46 + nameBytes + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return undefined;
}

function contentOf(zip: Buffer, entry: number): Buffer | undefined {
  const [method, packedBytes] = [zip.readUInt16LE(entry + 10), zip.readUInt32LE(entry + 20)];
  const local = zip.readUInt32LE(entry + 42);
  const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const packed = zip.subarray(start, start + packedBytes);
  if (method === stored) return packed;
  return method === deflated ? inflateRawSync(packed, { maxOutputLength: maxFileBytes }) : undefined;
}

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { h264ParseConfiguration, ScrcpyOptions, ScrcpyOptions2_1 } from '@yume-chan/scrcpy';
import { unzipSync, type UnzipFileInfo } from 'fflate';

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

/**
 * Loads the protocols by version; patch releases share the video. Called only when there is a server, because the
 * library has 200 modules.
 */
async function loadProtocols(): Promise<Protocols> {
  const scrcpy = await import('@yume-chan/scrcpy');
  const { Scrcpy4Options } = await import('./scrcpy-4.ts');
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
      ['4.0', Scrcpy4Options],
      ['4.1', Scrcpy4Options],
    ]),
  };
}

/** scrcpy's server, which runs on phones. */
export interface ScrcpyServer {
  readonly localPath: string;
  readonly sha256: string;
  readonly version: string;
  readonly Options: ScrcpyOptionsClass;
  /** Parser of the parameters of its video. */
  readonly parseConfiguration: typeof h264ParseConfiguration;
}

/** Paths of the server in packages and in scrcpy's own installation. */
const installedPaths = ['/usr/share/scrcpy/scrcpy-server', '/usr/local/share/scrcpy/scrcpy-server'];

/**
 * Finds the server. `chosen` is the operator's file; `installed` has the paths where scrcpy's client looks for it.
 * Returns the reason when there is none, as the middle of a sentence.
 */
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

/**
 * Pattern of the version in the code of the server, which names it in an error for a client of another version, in
 * every build.
 */
const versionForm = /The server version \((\d+(?:\.\d+)+)\) does not match the client/;
/** Maximum size of a server's code in bytes; that of scrcpy 4.1 has 2 MB. */
const maxCodeBytes = 64 * 1024 * 1024;

/** Returns the version of a server; `file` is the ZIP file of the server. */
function toldVersion(file: Buffer): string | undefined {
  try {
    const isCode = ({ name, originalSize }: UnzipFileInfo): boolean =>
      name === 'classes.dex' && originalSize <= maxCodeBytes;
    const { 'classes.dex': code } = unzipSync(file, { filter: isCode });
    return code && versionForm.exec(Buffer.from(code).toString('latin1'))?.[1];
  } catch {
    // The file is no ZIP file.
    return undefined;
  }
}

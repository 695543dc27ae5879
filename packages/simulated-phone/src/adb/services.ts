import type { Duplex, Readable } from 'node:stream';

import type { ServiceProgram } from './adb-connection.ts';
import { packetShellService, rawShellService, type RunCommandLine } from './shell-service.ts';
import { writeTo } from './write-to.ts';

const noFile: FileStat = { mode: 0, sizeBytes: 0, modifiedSeconds: 0 };

const maxPathBytes = 1024;
const maxDataBytes = 64 * 1024;

interface Services {
  readonly run: RunCommandLine;
  readonly files: SyncFiles;
  readonly sockets: DeviceSockets;
  /** Returns the signal that aborts when the phone is switched off, which ends everything. */
  readonly power: () => AbortSignal;
  /** Called for `reboot:`; the phone then drops its connections. */
  reboot(): void;
}

function shellService(services: Services, name: string): ServiceProgram | undefined {
  const match = /^shell(?:,([^:]*))?:(.*)$/s.exec(name);
  if (!match) return undefined;
  const options = (match[1] ?? '').split(',');
  const commandLine = match[2] ?? '';
  if (!options.includes('v2')) return rawShellService(services.run, commandLine, { outlives: undefined });
  // Without an option, an interactive shell gets a terminal and a command does not.
  const pty = options.includes('pty') || (commandLine === '' && !options.includes('raw'));
  return packetShellService(services.run, commandLine, pty);
}

const say =
  (text: string): ServiceProgram =>
  (stream: Duplex) => {
    stream.end(text);
  };

/** Replies to `reverse:` like the adb server: a status word, then a message with its length in hex. */
function reverseAnswer(command: string): string {
  const framed = (text: string) => text.length.toString(16).padStart(4, '0') + text;
  if (command === 'list-forward') return `OKAY${framed('')}`;
  if (command === 'killforward-all') return 'OKAYOKAY';
  return `FAIL${framed('reverse forwarding is not supported on this device')}`;
}

/** Finds the service of a production build's adbd; undefined for one that it refuses or does not know. */
export function findService(services: Services, name: string): ServiceProgram | undefined {
  const shell = shellService(services, name);
  if (shell) return shell;
  if (name.startsWith('exec:'))
    return rawShellService(services.run, name.slice('exec:'.length), { outlives: services.power() });
  if (name === 'sync:') return syncService(services.files);
  if (name.startsWith('reverse:')) return say(reverseAnswer(name.slice('reverse:'.length)));
  if (name === 'root:') return say('adbd cannot run as root in production builds\n');
  if (name === 'unroot:') return say('adbd not running as root\n');
  if (name === 'remount:') return say('Not running as root. Try "adb root" first.\n');
  if (name.startsWith('reboot:')) {
    return (stream) => {
      stream.end();
      services.reboot();
    };
  }
  return services.sockets.find(name);
}

/** Encodes a request or a reply of the sync protocol: four letters and a number. */
function encodeSync(id: string, value: number, body: string | Buffer = ''): Buffer {
  const header = Buffer.alloc(8);
  header.write(id, 0, 'latin1');
  header.writeUInt32LE(value >>> 0, 4);
  return Buffer.concat([header, Buffer.from(body)]);
}

const fail = (message: string) => encodeSync('FAIL', Buffer.byteLength(message), message);

interface Session {
  readonly stream: Duplex;
  readonly reader: ByteReader;
  readonly files: SyncFiles;
}

async function receiveFile({ stream, reader, files }: Session, target: string): Promise<void> {
  // Format "path,mode" with a decimal mode, which very old clients omit.
  const comma = target.lastIndexOf(',');
  const path = comma < 0 ? target : target.slice(0, comma);
  const mode = comma < 0 ? 0o644 : Number.parseInt(target.slice(comma + 1), 10) || 0o644;
  const upload = files.startUpload(path, mode);
  for (;;) {
    const header = await reader.read(8);
    const id = header.toString('latin1', 0, 4);
    const value = header.readUInt32LE(4);
    if (id === 'DONE') {
      const error = upload.finish(value);
      stream.write(error === undefined ? encodeSync('OKAY', 0) : fail(error));
      return;
    }
    if (id !== 'DATA' || value > maxDataBytes) throw new Error(`Unexpected ${id} of ${value} bytes in SEND.`);
    upload.append(await reader.read(value));
  }
}

async function sendFile({ stream, files }: Session, path: string): Promise<void> {
  const content = files.readFile(path);
  for (let start = 0; start < content.length; start += maxDataBytes) {
    const piece = content.subarray(start, start + maxDataBytes);
    await writeTo(stream, encodeSync('DATA', piece.length, piece));
  }
  stream.write(encodeSync('DONE', 0));
}

function statAnswer(files: SyncFiles, id: string, path: string): Buffer {
  const found = files.findStat(path);
  if (id === 'STAT') return encodeStat('STAT', found);
  return encodeStatV2(id, found, found ? 0 : 2);
}

function listAnswers(files: SyncFiles, id: string, path: string): Buffer {
  const entryId = id === 'LIST' ? 'DENT' : 'DNT2';
  const entries: { name: string; stat: FileStat | undefined }[] = listReadable(files, path);
  // adbd passes on all entries of readdir, including `.` and `..`.
  if (files.isReadable(path))
    entries.unshift(...['.', '..'].map((name) => ({ name, stat: files.findStat(path) })));
  const encoded = entries.map((entry) => encodeDirectoryEntry(entryId, entry.name, entry.stat));
  return Buffer.concat([...encoded, encodeDirectoryEntry('DONE', '', undefined, entryId === 'DNT2')]);
}

/**
 * Lists a folder. For a folder that can't be opened, adbd sends an empty list and its end (AOSP,
 * packages/modules/adb/daemon/file_sync_service.cpp, do_list).
 */
const listReadable = (files: SyncFiles, path: string): ReturnType<SyncFiles['listDirectory']> =>
  files.isReadable(path) ? files.listDirectory(path) : [];

async function answer(session: Session, id: string, path: string): Promise<void> {
  const { stream, files } = session;
  if (id === 'STAT' || id === 'LST2' || id === 'STA2') stream.write(statAnswer(files, id, path));
  else if (id === 'LIST' || id === 'LIS2') stream.write(listAnswers(files, id, path));
  else if (id === 'SEND') await receiveFile(session, path);
  else if (id === 'RECV') await sendFile(session, path);
  else throw new Error(`Unknown sync request ${id}.`);
}

/** `sync:` (push, pull, ls): versions 1 of SEND and RECV, versions 1 and 2 of STAT and LIST. */
function syncService(files: SyncFiles): ServiceProgram {
  return async (stream) => {
    const session: Session = { stream, reader: new ByteReader(stream), files };
    for (;;) {
      const header = await session.reader.read(8);
      const id = header.toString('latin1', 0, 4);
      const pathBytes = header.readUInt32LE(4);
      if (id === 'QUIT') break;
      if (pathBytes > maxPathBytes) throw new Error('A sync path is longer than 1,024 bytes.');
      const path = (await session.reader.read(pathBytes)).toString('utf8');
      try {
        await answer(session, id, path);
      } catch (error) {
        if (!(error instanceof FileSystemError)) throw error;
        stream.write(fail(error.message));
      }
    }
    stream.end();
  };
}

/** Encodes STAT (version 1): mode, size, time; all zero if the file does not exist. */
function encodeStat(id: string, stat: FileStat | undefined): Buffer {
  const { mode, sizeBytes, modifiedSeconds } = stat ?? noFile;
  const bytes = Buffer.alloc(16);
  bytes.write(id, 0, 'latin1');
  bytes.writeUInt32LE(mode, 4);
  bytes.writeUInt32LE(sizeBytes, 8);
  bytes.writeUInt32LE(modifiedSeconds, 12);
  return bytes;
}

/** Encodes LST2, STA2 and the head of DNT2: error, device, inode, mode, links, owner, group, size, and three times. */
function encodeStatV2(id: string, stat: FileStat | undefined, errno: number): Buffer {
  const { mode, sizeBytes, modifiedSeconds } = stat ?? noFile;
  const bytes = Buffer.alloc(72);
  bytes.write(id, 0, 'latin1');
  bytes.writeUInt32LE(errno, 4);
  bytes.writeUInt32LE(mode, 24);
  bytes.writeUInt32LE(stat ? 1 : 0, 28);
  bytes.writeUInt32LE(stat ? 2000 : 0, 32);
  bytes.writeUInt32LE(stat ? 2000 : 0, 36);
  bytes.writeBigUInt64LE(BigInt(sizeBytes), 40);
  for (const offset of [48, 56, 64]) bytes.writeBigInt64LE(BigInt(modifiedSeconds), offset);
  return bytes;
}

/** Encodes a DENT or DNT2, or the DONE that ends a list, which has the shape of an entry. */
function encodeDirectoryEntry(
  id: string,
  name: string,
  stat: FileStat | undefined,
  isVersion2 = id === 'DNT2',
): Buffer {
  const head = isVersion2 ? encodeStatV2(id, stat, 0) : encodeStat(id, stat);
  const nameBytes = Buffer.from(name);
  const nameLength = Buffer.alloc(4);
  nameLength.writeUInt32LE(nameBytes.length);
  return Buffer.concat([head, nameLength, nameBytes]);
}

/** Listening sockets of the phone, by their ADB names, such as `tcp:6790`. */
export class DeviceSockets {
  readonly #listeners = new Map<string, (stream: Duplex) => void>();

  /** Starts listening. Throws if the name is in use. Returns the function that stops it. */
  listen(name: string, accept: (stream: Duplex) => void): () => void {
    if (this.#listeners.has(name)) throw new Error(`${name} is already in use on this phone.`);
    this.#listeners.set(name, accept);
    return () => {
      if (this.#listeners.get(name) === accept) this.#listeners.delete(name);
    };
  }

  find(name: string): ((stream: Duplex) => void) | undefined {
    return this.#listeners.get(name.replace(/^tcp:(?:localhost:|127\.0\.0\.1:)?(?=\d+$)/, 'tcp:'));
  }
}

export interface FileStat {
  /** Type and permission bits, as in `st_mode`. */
  readonly mode: number;
  readonly sizeBytes: number;
  readonly modifiedSeconds: number;
}

/** Failed file operation, with the phone's own message for the peer. */
export class FileSystemError extends Error {
  override readonly name = 'FileSystemError';
}

export interface Upload {
  append(data: Buffer): void;
  /** Stores the file. Returns the reason on failure. */
  finish(modifiedSeconds: number): string | undefined;
}

/** File operations that the sync service uses. Methods throw FileSystemError. */
export interface SyncFiles {
  findStat(path: string): FileStat | undefined;
  listDirectory(path: string): { name: string; stat: FileStat }[];
  /** Whether the file exists and adb's user may read it. */
  isReadable(path: string): boolean;
  readFile(path: string): Buffer;
  startUpload(path: string, mode: number): Upload;
}

/** Reads exact numbers of bytes from a stream. Rejects if the stream ends early. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: Readable) {
    this.#chunks = stream.iterator({ destroyOnReturn: false });
  }

  async read(sizeBytes: number): Promise<Buffer> {
    const parts: Buffer[] = [this.#rest];
    let bufferedBytes = this.#rest.length;
    while (bufferedBytes < sizeBytes) {
      const next = await this.#chunks.next();
      if (next.done) throw new Error('The stream ended in the middle of a message.');
      parts.push(next.value);
      bufferedBytes += next.value.length;
    }
    const all = parts.length === 1 ? this.#rest : Buffer.concat(parts);
    this.#rest = all.subarray(sizeBytes);
    return all.subarray(0, sizeBytes);
  }
}

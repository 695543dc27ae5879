import { randomUUID } from 'node:crypto';
import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { createReadStream } from 'node:fs';
import { errorText } from '@phalanx/settings';

import type { AgentCallParams, PhoneFile, PhoneFilePart } from '@phalanx/protocol';
import { ReadableStream } from '@yume-chan/stream-extra';

import { untilAborted } from '../../time/time-limit.ts';
import { DriverError } from '../driver-error.ts';
import { type PhoneShell, type ShellResult, shellQuote } from './phone-shell.ts';
import { saysNoFile } from './told-answer.ts';

/** Bits of `st_mode` with the type of a file, and their value for a folder. */
const formatMask = 0o170000;
const folderFormat = 0o040000;

export async function listFiles(shell: PhoneShell, path: string, signal: AbortSignal): Promise<PhoneFile[]> {
  const entries = await readFolder(shell, path, signal);
  // The transfer returns an empty list for an unreadable folder, and for a missing one.
  if (entries.length === 0) {
    const folder = shellQuote(path);
    const look = `[ -d ${folder} ] && ls ${shellQuote(`${path}/`)} >/dev/null && echo folder`;
    const { stdout } = await shell.run(look, signal);
    if (!stdout.startsWith('folder')) throw notFound(path, 'folder');
  }
  return entries
    .filter(({ name }) => name !== '.' && name !== '..')
    .map(({ name, mode, size, mtime }) => ({
      name,
      isFolder: (mode & formatMask) === folderFormat,
      sizeBytes: Number(size),
      modifiedAt: Number(mtime) * 1000,
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function readFolder(shell: PhoneShell, path: string, signal: AbortSignal) {
  const { adb, gone } = shell.connection;
  const sync = await untilAborted(signal, () => adb.sync());
  try {
    // The slash makes the transfer follow a link to a folder.
    return await untilAborted(gone, () => untilAborted(signal, () => sync.readdir(`${path}/`)));
  } finally {
    Promise.resolve(sync.dispose()).catch(() => {});
  }
}

/**
 * Reads a part of a file together with the size of the file, in one round trip. Throws `file_not_found` for a file that
 * the shell may not read, and `phone_answer_unexpected` when the phone delivers less than the size.
 */
export async function readFilePart(
  shell: PhoneShell,
  { path, part, partBytes }: AgentCallParams<'file.read'>,
  signal: AbortSignal,
): Promise<PhoneFilePart> {
  const file = shellQuote(path);
  const take = `dd if=${file} bs=${partBytes} skip=${part} count=1 2>/dev/null`;
  const { bytes, exitCode } = await execToEnd(
    shell,
    `[ -f ${file} ] && stat -c %s ${file} && ${take}`,
    signal,
  );
  const lineEnd = bytes.indexOf('\n');
  const sizeBytes = Number(bytes.toString('latin1', 0, Math.max(0, lineEnd)) || Number.NaN);
  const content = bytes.subarray(lineEnd + 1);
  if (!Number.isSafeInteger(sizeBytes) || (exitCode !== 0 && content.length === 0))
    throw notFound(path, 'file');
  // Files of the kernel have no size before they are read.
  if (sizeBytes === 0 && part === 0) return await readSizeless(shell, { path, partBytes }, signal);
  const expected = Math.min(partBytes, Math.max(0, sizeBytes - part * partBytes));
  if (exitCode !== 0 || content.length < expected) throw shrunk(path);
  return { base64: content.toString('base64', 0, expected), sizeBytes };
}
/** Reads a file whose reported size is 0: an empty one, or one that the kernel generates during the read. */
async function readSizeless(
  shell: PhoneShell,
  { path, partBytes }: { path: string; partBytes: number },
  signal: AbortSignal,
): Promise<PhoneFilePart> {
  const { bytes, exitCode } = await execToEnd(shell, `cat ${shellQuote(path)} 2>/dev/null`, signal);
  if (exitCode !== 0) throw notFound(path, 'file');
  if (bytes.length > partBytes)
    throw new DriverError(
      'phone_answer_unexpected',
      `The phone tells no size of ${path}, and it has more than ${partBytes} bytes.`,
    );
  return { base64: bytes.toString('base64'), sizeBytes: bytes.length };
}

/**
 * Runs a command with raw output, which has no exit code. Prints the code after the output, where no byte of the file
 * can be.
 */
async function execToEnd(
  shell: PhoneShell,
  command: string,
  signal: AbortSignal,
): Promise<{ bytes: Buffer; exitCode: number }> {
  const output = await shell.exec(`${command}; code=$?; echo; echo ended $code`, signal);
  const end = /\nended (\d{1,3})\n$/.exec(
    output.toString('latin1', Math.max(0, output.length - maxEndBytes)),
  );
  if (end === null) throw new DriverError('phone_answer_unexpected', 'The phone cut a file short.');
  return { bytes: output.subarray(0, output.length - end[0].length), exitCode: Number(end[1]) };
}

/** Maximum length in bytes of a line end, `ended 255` and a line end. */
const maxEndBytes = 11;

const shrunk = (path: string): DriverError =>
  new DriverError(
    'phone_answer_unexpected',
    `The phone gave less of ${path} than its size says: it became shorter while it was read, or can't be read to its end.`,
  );

export async function writeFilePart(
  shell: PhoneShell,
  { path, base64, isFirst }: AgentCallParams<'file.write'>,
  signal: AbortSignal,
): Promise<void> {
  const part = `/data/local/tmp/phalanx-${randomUUID()}.part`;
  await pushFile(shell, Readable.from([Buffer.from(base64, 'base64')]), { remotePath: part }, signal).catch(
    (error: unknown) => {
      throw signal.aborted || shell.connection.gone.aborted ? error : refused(path, errorText(error));
    },
  );
  const folder = shellQuote(posix.dirname(path));
  const store = `mkdir -p ${folder} && cat ${part} ${isFirst ? '>' : '>>'} ${shellQuote(path)}`;
  // Treats any output as a failure: success prints nothing.
  const said = saidOf(await shell.run(`${store}; rm -f ${part}`, signal));
  if (said !== '') throw refused(path, said);
}

export async function deleteFile(shell: PhoneShell, path: string, signal: AbortSignal): Promise<void> {
  const answer = await shell.run(`rm ${shellQuote(path)}`, signal);
  if (saysNoFile(answer)) throw notFound(path, 'file');
  const said = saidOf(answer);
  if (said !== '') throw refused(path, said);
}

const saidOf = ({ stdout, stderr }: ShellResult): string =>
  `${stderr} ${stdout}`.replaceAll(/\s+/g, ' ').trim().slice(0, 200);

function notFound(path: string, kind: 'file' | 'folder'): DriverError {
  return new DriverError(
    'file_not_found',
    `There is no ${kind} ${path} on the phone that the shell may read.`,
  );
}

function refused(path: string, said: string): DriverError {
  return new DriverError('file_refused', `The phone did not change ${path}: ${said || 'it said nothing'}.`);
}

const folder = '/data/local/tmp';
const hashDigits = 12;

interface KeptFile {
  readonly localPath: string;
  readonly sha256: string;
  /** Parts of the file's name on the phone, around the hash. */
  readonly prefix: string;
  readonly suffix: string;
}

/**
 * Returns the path on phones of a program for `app_process`. Each build has its own name, so that hosts of different
 * releases don't interfere.
 */
const pathOf = ({ prefix, sha256, suffix }: KeptFile): string =>
  `${folder}/${prefix}${sha256.slice(0, hashDigits)}${suffix}`;

/**
 * Copies the file to the phone unless this exact build is there, and returns its path. Undefined when the phone does
 * not keep the file.
 */
export async function keepFile(
  shell: PhoneShell,
  file: KeptFile,
  signal: AbortSignal,
): Promise<string | undefined> {
  const path = pathOf(file);
  const { stdout } = await shell.run(`sha256sum ${path}; ls ${folder}`, signal);
  if (stdout.startsWith(file.sha256)) return path;
  const { prefix, suffix } = file;
  const old = stdout
    .split(/\s+/)
    .filter((name) => name.startsWith(prefix) && name.endsWith(suffix))
    .filter((name) => /^[0-9a-f]{12}$/.test(name.slice(prefix.length, name.length - suffix.length)));
  if (old.length > 0) await shell.run(`rm -f ${old.map((name) => `${folder}/${name}`).join(' ')}`, signal);
  // Android 14 and newer refuse to run a writable dex.
  await pushFile(shell, createReadStream(file.localPath), { remotePath: path, permission: 0o400 }, signal);
  const after = await shell.run(`sha256sum ${path}`, signal);
  return after.stdout.startsWith(file.sha256) ? path : undefined;
}

/** Writes a file on the phone by ADB's own file transfer. */
export async function pushFile(
  shell: PhoneShell,
  source: Readable,
  { remotePath, permission = 0o644 }: { readonly remotePath: string; readonly permission?: number },
  signal: AbortSignal,
): Promise<void> {
  const { adb, gone } = shell.connection;
  const sync = await untilAborted(signal, () => adb.sync());
  const chunks = source.iterator({ destroyOnReturn: true });
  const file = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next: IteratorResult<unknown> = await chunks.next();
      if (next.value instanceof Uint8Array) controller.enqueue(next.value);
      else controller.close();
    },
    cancel: () => void source.destroy(),
  });
  try {
    await untilAborted(gone, () =>
      untilAborted(signal, () => sync.write({ filename: remotePath, file, permission })),
    );
  } finally {
    source.destroy();
    Promise.resolve(sync.dispose()).catch(() => {});
  }
}

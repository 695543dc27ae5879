import { randomUUID } from 'node:crypto';
import { posix } from 'node:path';
import { Readable } from 'node:stream';
import type { AgentCallParams, PhoneFile, PhoneFilePart } from '@phalanx/protocol';
import { untilAborted } from '../../time/time-limit.ts';
import { DriverError } from '../driver-error.ts';
import { type PhoneShell, type ShellResult, shellQuote } from './phone-shell.ts';
import { pushFile } from './kept-file.ts';

/** The form of `st_mode` that means a folder. */
const formatMask = 0o170000;
const folderFormat = 0o040000;

export async function listFiles(shell: PhoneShell, path: string, signal: AbortSignal): Promise<PhoneFile[]> {
  const entries = await readFolder(shell, path, signal);
  // For a folder that can't be read, and for none, the transfer gives an empty list.
  if (entries.length === 0) {
    const { stdout } = await shell.run(`[ -d ${shellQuote(path)} ] && echo folder`, signal);
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
    // With the slash, a link to a folder is the folder.
    return await untilAborted(gone, () => untilAborted(signal, () => sync.readdir(`${path}/`)));
  } finally {
    Promise.resolve(sync.dispose()).catch(() => {});
  }
}

/** The size comes with the part, in one trip. */
export async function readFilePart(
  shell: PhoneShell,
  { path, part, partBytes }: AgentCallParams<'file.read'>,
  signal: AbortSignal,
): Promise<PhoneFilePart> {
  const file = shellQuote(path);
  const take = `dd if=${file} bs=${partBytes} skip=${part} count=1 2>/dev/null`;
  const output = await shell.exec(`[ -f ${file} ] && stat -c %s ${file} && ${take}`, signal);
  const lineEnd = output.indexOf('\n');
  const sizeBytes = Number(output.toString('latin1', 0, Math.max(0, lineEnd)) || Number.NaN);
  if (!Number.isSafeInteger(sizeBytes)) throw notFound(path, 'file');
  return { base64: output.toString('base64', lineEnd + 1), sizeBytes };
}

export async function writeFilePart(
  shell: PhoneShell,
  { path, base64, isFirst }: AgentCallParams<'file.write'>,
  signal: AbortSignal,
): Promise<void> {
  const part = `/data/local/tmp/phalanx-${randomUUID()}.part`;
  await pushFile(shell, Readable.from([Buffer.from(base64, 'base64')]), { remotePath: part }, signal).catch(
    (error: unknown) => {
      throw signal.aborted || shell.connection.gone.aborted ? error : refused(path, textOf(error));
    },
  );
  const folder = shellQuote(posix.dirname(path));
  const store = `mkdir -p ${folder} && cat ${part} ${isFirst ? '>' : '>>'} ${shellQuote(path)}`;
  // What goes well prints nothing.
  const said = saidOf(await shell.run(`${store}; rm -f ${part}`, signal));
  if (said !== '') throw refused(path, said);
}

export async function deleteFile(shell: PhoneShell, path: string, signal: AbortSignal): Promise<void> {
  const said = saidOf(await shell.run(`rm ${shellQuote(path)}`, signal));
  if (/No such file/.test(said)) throw notFound(path, 'file');
  if (said !== '') throw refused(path, said);
}

const saidOf = ({ stdout, stderr }: ShellResult): string =>
  `${stderr} ${stdout}`.replaceAll(/\s+/g, ' ').trim().slice(0, 200);

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function notFound(path: string, kind: 'file' | 'folder'): DriverError {
  return new DriverError(
    'file_not_found',
    `There is no ${kind} ${path} on the phone that the shell may read.`,
  );
}

function refused(path: string, said: string): DriverError {
  return new DriverError('file_refused', `The phone did not change ${path}: ${said || 'it said nothing'}.`);
}

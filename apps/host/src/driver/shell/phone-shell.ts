import type { AdbSocket } from '@yume-chan/adb';
import type { AgentCallParams, AgentCallResult } from '@phalanx/protocol';

import type { AdbConnection } from '../../adb/link.ts';
import { untilAborted, withTimeLimit } from '../../time/time-limit.ts';
import { DriverError } from '../driver-error.ts';
import { readAll, readPrinted, readShellOutput, readTail } from './shell-output.ts';

export interface ShellResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Many of Android's tools exit with 0 after an error: read the text as well. Undefined on phones without the shell v2 protocol. */
  readonly exitCode: number | undefined;
}

/** A command on the phone that goes on. */
export interface RunningCommand {
  /** Resolves with the last of what it printed when it ends, however it ends. Never rejects. */
  readonly ended: Promise<string>;
  kill(): void;
}

/** Commands and sockets on one phone, over one connection. Everything rejects at once when the phone goes or the signal aborts. */
export interface PhoneShell {
  readonly connection: AdbConnection;
  /** Runs a line in the phone's shell. Rejects with `output_too_large` when it prints more than so much, by default 64 MiB. */
  run(command: string, signal: AbortSignal, maxBytes?: number): Promise<ShellResult>;
  /** Raw standard output, for pictures and files. `onPart` is told each part of it as it comes. */
  exec(command: string, signal: AbortSignal, onPart?: (part: Uint8Array) => void): Promise<Buffer>;
  /** Starts a command that goes on; it gets SIGHUP when it is killed, and when the connection ends. `exec:` would outlive both. */
  start(command: string, signal: AbortSignal): Promise<RunningCommand>;
  /** A socket to a service of the phone, such as `tcp:6790`. Rejects with `Error` when the phone refuses the service. */
  open(service: string, signal: AbortSignal): Promise<AdbSocket>;
}

export function createPhoneShell(connection: AdbConnection): PhoneShell {
  const open: PhoneShell['open'] = (service, signal) => openSocket(connection, service, signal);
  const read = async <T>(
    service: string,
    signal: AbortSignal,
    reader: (socket: AdbSocket) => Promise<T>,
  ): Promise<T> => {
    const socket = await open(service, signal).catch((error: unknown) => {
      throw asGone(error);
    });
    try {
      return await untilGone(connection, signal, () =>
        reader(socket).catch((error: unknown) => Promise.reject(asGone(error))),
      );
    } finally {
      closeQuietly(socket);
    }
  };
  return {
    connection,
    open,
    run: (command, signal, maxBytes) =>
      read(shellService(connection, command), signal, (socket) => readResult(connection, socket, maxBytes)),
    exec: (command, signal, onPart) =>
      read(`exec:${command}`, signal, (socket) => readAll(socket.readable, undefined, onPart)),
    async start(command, signal) {
      const isFramed = hasShellV2(connection);
      const socket = await open(`${isFramed ? 'shell,v2,raw' : 'shell'}:${command}`, signal);
      const kill = (): void => closeQuietly(socket);
      const printed = isFramed ? readPrinted(socket.readable) : socket.readable;
      return { ended: readTail(printed).finally(kill), kill };
    },
  };
}

function hasShellV2({ adb }: AdbConnection): boolean {
  return adb.deviceFeatures.includes('shell_v2');
}

function shellService(connection: AdbConnection, command: string): string {
  return hasShellV2(connection) ? `shell,v2,raw:${command}` : `exec:${command}`;
}

async function readResult(
  connection: AdbConnection,
  { readable }: AdbSocket,
  maxBytes: number | undefined,
): Promise<ShellResult> {
  if (!hasShellV2(connection))
    return { stdout: (await readAll(readable, maxBytes)).toString(), stderr: '', exitCode: undefined };
  const { stdout, stderr, exitCode } = await readShellOutput(readable, maxBytes);
  if (exitCode === undefined) throw new Error('the command was cut off');
  return { stdout: stdout.toString(), stderr: stderr.toString(), exitCode };
}

async function openSocket(
  connection: AdbConnection,
  service: string,
  signal: AbortSignal,
): Promise<AdbSocket> {
  const opening = connection.adb.createSocket(service);
  try {
    return await untilGone(connection, signal, () => opening);
  } catch (error) {
    // An opening that comes after its caller has gone would never be closed.
    opening.then(closeQuietly, () => {});
    throw error;
  }
}

async function untilGone<T>(
  { gone }: AdbConnection,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await untilAborted(signal, () => untilAborted(gone, work));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw gone.aborted ? asGone(gone.reason) : error;
  }
}

/** Streams break some 100 ms before the connection itself is known to be gone: a broken stream counts as gone. */
function asGone(error: unknown): DriverError {
  if (error instanceof DriverError) return error;
  const text = error instanceof Error ? error.message : String(error);
  return new DriverError('phone_gone', `The phone is gone: ${text}.`, error);
}

export function closeQuietly(socket: AdbSocket): void {
  Promise.resolve(socket.close()).catch(() => {});
}

/** One argument for the phone's shell. Everything inside single quotes is literal to it. */
export function shellQuote(argument: string): string {
  return `'${argument.replaceAll("'", `'\\''`)}'`;
}

/** Of both outputs together. */
const maxOutputBytes = 256 * 1024;

/** Runs a line of user code; it ends with its call, because the phone ends what runs in a shell that is cut. */
export async function runShellCommand(
  shell: PhoneShell,
  { command, timeoutMs }: AgentCallParams<'phone.shell'>,
  signal: AbortSignal,
): Promise<AgentCallResult<'phone.shell'>> {
  const onTimeout = (): Error =>
    new DriverError('call_timed_out', `The command did not end in ${timeoutMs / 1000} s.`);
  const { stdout, stderr, exitCode } = await withTimeLimit(
    { timeoutMs, signals: [signal], onTimeout },
    (limit) => shell.run(command, limit, maxOutputBytes),
  );
  return { stdout, stderr, exitCode: exitCode ?? null };
}

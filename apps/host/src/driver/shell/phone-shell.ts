import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { errorText } from '@phalanx/settings';

import type { AdbSocket } from '@yume-chan/adb';
import type { AgentCallParams, AgentCallResult } from '@phalanx/protocol';

import type { AdbConnection } from '../../adb/link.ts';
import { untilAborted, withTimeLimit } from '../../time/time-limit.ts';
import { DriverError } from '../driver-error.ts';
import { type OutputBounds, shortLines, defaultOutput } from './phone-output.ts';

export interface ShellResult {
  readonly stdout: string;
  readonly stderr: string;
  /**
   * Exit code. Many of Android's tools exit with 0 after an error, so read the text as well. Undefined on phones
   * without the shell v2 protocol.
   */
  readonly exitCode: number | undefined;
}

/** Command that keeps running on the phone. */
export interface RunningCommand {
  /** Resolves with the end of the output when the command ends, for any reason. Never rejects. */
  readonly ended: Promise<string>;
  kill(): void;
}

/**
 * Commands and sockets on one phone, over one connection. Every method rejects at once when the phone is lost or the
 * signal aborts.
 */
export interface PhoneShell {
  readonly connection: AdbConnection;
  /**
   * Runs a line in the phone's shell and returns the short lines of the output. Rejects with `output_too_large` when
   * the output exceeds the bounds.
   */
  run(command: string, signal: AbortSignal, bounds?: OutputBounds): Promise<ShellResult>;
  /** Runs a line and returns its whole output, for callers that apply no regular expression to all of it. */
  runWhole(command: string, signal: AbortSignal, maxBytes: number): Promise<ShellResult>;
  /** Returns raw standard output, for pictures and files. `onPart` gets each part as it arrives. */
  exec(command: string, signal: AbortSignal, onPart?: (part: Uint8Array) => void): Promise<Buffer>;
  /**
   * Starts a command that keeps running. It gets SIGHUP when it is killed, and when the connection ends. With `exec:`
   * it would outlive both.
   */
  start(command: string, signal: AbortSignal): Promise<RunningCommand>;
  /**
   * Opens a socket to a service of the phone, such as `tcp:6790`. Rejects with `Error` when the phone refuses the
   * service.
   */
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
  const runWhole: PhoneShell['runWhole'] = (command, signal, maxBytes) =>
    read(shellService(connection, command), signal, (socket) => readResult(connection, socket, maxBytes));
  return {
    connection,
    open,
    async run(command, signal, bounds = {}) {
      const { maxBytes = defaultOutput.maxBytes } = bounds;
      const { stdout, stderr, exitCode } = await runWhole(command, signal, maxBytes);
      return { stdout: shortLines(stdout, bounds), stderr: shortLines(stderr, bounds), exitCode };
    },
    runWhole,
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
  maxBytes: number,
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
    // Closes a socket that opens after its caller has given up, which would otherwise stay open.
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

/**
 * Converts an error. Streams break some 100 ms before the connection itself ends, so a broken stream counts as a lost
 * phone.
 */
function asGone(error: unknown): DriverError {
  if (error instanceof DriverError) return error;
  const text = errorText(error);
  return new DriverError('phone_gone', `The phone is gone: ${text}.`, error);
}

export function closeQuietly(socket: AdbSocket): void {
  Promise.resolve(socket.close()).catch(() => {});
}

/** Quotes one argument for the phone's shell, which takes everything inside single quotes literally. */
export function shellQuote(argument: string): string {
  return `'${argument.replaceAll("'", `'\\''`)}'`;
}

/** Maximum size of both outputs together, in bytes. */
const maxOutputBytes = 256 * 1024;

/** Runs a line of user code. It ends with its call, because the phone ends what runs in a shell whose stream is cut. */
export async function runShellCommand(
  shell: PhoneShell,
  { command, timeoutMs }: AgentCallParams<'phone.shell'>,
  signal: AbortSignal,
): Promise<AgentCallResult<'phone.shell'>> {
  const onTimeout = (): Error =>
    new DriverError('call_timed_out', `The command did not end in ${timeoutMs / 1000} s.`);
  const { stdout, stderr, exitCode } = await withTimeLimit(
    { timeoutMs, signals: [signal], onTimeout },
    (limit) => shell.runWhole(command, limit, maxOutputBytes),
  );
  return { stdout, stderr, exitCode: exitCode ?? null };
}

// Ids of the shell v2 protocol (AOSP, packages/modules/adb/shell_protocol.h).
const stdoutId = 1;
const stderrId = 2;
const exitId = 3;
const headerBytes = 5;
const defaultMaxBytes = 64 * 1024 * 1024;

interface ShellOutput {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** Exit code; undefined when the stream ended without one, because the command or the connection was cut. */
  readonly exitCode: number | undefined;
}

interface ShellFrame {
  readonly id: number;
  readonly payload: Buffer;
}

/**
 * Yields the frames of a shell v2 stream, a long one in several pieces. Reserves no memory for a frame's length, which
 * comes from the phone.
 */
async function* readFrames(readable: AsyncIterable<Uint8Array>): AsyncGenerator<ShellFrame> {
  const header = Buffer.alloc(headerBytes);
  let headerFilled = 0;
  let payloadLeft = 0;
  for await (const chunk of readable) {
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    while (rest.length > 0) {
      if (headerFilled < headerBytes) {
        const taken = rest.copy(header, headerFilled, 0, headerBytes - headerFilled);
        headerFilled += taken;
        rest = rest.subarray(taken);
        if (headerFilled < headerBytes) break;
        payloadLeft = header.readUInt32LE(1);
      }
      const payload = rest.subarray(0, payloadLeft);
      yield { id: header.readUInt8(0), payload };
      payloadLeft -= payload.length;
      rest = rest.subarray(payload.length);
      if (payloadLeft === 0) headerFilled = 0;
    }
  }
}

/** Reads a shell v2 stream to its end. */
export async function readShellOutput(
  readable: AsyncIterable<Uint8Array>,
  maxBytes = defaultMaxBytes,
): Promise<ShellOutput> {
  const parts = new Map<number, Buffer[]>([stdoutId, stderrId, exitId].map((id) => [id, []]));
  let sizeBytes = 0;
  for await (const { id, payload } of readFrames(readable)) {
    sizeBytes = checkedSize(sizeBytes + headerBytes + payload.length, maxBytes);
    parts.get(id)?.push(payload);
  }
  const join = (id: number): Buffer => Buffer.concat(parts.get(id) ?? []);
  return { stdout: join(stdoutId), stderr: join(stderrId), exitCode: join(exitId)[0] };
}

/** Yields the output of a shell v2 stream, piece by piece. */
async function* readPrinted(readable: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const { id, payload } of readFrames(readable)) if (id !== exitId) yield payload;
}

/** Separates the two outputs of a shell v2 stream; they end with it. */
export function separate(stream: Readable): { stdout: PassThrough; stderr: PassThrough } {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const pump = async (): Promise<void> => {
    for await (const { id, payload } of readFrames(stream)) {
      if (id === stdoutId && !stdout.write(payload)) await once(stdout, 'drain');
      if (id === stderrId) stderr.write(payload);
    }
  };
  const end = (): void => {
    stdout.end();
    stderr.end();
  };
  pump().then(end, end);
  return { stdout, stderr };
}

async function readAll(
  readable: AsyncIterable<Uint8Array>,
  maxBytes = defaultMaxBytes,
  onPart?: (part: Uint8Array) => void,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of readable) {
    sizeBytes = checkedSize(sizeBytes + chunk.length, maxBytes);
    chunks.push(chunk);
    onPart?.(chunk);
  }
  return Buffer.concat(chunks);
}

function checkedSize(sizeBytes: number, maxBytes: number): number {
  if (sizeBytes <= maxBytes) return sizeBytes;
  throw new DriverError('output_too_large', `The phone printed more than ${maxBytes} bytes for one command.`);
}

const keptTailLength = 4000;

/** Reads the end of a long-running command's output. Never rejects: a broken connection ends the command as well. */
export async function readTail(readable: AsyncIterable<Uint8Array>): Promise<string> {
  let tail = '';
  const decoder = new TextDecoder();
  try {
    for await (const chunk of readable)
      tail = (tail + decoder.decode(chunk, { stream: true })).slice(-keptTailLength);
  } catch {
    return tail;
  }
  return tail;
}

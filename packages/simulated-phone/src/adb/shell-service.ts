import { type Duplex, PassThrough, type Readable } from 'node:stream';

import type { ServiceProgram } from './adb-connection.ts';
import { writeTo } from './write-to.ts';

export interface ShellOutput {
  write(data: string | Uint8Array): Promise<void>;
}

/** Streams and signal of a command line; the service has no other access to the shell. */
export interface ShellIo {
  readonly stdin: Readable;
  readonly stdout: ShellOutput;
  readonly stderr: ShellOutput;
  /**
   * Aborts when the program is killed: together with its terminal or its shell protocol, otherwise together with the
   * phone.
   */
  readonly signal: AbortSignal;
}

/** Runs a command line, or an interactive shell if it is empty. Resolves with the exit code. */
export type RunCommandLine = (commandLine: string, io: ShellIo) => Promise<number>;

function toBytes(data: string | Uint8Array): Buffer {
  return typeof data === 'string'
    ? Buffer.from(data)
    : Buffer.from(data.buffer, data.byteOffset, data.length);
}

function abortOnClose(stream: Duplex): AbortSignal {
  const controller = new AbortController();
  stream.once('close', () => controller.abort());
  return controller.signal;
}

/**
 * Creates `exec:` and the old `shell:`, which transfer raw bytes, mix standard error into the output, and report no
 * exit code. The program of `exec:` has neither a terminal nor a protocol that would end it: it outlives the stream
 * and the connection.
 */
export function rawShellService(
  run: RunCommandLine,
  commandLine: string,
  { outlives }: { outlives: AbortSignal | undefined },
): ServiceProgram {
  return async (stream) => {
    const output: ShellOutput = { write: (data) => writeTo(stream, toBytes(data)) };
    const signal = outlives ?? abortOnClose(stream);
    await run(commandLine, { stdin: stream, stdout: output, stderr: output, signal });
    stream.end();
  };
}

async function pumpInput(stream: Duplex, stdin: PassThrough): Promise<void> {
  try {
    for await (const packet of readShellPackets(stream.iterator({ destroyOnReturn: false }))) {
      if (packet.kind === shellPacket.closeStdin) stdin.end();
      // A program that has ended reads no more input; it is dropped, as with a closed pipe.
      if (packet.kind !== shellPacket.stdin || stdin.writableEnded || stdin.destroyed) continue;
      await writeTo(stdin, packet.data).catch(() => {});
    }
  } catch {
    stream.destroy();
  } finally {
    stdin.end();
  }
}

/** Creates `shell,v2:`, which has separate standard error, an exit code, and an end of input. */
export function packetShellService(run: RunCommandLine, commandLine: string, pty: boolean): ServiceProgram {
  return async (stream) => {
    const stdin = new PassThrough();
    stdin.on('error', () => {});
    stream.once('close', () => stdin.destroy());
    const pump = pumpInput(stream, stdin);
    const outputOf = (kind: number): ShellOutput => ({
      async write(data) {
        // A terminal ends lines with CR LF.
        const bytes = pty
          ? Buffer.from(toBytes(data).toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1')
          : toBytes(data);
        for (const packet of encodeShellOutput(kind, bytes)) await writeTo(stream, packet);
      },
    });
    const stdout = outputOf(shellPacket.stdout);
    const stderr = pty ? stdout : outputOf(shellPacket.stderr);
    const exitCode = await run(commandLine, { stdin, stdout, stderr, signal: abortOnClose(stream) });
    if (stream.destroyed) return;
    await writeTo(stream, encodeShellPacket(shellPacket.exit, Buffer.from([exitCode & 0xff])));
    stdin.destroy();
    stream.end();
    await pump;
  };
}

/** Packet kinds of the shell protocol (`shell,v2:`): one byte of kind, four of length, the data. */
export const shellPacket = {
  stdin: 0,
  stdout: 1,
  stderr: 2,
  exit: 3,
  closeStdin: 4,
  windowSize: 5,
} as const;

const headerBytes = 5;
const maxPacketBytes = 1024 * 1024;

/** Maximum size of an output packet, small enough that most peers' payload limits need not split it. */
const maxOutputBytes = 64 * 1024 - headerBytes;

export function encodeShellPacket(kind: number, data: Buffer): Buffer {
  const header = Buffer.allocUnsafe(headerBytes);
  header.writeUInt8(kind, 0);
  header.writeUInt32LE(data.length, 1);
  return Buffer.concat([header, data]);
}

/** Encodes output as packets of bounded size. */
function* encodeShellOutput(kind: number, data: Buffer): Generator<Buffer> {
  for (let start = 0; start < data.length; start += maxOutputBytes) {
    yield encodeShellPacket(kind, data.subarray(start, start + maxOutputBytes));
  }
}

interface ShellPacket {
  readonly kind: number;
  readonly data: Buffer;
}

/** Yields the packets of a stream. Throws on a packet larger than the protocol's limit. */
async function* readShellPackets(chunks: AsyncIterable<Buffer>): AsyncGenerator<ShellPacket> {
  let buffered: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk]);
    while (buffered.length >= headerBytes) {
      const dataBytes = buffered.readUInt32LE(1);
      if (dataBytes > maxPacketBytes) throw new Error(`A shell packet of ${dataBytes} bytes is too large.`);
      const end = headerBytes + dataBytes;
      if (buffered.length < end) break;
      yield { kind: buffered.readUInt8(0), data: buffered.subarray(headerBytes, end) };
      buffered = buffered.subarray(end);
    }
  }
}

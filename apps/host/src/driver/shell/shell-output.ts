import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { DriverError } from '../driver-error.ts';

// Ids of the shell v2 protocol (AOSP, packages/modules/adb/shell_protocol.h).
const stdoutId = 1;
const stderrId = 2;
const exitId = 3;
const headerBytes = 5;
const usualMaxBytes = 64 * 1024 * 1024;

export interface ShellOutput {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** Undefined when the stream ended without one: the command or the connection was cut. */
  readonly exitCode: number | undefined;
}

interface ShellFrame {
  readonly id: number;
  readonly payload: Buffer;
}

/** The frames of a shell v2 stream, a long one in several pieces. A frame's length comes from the phone, so nothing is reserved by it. */
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
  maxBytes = usualMaxBytes,
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

/** What a shell v2 stream prints, piece by piece. */
export async function* readPrinted(readable: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const { id, payload } of readFrames(readable)) if (id !== exitId) yield payload;
}

/** Both outputs of a shell v2 stream, each by itself; they end with it. */
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

export async function readAll(
  readable: AsyncIterable<Uint8Array>,
  maxBytes = usualMaxBytes,
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

/** The last of what a long-running command prints. Never rejects: a broken connection ends the command as well. */
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

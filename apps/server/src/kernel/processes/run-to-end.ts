import { text } from 'node:stream/consumers';
import { whenClosed, type StartedProcess } from '@phalanx/confinement';

interface RunLimits {
  readonly input?: string | undefined;
  /** Maximum size of stdout; the rest is cut off, and the process is killed. */
  readonly maxBytes?: number | undefined;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

interface RunOutput {
  /** Exit code; null if a signal ended the process. */
  readonly exitCode: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly isCut: boolean;
}

/** Gives the process its input, and waits for its output and its end. */
export async function runToEnd(
  child: StartedProcess,
  { input = '', maxBytes = Infinity, timeoutMs, signal }: RunLimits,
): Promise<RunOutput> {
  const stop = (): void => child.signal('SIGKILL');
  const timer = setTimeout(stop, timeoutMs);
  signal?.addEventListener('abort', stop);
  if (signal?.aborted === true) stop();
  const [stdin, stdout, stderr] = child.streams;
  // A program may end without reading its input; the exit code then says why.
  stdin.end(input);
  try {
    const ended = whenClosed(child);
    const [output, said, { exitCode }] = await Promise.all([
      collect(stdout, maxBytes, stop),
      text(stderr),
      ended,
    ]);
    signal?.throwIfAborted();
    return { ...output, stderr: said, exitCode };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

async function collect(
  stream: AsyncIterable<Buffer>,
  maxBytes: number,
  stop: () => void,
): Promise<Pick<RunOutput, 'stdout' | 'isCut'>> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    if (length < maxBytes) chunks.push(chunk.subarray(0, maxBytes - length));
    length += chunk.length;
    if (length > maxBytes) stop();
  }
  return { stdout: Buffer.concat(chunks), isCut: length > maxBytes };
}

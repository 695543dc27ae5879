import { type Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { whenClosed, type StartedProcess } from '@phalanx/confinement';
import { maxPushBytes, type GitProgram, startGit } from '../git/git-process.ts';
import { ByteQueue } from '../git/byte-queue.ts';

export type GitService = 'upload-pack' | 'receive-pack';

interface ExchangeOptions {
  git: GitProgram;
  gitDir: string;
  service: GitService;
  /** Validated protocol, such as `version=2`. Git sees nothing else of the request except the body. */
  protocol: string | undefined;
}

/** Timeout without a byte in either direction. Git itself sends a keepalive every 5 s. */
const idleLimitMs = 120_000;
const killAfterMs = 5000;
/** Maximum size of a request body, by service. A fetch sends a list of hashes. */
const maxRequestBytes: Record<GitService, number> = {
  'upload-pack': 32 * 1024 * 1024,
  // A push sends a pack, and the names of the refs that it moves.
  'receive-pack': maxPushBytes + 1024 * 1024,
};

/**
 * CPU time limit of each process. Unpacking half a gigabyte of files takes ten seconds. Packing it for a clone takes
 * longer, so clones have the limit of other git commands.
 */
const limitsOf: Record<GitService, { maxCpuSeconds: number } | undefined> = {
  'upload-pack': undefined,
  'receive-pack': { maxCpuSeconds: 60 },
};

/** One run of a git service for one HTTP request. */
export class GitExchange {
  readonly output: Readable;
  /** Streams from and to the hooks of a push. */
  readonly fromHooks: Readable;
  readonly toHooks: Writable;
  /** Exit code of git, once it has ended. */
  readonly ended: Promise<number | null>;
  readonly #child: StartedProcess;
  readonly #input: Writable;
  readonly #maxBytes: number;
  readonly #idleTimer: NodeJS.Timeout;
  #stderr = '';

  static async start(
    { git, gitDir, service, protocol }: ExchangeOptions,
    ...flags: string[]
  ): Promise<GitExchange> {
    const child = await startGit(git, [service, '--stateless-rpc', ...flags, gitDir], {
      gitDir,
      limits: limitsOf[service],
      environment: protocol === undefined ? undefined : { GIT_PROTOCOL: protocol },
      streamCount: 5,
    });
    return new GitExchange(child, maxRequestBytes[service]);
  }

  private constructor(child: StartedProcess, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#child = child;
    const [input, output, errors, fromHooks, toHooks] = child.streams;
    if (fromHooks === undefined || toHooks === undefined) throw new Error('git has no streams for its hooks');
    this.#input = input;
    this.output = output;
    this.fromHooks = fromHooks;
    this.toHooks = toHooks;
    this.ended = whenClosed(child).then(({ exitCode }) => exitCode);
    errors.on('data', (chunk: Buffer) => (this.#stderr = (this.#stderr + chunk.toString()).slice(-2000)));
    this.#idleTimer = setTimeout(() => this.kill(), idleLimitMs).unref();
    output.on('data', () => this.#idleTimer.refresh()).pause();
    void this.ended.then(() => clearTimeout(this.#idleTimer));
  }

  /** Error output of git, for the log. */
  get complaint(): string {
    return this.#stderr.trim();
  }

  /**
   * Pipes the request's body to git. Keeps reading a body that git does not want, so that the client gets its response.
   * Kills git when the body is too large or breaks off.
   */
  async feed(body: Readable, ...stages: Transform[]): Promise<void> {
    try {
      await pipeline([body, ...stages, this.#counter(), this.#sink()]);
    } catch {
      this.kill();
    }
  }

  endInput(): void {
    this.#input.end();
  }

  /**
   * Sends SIGTERM, so that git removes its unfinished files. Sends SIGKILL to git and its children if they have not
   * ended after `killAfterMs`.
   */
  kill(): void {
    this.#child.signalGroup('SIGTERM');
    const timer = setTimeout(() => this.#child.signalGroup('SIGKILL'), killAfterMs);
    void this.ended.then(() => clearTimeout(timer));
  }

  #counter(): Transform {
    let length = 0;
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        length += chunk.length;
        this.#idleTimer.refresh();
        if (length > this.#maxBytes) done(new Error('the request is too large'));
        else done(null, chunk);
      },
    });
  }

  #sink(): Writable {
    const input = this.#input;
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (input.writable) input.write(chunk, () => done());
        else done();
      },
      final: (done) => {
        input.end();
        done();
      },
    });
  }
}

/**
 * Length of the header of a pkt-line: four hexadecimal digits with the length of the whole line, header included. The
 * flush packet `0000` ends a list.
 */
const headerLength = 4;
export const flush = '0000';

export function pktLine(text: string): string {
  return (Buffer.byteLength(text) + headerLength).toString(16).padStart(headerLength, '0') + text;
}

/** Reads the pkt-lines up to the next flush packet, without their line ends. Undefined when the stream ends earlier. */
export async function readPktLines(stream: HookStream): Promise<string[] | undefined> {
  const lines: string[] = [];
  for (;;) {
    const header = await stream.takeBytes(headerLength);
    if (header === flush) return lines;
    const length = Number.parseInt(header ?? '', 16) - headerLength;
    const line = length >= 0 ? await stream.takeBytes(length) : undefined;
    if (line === undefined) return undefined;
    lines.push(line.replace(/\n$/, ''));
  }
}

/** Reads lines and bytes from the stream of a hook. */
export class HookStream {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #bytes = new ByteQueue();

  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  /** Takes a line. Undefined when the stream has ended. */
  takeLine(): Promise<string | undefined> {
    return this.#take(() => this.#bytes.takeLine()?.toString());
  }

  /** Takes `count` bytes. Undefined when the stream ends earlier. */
  takeBytes(count: number): Promise<string | undefined> {
    return this.#take(() => this.#bytes.take(count)?.toString());
  }

  async #take(attempt: () => string | undefined): Promise<string | undefined> {
    for (;;) {
      const taken = attempt();
      if (taken !== undefined) return taken;
      const next = await this.#chunks.next();
      if (next.done === true) return undefined;
      this.#bytes.push(next.value);
    }
  }
}

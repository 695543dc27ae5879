import { type Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { whenClosed, type StartedProcess, giveWayByLength } from '@phalanx/confinement';
import { maxPushBytes, type GitProgram, startGit } from '../git/git-process.ts';
import { ByteQueue } from '../git/byte-queue.ts';

export type GitService = 'upload-pack' | 'receive-pack';

interface ExchangeOptions {
  git: GitProgram;
  gitDir: string;
  service: GitService;
  /** `version=2` and such, checked; it is the only thing of the request that git sees beside the body. */
  protocol: string | undefined;
}

/** Without a byte in either direction for so long, the peer is gone; git itself sends a sign of life every 5 s. */
const idleLimitMs = 120_000;
const killAfterMs = 5000;
/** What a fetch asks for is a list of hashes. */
const maxRequestBytes: Record<GitService, number> = {
  'upload-pack': 32 * 1024 * 1024,
  // Beside the pack, the names of what it moves.
  'receive-pack': maxPushBytes + 1024 * 1024,
};

/** Of each process. Half a gigabyte of files takes ten seconds to be unpacked; to pack it for a clone takes longer. */
const limitsOf: Record<GitService, { maxCpuSeconds: number } | undefined> = {
  'upload-pack': undefined,
  'receive-pack': { maxCpuSeconds: 60 },
};

/** One run of a git service for one HTTP request. */
export class GitExchange {
  readonly output: Readable;
  /** Where the hooks of a push speak and listen. */
  readonly fromHooks: Readable;
  readonly toHooks: Writable;
  /** Resolves when git has ended, with its exit code. */
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
    giveWayByLength(child);
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

  /** Git's own words, for the log. */
  get complaint(): string {
    return this.#stderr.trim();
  }

  /**
   * Hands the request's body to git. What git does not want to read is read anyway, so that the client gets its
   * answer; a body that is too large or breaks off ends git.
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

  /** Git removes what it has begun; if it can't, its children and it are ended anyway. */
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

/** Git's framing: four hexadecimal digits with the length of the whole line, then its bytes; `0000` ends a list. */
const headerLength = 4;
export const flush = '0000';

export function pktLine(text: string): string {
  return (Buffer.byteLength(text) + headerLength).toString(16).padStart(headerLength, '0') + text;
}

/** The lines up to the next flush, without their line ends; undefined when the stream ends before. */
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

/** What a hook sends, taken piece by piece. */
export class HookStream {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #bytes = new ByteQueue();

  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  /** Undefined when the stream has ended. */
  takeLine(): Promise<string | undefined> {
    return this.#take(() => this.#bytes.takeLine()?.toString());
  }

  /** Undefined when the stream ends before. */
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

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../main.ts', import.meta.url));

export interface CliOptions {
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  /** Standard input; empty by default. */
  input?: string;
}

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Process of `phalanx`, as users start it. */
export class CliProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #closed: Promise<unknown>;
  readonly #waiting: (() => void)[] = [];
  #isClosed = false;
  stdout = '';
  stderr = '';

  constructor(args: readonly string[], { env, cwd, input }: CliOptions = {}) {
    this.#child = spawn(process.execPath, [main, ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...inheritedEnvironment(), HOME: '/nowhere', ...env },
      ...(cwd === undefined ? {} : { cwd }),
    });
    this.#closed = once(this.#child, 'close');
    // A process that reads nothing may end before it is written to.
    this.#child.stdin.on('error', () => undefined);
    this.#child.stdin.end(input ?? '');
    this.#child.stdout
      .setEncoding('utf8')
      .on('data', (text: string) => this.#note(() => (this.stdout += text)));
    this.#child.stderr
      .setEncoding('utf8')
      .on('data', (text: string) => this.#note(() => (this.stderr += text)));
    void this.#closed.then(() => this.#note(() => (this.#isClosed = true)));
  }

  async result(): Promise<CliResult> {
    await this.#closed;
    return { code: this.#child.exitCode, stdout: this.stdout, stderr: this.stderr };
  }

  /** Resolves when the output fits. Throws with the whole output if the process ends before. */
  async printed(fits: (stdout: string, stderr: string) => boolean): Promise<void> {
    while (!fits(this.stdout, this.stderr)) {
      if (this.#isClosed) throw new Error(`it ended without printing that:\n${this.stdout}${this.stderr}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    this.signal(signal);
    await this.#closed;
  }

  #note(change: () => unknown): void {
    change();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Runs a command to its end. */
export const runCli = (args: readonly string[], options?: CliOptions): Promise<CliResult> =>
  new CliProcess(args, options).result();

/** Returns the environment that a `phalanx` process takes from its test, with Node's cache of compiled modules. */
export function inheritedEnvironment(): Record<string, string> {
  const { PATH = '', TMPDIR = '/tmp', NODE_COMPILE_CACHE } = process.env;
  return { PATH, TMPDIR, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) };
}

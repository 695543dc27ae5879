import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

import { inheritedEnvironment } from '@phalanx/cli/testing/cli-process';
import { until } from '@phalanx/host/testing/until';

const cli = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url));

/** Time limit in ms for a service's start: on a busy machine the start alone takes longer than most later waits. */
export const startLimitMs = 180_000;

/** `phalanx` process as an operator would start it. */
export class Program {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly exited: Promise<unknown>;
  #output = '';

  constructor(
    commandLine: readonly string[],
    env: Readonly<Record<string, string>>,
    { program = [process.execPath, cli], cwd }: { program?: readonly string[]; cwd?: string } = {},
  ) {
    const [command = process.execPath, ...first] = program;
    this.#child = spawn(command, [...first, ...commandLine], {
      ...(cwd === undefined ? {} : { cwd }),
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...inheritedEnvironment(), ...env },
    });
    this.exited = once(this.#child, 'exit');
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
    }
  }

  /** Returns all output so far. */
  get output(): string {
    return this.#output;
  }

  get hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  /**
   * Waits for the first match of `pattern` in the output. Throws with the output if the program ends without a match.
   */
  async printed(pattern: RegExp, limitMs = startLimitMs): Promise<RegExpExecArray> {
    const match = await until(
      `${pattern} in what the program prints`,
      () => pattern.exec(this.#output) ?? this.#output,
      (now) => typeof now !== 'string' || this.hasExited,
      limitMs,
    );
    if (typeof match !== 'string') return match;
    throw new Error(`the program ended without printing ${pattern}:\n${match}`);
  }

  /** Sends a signal and waits for the end. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (!this.hasExited) this.#child.kill(signal);
    await this.exited;
  }
}

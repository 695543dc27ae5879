import { spawn, type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Confinement } from '@phalanx/confinement';

import { giveWay } from '../limits/priority.ts';
import { compilePolicy } from './compile-policy.ts';
import { isFromProcess, type FromProcess, type ToProcess } from './process/messages.ts';
import type { ProjectMirror } from './project-mirror.ts';

/** `not_started`: it ended before it had said anything. */
export type EndReason = 'timed_out' | 'out_of_memory' | 'crashed' | 'not_started';

/** The process ended, or was ended, before it had answered. */
export class CompileProcessEnded extends Error {
  readonly reason: EndReason;

  constructor(reason: EndReason, detail: string) {
    super(`The compile process ended (${reason}) ${detail}`);
    this.name = 'CompileProcessEnded';
    this.reason = reason;
  }
}

export interface CompileProcessOptions {
  readonly agentTypes: string;
  /** For the resident memory of the process and all that it starts. */
  readonly maxMemoryBytes: number;
  readonly confinement: Confinement;
}

const program = fileURLToPath(new URL('process/main.ts', import.meta.url));
const watchMs = 200;
/** Of the processors, with the start of the process: more than what most projects take to be checked. */
const longWorkMs = 2000;
/** How much of what a dying process prints is kept for the log. */
const maxPrinted = 2_000;
const megabyte = 1024 * 1024;

/** The server's end of one compile process. It does one piece of work at a time. */
export class CompileProcess {
  /** What it has of the projects that are warm in it; the one used last stands last. */
  readonly mirrors = new Map<string, ProjectMirror>();
  /** Resolves when the process is gone. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  readonly #maxMemoryBytes: number;
  #processIds: readonly number[] = [];
  #endReason: EndReason = 'crashed';
  #hasEnded = false;
  #isEnding = false;
  #isBusy = false;
  #isLast = false;
  #hasGivenWay = false;
  #printed = '';
  #listener: ((message: FromProcess) => void) | undefined;
  #rejectWork: ((error: Error) => void) | undefined;

  constructor({ agentTypes, maxMemoryBytes, confinement }: CompileProcessOptions) {
    this.#maxMemoryBytes = maxMemoryBytes;
    const args = ['--openssl-config=/dev/null', program, String(process.pid)];
    const start = confinement.wrap({ program: process.execPath, args }, compilePolicy(maxMemoryBytes));
    this.#child = spawn(start.program, start.args, {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      detached: true,
      cwd: '/',
      // Rarer garbage collection makes checks faster; near the limit there is as much of it as it takes.
      env: { GOGC: '300', GOMEMLIMIT: `${Math.floor((maxMemoryBytes / megabyte) * 0.7)}MiB` },
    });
    this.#child.stderr?.on('error', () => this.kill('crashed'));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#keepPrinted(text));
    this.ended = new Promise((resolve) => {
      this.#child.once('exit', () => resolve(this.#end()));
      this.#child.on('error', () => resolve(this.#end()));
    });
    this.#child.on('message', (message) => this.#receive(message));
    void this.send({ kind: 'start', agentTypes });
  }

  /** At work, or about to end. */
  get isBusy(): boolean {
    return this.#isBusy || this.#isEnding;
  }

  /** Whether the work of others goes before it, for good. */
  get isLast(): boolean {
    return this.#isLast;
  }

  /** Whether something in it has taken long: what is short goes before all that it does. */
  get hasGivenWay(): boolean {
    return this.#hasGivenWay;
  }

  goLast(): void {
    this.#isLast = true;
    this.#giveWay();
  }

  #giveWay(): void {
    this.#hasGivenWay = true;
    if (this.#child.pid !== undefined && !this.#hasEnded) giveWay(this.#child.pid);
  }

  /** Runs `task` within the limits. Rejects with `CompileProcessEnded` when the process ends meanwhile. */
  async work<Result>(task: () => Promise<Result>, timeoutMs: number): Promise<Result> {
    if (this.#hasEnded) throw this.#endError();
    this.#isBusy = true;
    this.#endReason = 'crashed';
    const timer = setTimeout(() => this.kill('timed_out'), timeoutMs);
    const startedWith = readProcessorMs(this.#processIds);
    const watching = setInterval(() => void this.#watch(startedWith), watchMs);
    const failing = new Promise<never>((_, reject) => {
      this.#rejectWork = reject;
    });
    try {
      return await Promise.race([task(), failing]);
    } finally {
      clearTimeout(timer);
      clearInterval(watching);
      this.#isBusy = false;
      this.#rejectWork = undefined;
    }
  }

  /** Waits until the message is on its way, so that large ones do not pile up. */
  async send(message: ToProcess): Promise<void> {
    await new Promise<void>((resolve) => {
      if (this.#child.connected) this.#child.send(message, () => resolve());
      else resolve();
    });
  }

  /** Sends, and waits for what `take` accepts out of the replies. */
  async ask<Reply>(message: ToProcess, take: (reply: FromProcess) => Reply | undefined): Promise<Reply> {
    const answered = new Promise<Reply>((resolve) => {
      this.#listener = (reply) => {
        const taken = take(reply);
        if (taken !== undefined) resolve(taken);
      };
    });
    await this.send(message);
    return answered;
  }

  async memoryUse(): Promise<number> {
    return readMemoryUse(this.#processIds);
  }

  /** Ends it with everything that it started. */
  kill(reason: EndReason): void {
    this.#endReason = reason;
    this.#isEnding = true;
    const { pid } = this.#child;
    if (pid === undefined || this.#hasEnded) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      this.#child.kill('SIGKILL');
    }
  }

  /** `startedWith`: what the work before had of the processors. */
  async #watch(startedWith: Promise<number>): Promise<void> {
    const sizeBytes = await this.memoryUse();
    if (this.#isBusy && sizeBytes > this.#maxMemoryBytes) this.kill('out_of_memory');
    if (this.#hasGivenWay) return;
    const hadMs = (await readProcessorMs(this.#processIds)) - (await startedWith);
    // By the clock, a machine that is busy with other things would make everything long.
    if (this.#isBusy && hadMs > longWorkMs) this.#giveWay();
  }

  #receive(message: unknown): void {
    if (!isFromProcess(message)) return this.kill('crashed');
    if (message.kind === 'processes') this.#processIds = message.processIds;
    else this.#listener?.(message);
  }

  #keepPrinted(text: string): void {
    if (this.#printed.length < maxPrinted) this.#printed += text.slice(0, maxPrinted - this.#printed.length);
  }

  #end(): void {
    this.#hasEnded = true;
    this.#isEnding = true;
    this.mirrors.clear();
    this.#rejectWork?.(this.#endError());
  }

  #endError(): CompileProcessEnded {
    const hasStarted = this.#processIds.length > 0 || this.#endReason !== 'crashed';
    return new CompileProcessEnded(hasStarted ? this.#endReason : 'not_started', this.#printed);
  }
}

const pageBytes = 4096;

/** Resident memory of processes together. Where there is no /proc it counts as nothing: there is no limit then. */
async function readMemoryUse(processIds: readonly number[]): Promise<number> {
  const sizes = await Promise.all(processIds.map(readResidentBytes));
  return sizes.reduce((sum, sizeBytes) => sum + sizeBytes, 0);
}

async function readResidentBytes(processId: number): Promise<number> {
  try {
    const fields = (await readFile(`/proc/${processId}/statm`, 'utf8')).split(' ');
    return Number(fields[1] ?? 0) * pageBytes;
  } catch {
    return 0;
  }
}

const msPerTick = 10;

/** Time of the processors that processes have had together. */
async function readProcessorMs(processIds: readonly number[]): Promise<number> {
  const times = await Promise.all(processIds.map(readTicks));
  return times.reduce((sum, ticks) => sum + ticks, 0) * msPerTick;
}

async function readTicks(processId: number): Promise<number> {
  try {
    // The name in brackets may have anything in it: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    const fields = (await readFile(`/proc/${processId}/stat`, 'utf8')).split(') ').at(-1)?.split(' ') ?? [];
    return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  } catch {
    return 0;
  }
}

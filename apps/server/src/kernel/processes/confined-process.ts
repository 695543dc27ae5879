import { readFile } from 'node:fs/promises';
import path from 'node:path';

import {
  type Confinement,
  type Policy,
  type StartedProcess,
  startProcess,
  whenClosed,
  nodeFiles,
} from '@phalanx/confinement';

import { MessageStream, messagesDescriptor } from './message-stream.ts';

/** `not_started`: the process ended before it had said anything. */
export type EndReason = 'timed_out' | 'out_of_processor_time' | 'out_of_memory' | 'crashed' | 'not_started';

/** The process ended, or was ended, before it had answered. */
export class ConfinedProcessEnded extends Error {
  readonly reason: EndReason;

  constructor(reason: EndReason, detail: string) {
    super(`The process ended (${reason}) ${detail}`);
    this.name = 'ConfinedProcessEnded';
    this.reason = reason;
  }
}

/** Resource limits of one task. */
export interface Budget {
  /** Processor time, summed over all processors. */
  readonly processorMs: number;
  /** Wall-clock time, for a process that waits for ever without using a processor. */
  readonly timeoutMs: number;
}

export interface ConfinedProcessOptions<Reply> {
  readonly confinement: Confinement;
  /** A module of the server, run by a Node of its own. */
  readonly program: string;
  readonly policy: Policy;
  /** Limit of the resident memory of the process and all that it starts. */
  readonly maxMemoryBytes: number;
  readonly isReply: (message: unknown) => message is Reply;
  readonly nodeFlags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Interval at which processor time and memory are read while it works. */
  readonly watchMs?: number | undefined;
}

/** Maximum size of a reply, enough for all that a project's check emits. */
const maxReplyBytes = 128 * 1024 * 1024;
/** Maximum length of the error output that is kept for the log. */
const maxPrinted = 2_000;

/**
 * The server's end of a process that reads data of users. The operating system holds it to its own program, and by
 * the server to a budget. It does one piece of work at a time. A broken process costs its own work only.
 */
export class ConfinedProcess<Message extends object, Reply> {
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  readonly #options: ConfinedProcessOptions<Reply>;
  /** Rejects when the process can't be started; `ended` resolves then. */
  readonly #messages: Promise<MessageStream>;
  #child: StartedProcess | undefined;
  #processIds: readonly number[] = [];
  #hasSpoken = false;
  #endReason: EndReason = 'crashed';
  #hasEnded = false;
  #isEnding = false;
  #isBusy = false;
  #printed = '';
  #listener: ((message: Reply) => void) | undefined;
  #rejectWork: ((error: Error) => void) | undefined;

  constructor(options: ConfinedProcessOptions<Reply>) {
    this.#options = options;
    const starting = this.#start();
    this.#messages = starting.then((child) => this.#begin(child));
    this.ended = starting
      .then((child) => whenClosed(child))
      .then(
        () => this.#end(),
        (error: unknown) => {
          this.#printed = String(error);
          this.#end();
        },
      );
    this.#messages.catch(() => undefined);
  }

  /** Whether the process has a task, or is about to end. */
  get isBusy(): boolean {
    return this.#isBusy || this.#isEnding;
  }

  /** Runs `task` within the budget. Rejects with `ConfinedProcessEnded` when the process ends meanwhile. */
  async work<Result>(task: () => Promise<Result>, budget: Budget): Promise<Result> {
    if (this.#hasEnded) throw this.#endError();
    this.#isBusy = true;
    this.#endReason = 'crashed';
    const failing = new Promise<never>((_, reject) => {
      this.#rejectWork = reject;
    });
    const stopWatching = this.#watch(budget);
    try {
      return await Promise.race([task(), failing]);
    } finally {
      stopWatching();
      this.#isBusy = false;
      this.#rejectWork = undefined;
    }
  }

  /** Sends a message, and waits until it is on its way, so that large ones do not pile up. */
  async send(message: Message): Promise<void> {
    const messages = await this.#messages.catch(() => undefined);
    await new Promise<void>((resolve) => {
      if (messages === undefined || this.#hasEnded) resolve();
      else messages.send(message, resolve);
    });
  }

  /** Sends a message, and waits for the reply that `take` accepts. */
  async ask<Taken>(message: Message, take: (reply: Reply) => Taken | undefined): Promise<Taken> {
    const answered = new Promise<Taken>((resolve) => {
      this.#listener = (reply) => {
        const taken = take(reply);
        if (taken !== undefined) resolve(taken);
      };
    });
    await this.send(message);
    return answered;
  }

  /** Returns the resident bytes of the process and its children. */
  memoryUse(): Promise<number> {
    return residentBytesOf(this.#processIds);
  }

  /** Kills the process and its children. */
  kill(reason: EndReason): void {
    this.#endReason = reason;
    this.#isEnding = true;
    this.#child?.signalGroup('SIGKILL');
  }

  /** Counts these children of the process against its budget. */
  protected countAlso(processIds: readonly number[]): void {
    this.#processIds = processIds;
  }

  #start(): Promise<StartedProcess> {
    const { confinement, program, policy, nodeFlags = [], environment = {} } = this.#options;
    const args = ['--openssl-config=/dev/null', ...nodeFlags, program];
    const start = confinement.wrap({ program: process.execPath, args }, policy);
    return startProcess(start, { environment, folder: '/', streamCount: messagesDescriptor + 1 });
  }

  #begin(child: StartedProcess): MessageStream {
    this.#child = child;
    this.#processIds = [child.pid];
    const [, printed, errors, messages] = child.streams;
    if (messages === undefined) throw new Error('the process has no stream for messages');
    printed.resume();
    errors.setEncoding('utf8').on('data', (text: string) => this.#keepPrinted(text));
    // The stream closes when the process ends, or sends an invalid message.
    messages.once('close', () => {
      if (!this.#isEnding) this.kill('crashed');
    });
    if (this.#isEnding) this.kill(this.#endReason);
    return new MessageStream(messages, maxReplyBytes, (message) => this.#receive(message));
  }

  #watch(budget: Budget): () => void {
    const timer = setTimeout(() => this.kill('timed_out'), budget.timeoutMs);
    const startedWith = processorMsOf(this.#processIds);
    const watching = setInterval(
      () => void this.#requireBudget(budget, startedWith),
      this.#options.watchMs ?? 200,
    );
    return () => {
      clearTimeout(timer);
      clearInterval(watching);
    };
  }

  /** Kills the process when it exceeds the budget. `startedWith`: processor time that earlier tasks took. */
  async #requireBudget({ processorMs }: Budget, startedWith: Promise<number>): Promise<void> {
    const sizeBytes = await this.memoryUse();
    // Judge by processor time: wall-clock time is long for every task on a busy machine.
    const usedMs = (await processorMsOf(this.#processIds)) - (await startedWith);
    if (!this.#isBusy || this.#isEnding) return;
    if (sizeBytes > this.#options.maxMemoryBytes) this.kill('out_of_memory');
    else if (usedMs > processorMs) this.kill('out_of_processor_time');
  }

  #receive(message: unknown): void {
    if (!this.#options.isReply(message)) return this.kill('crashed');
    this.#hasSpoken = true;
    this.receive(message);
  }

  protected receive(reply: Reply): void {
    this.#listener?.(reply);
  }

  #keepPrinted(text: string): void {
    if (this.#printed.length < maxPrinted) this.#printed += text.slice(0, maxPrinted - this.#printed.length);
  }

  #end(): void {
    this.#hasEnded = true;
    this.#isEnding = true;
    this.#rejectWork?.(this.#endError());
  }

  #endError(): ConfinedProcessEnded {
    // V8 prints this when the heap is full, and aborts.
    const isHeapFull = this.#endReason === 'crashed' && this.#printed.includes('heap');
    const reason = isHeapFull ? 'out_of_memory' : this.#endReason;
    const hasStarted = this.#hasSpoken || reason !== 'crashed';
    return new ConfinedProcessEnded(hasStarted ? reason : 'not_started', this.#printed);
  }
}

const pageBytes = 4096;
const msPerTick = 10;

/** Sums the resident memory of processes. Without /proc the sum is 0, so there is no limit. */
async function residentBytesOf(processIds: readonly number[]): Promise<number> {
  return sum(await Promise.all(processIds.map(readResidentBytes)));
}

/** Sums the processor time of processes. */
async function processorMsOf(processIds: readonly number[]): Promise<number> {
  return sum(await Promise.all(processIds.map(readTicks))) * msPerTick;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

async function readResidentBytes(processId: number): Promise<number> {
  try {
    const fields = (await readFile(`/proc/${processId}/statm`, 'utf8')).split(' ');
    return Number(fields[1] ?? 0) * pageBytes;
  } catch {
    return 0;
  }
}

async function readTicks(processId: number): Promise<number> {
  try {
    // The name in brackets may contain any character: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    const fields = (await readFile(`/proc/${processId}/stat`, 'utf8')).split(') ').at(-1)?.split(' ') ?? [];
    return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  } catch {
    return 0;
  }
}

/** Root of the repository, or of the folder that it is packed into. */
const root = path.resolve(import.meta.dirname, '..', '..', '..', '..', '..');

/** Files that a process needs to run a module of the server in a Node of its own. */
export function programFiles(): Pick<Policy, 'readable' | 'runnable'> {
  const node = nodeFiles();
  const code = ['apps/server', 'packages', 'package.json'].map((name) => path.join(root, name));
  const libraries = foldersUpFrom(root).map((folder) => path.join(folder, 'node_modules'));
  return { readable: [...node.readable, ...code, ...libraries], runnable: node.runnable };
}

/** Returns the folder and its parents, in which Node looks for packages. */
function foldersUpFrom(folder: string): string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersUpFrom(parent)];
}

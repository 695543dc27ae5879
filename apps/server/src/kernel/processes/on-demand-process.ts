import type { Confinement } from '@phalanx/confinement';
import { type Budget, ConfinedProcess, ConfinedProcessEnded, programFiles } from './confined-process.ts';
import { SerialQueue } from '../serial-queue.ts';

interface Options<Reply> {
  readonly confinement: Confinement;
  /** A module of the server. It sends a message of kind `ready` first, and then one reply to each question. */
  readonly program: string;
  readonly maxHeapMb: number;
  readonly isReply: (message: unknown) => message is Reply;
  /** Interval at which its processor time and memory are read. Default: that of `ConfinedProcess`. */
  readonly watchMs?: number;
}

const megabyte = 1024 * 1024;
/** Memory allowed in addition to the heap. */
const extraMb = 128;
/** Memory that Node maps at its start. */
const mappedMb = 2 * 1024;
/** Wall-clock timeout, enough on a machine that is busy with other work. */
const timeoutMs = 60_000;
const startBudget = { processorMs: 20_000, timeoutMs };
/** Idle time before the process ends. Questions come in bursts, and a start takes longer than most of them. */
const idleMs = 60_000;

class ReadyProcess<Question extends object, Reply extends { kind: string }> extends ConfinedProcess<
  Question,
  Reply
> {
  readonly #ready = Promise.withResolvers<void>();

  constructor({ confinement, program, maxHeapMb, isReply, watchMs }: Options<Reply>) {
    const maxMemoryBytes = (maxHeapMb + extraMb) * megabyte;
    const maxDataBytes = maxMemoryBytes + mappedMb * megabyte;
    super({
      confinement,
      program,
      maxMemoryBytes,
      isReply,
      policy: { ...programFiles(), emptyNetwork: true, keptDescriptors: [3], maxDataBytes, maxFileBytes: 0 },
      nodeFlags: [`--max-old-space-size=${maxHeapMb}`],
      watchMs,
    });
    void this.ended.then(() => this.#ready.reject(new ConfinedProcessEnded('not_started', '')));
    this.#ready.promise.catch(() => undefined);
  }

  async answer(question: Question, processorMs: number): Promise<Reply> {
    await this.work(() => this.#ready.promise, startBudget);
    const budget: Budget = { processorMs, timeoutMs };
    return this.work(() => this.ask(question, (reply) => reply), budget);
  }

  protected override receive(reply: Reply): void {
    if (reply.kind === 'ready') this.#ready.resolve();
    else super.receive(reply);
  }
}

/**
 * A confined process that starts with the first question and ends when nobody has asked for a minute. It answers one
 * question after the other, and another process takes its place when it breaks.
 */
export class OnDemandProcess<Question extends object, Reply extends { kind: string }> {
  readonly #options: Options<Reply>;
  #process: ReadyProcess<Question, Reply> | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  readonly #questions = new SerialQueue();

  constructor(options: Options<Reply>) {
    this.#options = options;
  }

  /**
   * Rejects with `ConfinedProcessEnded`: `not_started` when no process could be started, else when the question broke
   * it.
   */
  ask(question: Question, { processorMs }: Pick<Budget, 'processorMs'>): Promise<Reply> {
    return this.#questions.run(() => this.#ask(question, processorMs));
  }

  async close(): Promise<void> {
    const process = this.#process;
    this.#drop();
    await process?.ended;
  }

  async #ask(question: Question, processorMs: number): Promise<Reply> {
    clearTimeout(this.#idleTimer);
    const process = (this.#process ??= new ReadyProcess<Question, Reply>(this.#options));
    try {
      return await process.answer(question, processorMs);
    } catch (error) {
      this.#drop();
      throw error;
    } finally {
      this.#idleTimer = setTimeout(() => this.#drop(), idleMs).unref();
    }
  }

  #drop(): void {
    clearTimeout(this.#idleTimer);
    this.#process?.kill('crashed');
    this.#process = undefined;
  }
}

import { fileURLToPath } from 'node:url';
import type { Confinement } from '@phalanx/confinement';

import { ConfinedProcess, ConfinedProcessEnded } from '../../processes/confined-process.ts';
import { programFiles } from '../../processes/program-files.ts';
import {
  type FromProcess,
  isFromProcess,
  type PrintJson,
  printFrom,
  type ToProcess,
} from './process/messages.ts';
import type { ScreenPrint } from './screen-print.ts';

const program = fileURLToPath(new URL('process/main.ts', import.meta.url));
const megabyte = 1024 * 1024;
const maxHeapMb = 256;
const maxMemoryBytes = (maxHeapMb + 128) * megabyte;
/** Node has this mapped before it has done anything. */
const maxDataBytes = maxMemoryBytes + 2 * 1024 * megabyte;
/** Of a machine that is busy with other work. */
const timeoutMs = 60_000;
const startBudget = { processorMs: 20_000, timeoutMs };
/** A tree of 16 MB takes less. */
const treeBudget = { processorMs: 3000, timeoutMs };
/** Records come in bursts; starting a process takes longer than reading many trees. */
const idleMs = 60_000;

class PrintProcess extends ConfinedProcess<ToProcess, FromProcess> {
  readonly #ready = Promise.withResolvers<void>();

  constructor(confinement: Confinement) {
    super({
      confinement,
      program,
      policy: { ...programFiles(), emptyNetwork: true, keptDescriptors: [3], maxDataBytes, maxFileBytes: 0 },
      maxMemoryBytes,
      isReply: isFromProcess,
      nodeFlags: [`--max-old-space-size=${maxHeapMb}`],
    });
    void this.ended.then(() => this.#ready.reject(new ConfinedProcessEnded('not_started', '')));
    this.#ready.promise.catch(() => undefined);
  }

  async read(tree: Uint8Array): Promise<FromProcess> {
    await this.work(() => this.#ready.promise, startBudget);
    return this.work(() => this.ask({ tree }, (reply) => reply), treeBudget);
  }

  protected override receive(reply: FromProcess): void {
    if (reply.kind === 'ready') this.#ready.resolve();
    else super.receive(reply);
  }
}

export type PrintReply = { print: ScreenPrint; json: PrintJson } | { problem: string };

/** Makes prints of trees in a confined process, which ends when there was nothing to do for a while. One at a time. */
export class PrintReader {
  readonly #confinement: Confinement;
  #process: PrintProcess | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(confinement: Confinement) {
    this.#confinement = confinement;
  }

  /** Rejects with `ConfinedProcessEnded` (`not_started`) when there is no process to be had. */
  async read(tree: Uint8Array): Promise<PrintReply> {
    clearTimeout(this.#idleTimer);
    const process = (this.#process ??= new PrintProcess(this.#confinement));
    try {
      const reply = await process.read(tree);
      if (reply.kind === 'print') return { print: printFrom(reply.print), json: reply.print };
      return { problem: reply.kind === 'unreadable' ? reply.problem : 'Its last screen could not be read.' };
    } catch (error) {
      this.#drop();
      if (!(error instanceof ConfinedProcessEnded) || error.reason === 'not_started') throw error;
      return { problem: `Its last screen could not be read (${error.reason.replaceAll('_', ' ')}).` };
    } finally {
      this.#idleTimer = setTimeout(() => this.#drop(), idleMs).unref();
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#idleTimer);
    const process = this.#process;
    this.#drop();
    await process?.ended;
  }

  #drop(): void {
    this.#process?.kill('crashed');
    this.#process = undefined;
  }
}

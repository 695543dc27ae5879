import { fileURLToPath } from 'node:url';
import type { Confinement } from '@phalanx/confinement';

import { ConfinedProcessEnded } from '../../../../kernel/processes/confined-process.ts';
import { OnDemandProcess } from '../../../../kernel/processes/on-demand-process.ts';
import {
  type FromProcess,
  isFromProcess,
  type PrintJson,
  printFrom,
  type ToProcess,
} from './process/messages.ts';
import type { ScreenPrint } from './screen-print.ts';

const program = fileURLToPath(new URL('process/main.ts', import.meta.url));
/** Budget per tree. A tree of 16 MB takes less. */
const treeBudget = { processorMs: 3000 };

export type PrintReply = { print: ScreenPrint; json: PrintJson } | { problem: string };

/** Makes prints of trees in a confined process. */
export class PrintReader {
  readonly #process: OnDemandProcess<ToProcess, FromProcess>;

  constructor(confinement: Confinement) {
    this.#process = new OnDemandProcess({ confinement, program, maxHeapMb: 256, isReply: isFromProcess });
  }

  /**
   * Reads the print of a tree. Rejects with `ConfinedProcessEnded` (`not_started`) when no process could be started.
   */
  async read(tree: Uint8Array): Promise<PrintReply> {
    try {
      const reply = await this.#process.ask({ tree }, treeBudget);
      if (reply.kind === 'print') return { print: printFrom(reply.print), json: reply.print };
      return { problem: reply.kind === 'unreadable' ? reply.problem : 'Its last screen could not be read.' };
    } catch (error) {
      if (!(error instanceof ConfinedProcessEnded) || error.reason === 'not_started') throw error;
      return { problem: `Its last screen could not be read (${error.reason.replaceAll('_', ' ')}).` };
    }
  }

  close(): Promise<void> {
    return this.#process.close();
  }
}

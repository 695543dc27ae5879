import { fileURLToPath } from 'node:url';
import type { Confinement } from '@phalanx/confinement';
import type { PossibleSign, SignCondition } from '@phalanx/automation/screen-signs';

import { ConfinedProcessEnded } from '../../processes/confined-process.ts';
import { OnDemandProcess } from '../../processes/on-demand-process.ts';
import { asSent, type FromProcess, isFromProcess, type ToProcess } from './process/messages.ts';

const program = fileURLToPath(new URL('process/main.ts', import.meta.url));
/** Of up to 50 trees. */
const budget = { processorMs: 10_000 };

/** A screen that was tried; null: its tree can't be read. */
export type TriedScreen = { readonly print: string; readonly held: readonly number[] } | null;

/** Looks for signs on saved screens in a confined process. */
export class SignReader {
  readonly #process: OnDemandProcess<ToProcess, FromProcess>;

  constructor(confinement: Confinement) {
    this.#process = new OnDemandProcess({ confinement, program, maxHeapMb: 384, isReply: isFromProcess });
  }

  /** What holds on all of the screens, and the button that closes them. */
  async list(
    trees: readonly Uint8Array[],
    most: number,
  ): Promise<{ signs: PossibleSign[]; button: SignCondition | null; prints: (string | null)[] }> {
    const reply = await this.#ask({ kind: 'list', trees, most });
    return reply?.kind === 'listed' ? reply : { signs: [], button: null, prints: trees.map(() => null) };
  }

  /** Which of the conditions hold on each screen. */
  async test(conditions: readonly SignCondition[], trees: readonly Uint8Array[]): Promise<TriedScreen[]> {
    const reply = await this.#ask({ kind: 'test', conditions: conditions.map(asSent), trees });
    return reply?.kind === 'tested' ? reply.screens : trees.map(() => null);
  }

  /** Undefined: a screen has broken the process. Rejects with `ConfinedProcessEnded` when none could be started. */
  async #ask(question: ToProcess): Promise<FromProcess | undefined> {
    try {
      return await this.#process.ask(question, budget);
    } catch (error) {
      if (!(error instanceof ConfinedProcessEnded) || error.reason === 'not_started') throw error;
      return undefined;
    }
  }

  close(): Promise<void> {
    return this.#process.close();
  }
}

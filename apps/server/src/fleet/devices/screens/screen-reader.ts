import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type DeviceScreen, readCompact, type NumberableScreen } from '@phalanx/protocol';
import type { Confinement } from '@phalanx/confinement';
import { jsonBounds, JsonScan } from '../../../http/requests/bodies/json-bounds.ts';
import { ConfinedProcessEnded } from '../../../kernel/processes/confined-process.ts';
import { OnDemandProcess } from '../../../kernel/processes/on-demand-process.ts';
import { parseScreen, type FromProcess, isFromProcess, type ToProcess } from './process/messages.ts';

const program = fileURLToPath(new URL('process/main.ts', import.meta.url));
/** Bytes of one step of a scan, which takes about two milliseconds. */
const pieceBytes = 256 * 1024;
/** Maximum bytes that the event loop parses, in some four milliseconds; without the picture, which is one text. */
const maxParsedHere = 512 * 1024;
/** Budget of the process for one screen. A screen at the bounds takes a tenth of it. */
const screenBudget = { processorMs: 3000 };

/** A screen as it is told in few words. */
export interface ReadScreen {
  /** Epoch ms. */
  readonly captured_at: number;
  readonly compact: NumberableScreen;
}

/** Reads what hosts answer to `screen`; what is long, in a confined process. Its functions throw when the answer is no screen. */
export class ScreenReader {
  readonly #process: OnDemandProcess<ToProcess, FromProcess>;

  constructor(confinement: Confinement) {
    this.#process = new OnDemandProcess({ confinement, program, maxHeapMb: 256, isReply: isFromProcess });
  }

  async check(answer: Buffer): Promise<void> {
    if (await isLong(answer)) await this.#ask({ answer, isCompact: false });
    else screenOf(answer);
  }

  async readCompact(answer: Buffer): Promise<ReadScreen> {
    if (await isLong(answer)) {
      const reply = await this.#ask({ answer, isCompact: true });
      if (reply.kind === 'compact') return reply;
      throw somethingElse();
    }
    const screen = screenOf(answer);
    await nextTurn();
    return { captured_at: screen.captured_at, compact: readCompact(screen) };
  }

  close(): Promise<void> {
    return this.#process.close();
  }

  async #ask(question: ToProcess): Promise<FromProcess> {
    try {
      const reply = await this.#process.ask(question, screenBudget);
      if (reply.kind === 'refused') throw somethingElse();
      return reply;
    } catch (error) {
      if (!(error instanceof ConfinedProcessEnded) || error.reason === 'not_started') throw error;
      const reason = error.reason.replaceAll('_', ' ');
      throw new Error(`the answer of its host could not be read (${reason})`, { cause: error });
    }
  }
}

const somethingElse = (): Error => new Error('its host gave an unexpected answer');

function screenOf(answer: Buffer): DeviceScreen {
  const screen = parseScreen(answer.toString());
  if (screen === undefined) throw somethingElse();
  return screen;
}

/** Throws when it goes beyond the bounds. A scan of all of it takes some ten milliseconds. */
async function isLong(answer: Buffer): Promise<boolean> {
  const scan = new JsonScan(jsonBounds.screen);
  for (let from = 0; from < answer.length; from += pieceBytes) {
    await nextTurn();
    const excess = scan.push(answer.subarray(from, from + pieceBytes));
    if (excess !== undefined) throw new Error(`the answer of its host ${excess}`);
  }
  await nextTurn();
  return scan.bytesAroundText > maxParsedHere;
}

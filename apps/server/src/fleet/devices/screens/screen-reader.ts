import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type DeviceScreen, readCompact, type NumberableScreen } from '@phalanx/protocol';
import type { Confinement } from '@phalanx/confinement';
import { jsonBounds, JsonScan } from '../../../http/requests/bodies/json-bounds.ts';
import { ConfinedProcessEnded } from '../../../kernel/processes/confined-process.ts';
import { OnDemandProcess } from '../../../kernel/processes/on-demand-process.ts';
import { parseScreen, type FromProcess, isFromProcess, type ToProcess } from './process/messages.ts';

const program = fileURLToPath(new URL('process/main.ts', import.meta.url));
/** Bytes per step of a scan; a step takes about 2 ms. */
const pieceBytes = 256 * 1024;
/** Maximum bytes to parse on the event loop, which takes about 4 ms. Excludes the picture, which is a single string. */
const maxParsedHere = 512 * 1024;
/** CPU budget of the process for one screen. The largest permitted screen takes a tenth of it. */
const screenBudget = { processorMs: 3000 };

/** Screen in compact form. */
export interface ReadScreen {
  /** Epoch ms. */
  readonly captured_at: number;
  readonly compact: NumberableScreen;
}

/**
 * Parses what hosts answer to `screen`. Long answers are parsed in a confined process. All methods throw when the
 * answer is not a screen.
 */
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

/**
 * Whether the answer is too long for the event loop. Throws when it exceeds the bounds. A complete scan takes about 10
 * ms.
 */
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

import type { Confinement } from '@phalanx/confinement';
import {
  ReplayReport,
  type MissedSearch,
  type ReplayCommand,
  type ReplayScreen,
  type ReplaySequence,
  type ReplayVerdict,
  type SequenceResult,
} from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import type { SandboxBundles } from '../process/bundles.ts';
import { spawnConfinedChild, type ChildExit, type ConfinedChild } from '../process/confined-child.ts';
import { watchMemory } from '../run/memory-watch.ts';

const reports = Compile(ReplayReport);

/** Timeout between two reports in milliseconds; one screen may take five seconds. */
const maxSilenceMs = 15_000;

export type ReplayMode = Extract<ReplayCommand, { type: 'screens' }>['mode'];

/** Result of the code for one screen. */
export interface ReplayedScreen {
  verdict: ReplayVerdict;
  /** Searches without a match, if requested. */
  missed: readonly MissedSearch[];
}

export interface ReplayGround {
  bundles: SandboxBundles;
  confinement: Confinement;
  memoryMb: number;
  limits: Extract<ReplayCommand, { type: 'code' }>['limits'];
}

interface Batch {
  mode: ReplayMode;
  tellsMissed: boolean;
  screens: readonly ReplayScreen[];
}

/** Process that replays screens with one project's code. */
export class ReplayProcess {
  readonly #child: ConfinedChild<ReplayCommand, ReplayReport>;
  readonly #stopMemoryWatch: () => void;
  #shown = 0;
  #exit: ChildExit | undefined;

  constructor(
    { bundles, confinement, memoryMb }: ReplayGround,
    code: Extract<ReplayCommand, { type: 'code' }>,
  ) {
    this.#child = spawnConfinedChild<ReplayCommand, ReplayReport>({
      bundles,
      confinement,
      memoryMb,
      env: { TZ: 'UTC' },
      parseReport: (value) => reports.Parse(value),
    });
    this.#stopMemoryWatch = watchMemory(this.#child, memoryMb, () => this.#child.kill());
    void this.#child.exited.then((exit) => (this.#exit = exit));
    this.#child.giveWay();
    this.#child.send(code);
  }

  /** Number of screens sent to the process. */
  get shown(): number {
    return this.#shown;
  }

  /**
   * Returns the received verdicts by index of the screen. `isWhole` is false when the process died during the batch.
   */
  async show(batch: Batch): Promise<{ verdicts: Map<number, ReplayedScreen>; isWhole: boolean }> {
    this.#shown += batch.screens.length;
    const verdicts = new Map<number, ReplayedScreen>();
    const { promise: shown, resolve } = Promise.withResolvers<true>();
    const silence = setTimeout(() => this.#child.kill(), maxSilenceMs);
    this.#child.onReports = async (told) => {
      silence.refresh();
      for (const report of told) {
        if (report.type === 'verdict') verdicts.set(report.index, report);
        else if (report.type === 'shown') resolve(true);
      }
    };
    this.#child.send({ type: 'screens', ...batch });
    const isWhole = (await Promise.race([shown, this.#child.exited])) === true;
    clearTimeout(silence);
    return { verdicts, isWhole };
  }

  /** Resolves with undefined when the process died during the sequence. */
  async follow(sequence: ReplaySequence): Promise<SequenceResult | undefined> {
    this.#shown += sequence.screens.length;
    const { promise: followed, resolve } = Promise.withResolvers<SequenceResult>();
    const silence = setTimeout(() => this.#child.kill(), maxSilenceMs);
    this.#child.onReports = async (told) => {
      for (const report of told) if (report.type === 'sequence') resolve(report.result);
    };
    this.#child.send({ type: 'sequence', sequence });
    const result = await Promise.race([followed, this.#child.exited.then(() => undefined)]);
    clearTimeout(silence);
    return result;
  }

  /** Reason why the process ended, for people. */
  get endText(): string {
    const { startError, signal, exitCode, stderr } = this.#exit ?? {};
    return [startError, signal ?? exitCode, stderr].filter(Boolean).join(' ');
  }

  get hasStarted(): boolean {
    return this.#exit?.startError === undefined;
  }

  async close(): Promise<void> {
    this.#stopMemoryWatch();
    this.#child.kill();
    await this.#child.exited;
  }
}

import { availableParallelism } from 'node:os';
import { errorText } from '@phalanx/settings';

import { openConfinement, type Confinement } from '@phalanx/confinement';
import type {
  ReplayCommand,
  ReplayFetches,
  ReplayScreen,
  ReplaySequence,
  SequenceResult,
  HostQuestionOf,
  HostReplayAnswer,
} from '@phalanx/protocol';
import type { Logger } from 'pino';

import { buildReplayBundles } from '../process/bundles.ts';
import { ReplayProcess, type ReplayedScreen, type ReplayGround, type ReplayMode } from './replay-process.ts';
import type { ServerConnection } from '../../connection/server-connection.ts';

export type { ReplayedScreen } from './replay-process.ts';

/** Bundle of a project's code, as a run gets it. */
export interface ReplayCode {
  code: string;
  sourceMap: string | null;
  /** Values of `agent.arguments`. */
  arguments: { automationParameters: unknown; jobVariables: unknown };
  /** Answers of `fetch`. Default: every request fails. */
  fetches?: ReplayFetches;
}

interface ReplayOptions {
  /** Confinement of the processes that run user code. Default: the one that this machine offers. */
  confinement?: Confinement;
  /** Maximum number of processes. Default: half of the CPU cores. */
  processes?: number;
  /** Heap of the user's code in MB. Default 128. */
  memoryMb?: number;
  /** Default `defaultReplayLimits`. */
  limits?: ReplayCodeLimits;
}

type ReplayCodeLimits = Extract<ReplayCommand, { type: 'code' }>['limits'];

const secondTry = { entryMs: 2000, totalMs: 4000 };
const defaultReplayLimits: ReplayCodeLimits = {
  screen: { first: { entryMs: 250, totalMs: 1000 }, second: secondTry },
  sequence: { first: { entryMs: 250, totalMs: 2000 }, second: secondTry },
};

export interface ReplayOrder {
  /** Mode of the replay. `stream` is ten times faster, but gives no verdict for some screens. */
  mode: ReplayMode;
  /** Whether searches without a match are reported; only with `strict`. */
  tellsMissed?: boolean;
  /** Deadline on the clock of `performance.now()`. Screens that were not started by then get no verdict. */
  deadline?: number;
}

export interface Replays {
  /** Replays the code on each screen, in order. Rejects when this machine can't start the processes. */
  replay(
    code: ReplayCode,
    screens: readonly ReplayScreen[],
    order: ReplayOrder,
  ): Promise<(ReplayedScreen | undefined)[]>;
  /** Compares the code's actions on the screens of a record with the recorded ones. Rejects as `replay` does. */
  follow(code: ReplayCode, sequence: ReplaySequence): Promise<SequenceResult>;
}

const maxBatchScreens = 50;
const maxBatchLength = 4 * 1024 * 1024;
/** Maximum number of screens per process. Its memory grows, and is full after some four thousand. */
const maxShown = 2000;

/** Prepares the bundles and the confinement of processes that replay saved screens. */
export async function openReplays(options: ReplayOptions = {}): Promise<Replays> {
  const [bundles, confinement] = await Promise.all([
    buildReplayBundles(),
    options.confinement ?? openConfinement(),
  ]);
  const { memoryMb = 128, limits = defaultReplayLimits } = options;
  const ground = { bundles, confinement, memoryMb, limits };
  const maxProcesses = options.processes ?? Math.max(1, Math.floor(availableParallelism() / 2));
  return {
    async replay(code, screens, order) {
      const replayed = Array.from<ReplayedScreen | undefined>({ length: screens.length });
      const { deadline = Infinity } = order;
      const batches = batchesOf(screens, deadline === Infinity ? maxBatchScreens : 1);
      const work = async (): Promise<void> => {
        const worker = new Worker(ground, code, order);
        for (let next = batches.shift(); next !== undefined; next = takeNext(batches, deadline))
          for (const [index, told] of await worker.replay(next.screens)) replayed[next.start + index] = told;
        await worker.close();
      };
      await Promise.all(Array.from({ length: Math.min(maxProcesses, batches.length) }, work));
      return replayed;
    },
    async follow(code, sequence) {
      const worker = new Worker(ground, code, { mode: 'strict' });
      try {
        return (await worker.follow(sequence)) ?? (await worker.follow(sequence)) ?? overSequence;
      } finally {
        await worker.close();
      }
    },
  };
}

interface Batch {
  start: number;
  screens: ReplayScreen[];
}

const takeNext = (batches: Batch[], deadline: number): Batch | undefined =>
  performance.now() < deadline ? batches.shift() : undefined;

function batchesOf(screens: readonly ReplayScreen[], maxScreens: number): Batch[] {
  const batches: Batch[] = [];
  let length = Infinity;
  for (const [index, screen] of screens.entries()) {
    length += screen.treeJson.length;
    const last = batches.at(-1);
    if (last !== undefined && last.screens.length < maxScreens && length <= maxBatchLength) {
      last.screens.push(screen);
    } else {
      batches.push({ start: index, screens: [screen] });
      length = screen.treeJson.length;
    }
  }
  return batches;
}

/** Replays screens with one process, and starts a new one after it has died. */
class Worker {
  readonly #ground: ReplayGround;
  readonly #code: Extract<ReplayCommand, { type: 'code' }>;
  readonly #order: { mode: ReplayMode; tellsMissed: boolean };
  #process: ReplayProcess | undefined;

  constructor(
    ground: ReplayGround,
    { code, sourceMap, arguments: args, fetches = [] }: ReplayCode,
    { mode, tellsMissed = false }: ReplayOrder,
  ) {
    this.#ground = ground;
    const { limits } = ground;
    this.#code = { type: 'code', code, sourceMap, argumentsJson: JSON.stringify(args), fetches, limits };
    this.#order = { mode, tellsMissed };
  }

  async replay(screens: readonly ReplayScreen[]): Promise<Map<number, ReplayedScreen>> {
    const all = new Map<number, ReplayedScreen>();
    let suspect: number | undefined;
    for (let start = 0; start < screens.length;) {
      const process_ = await this.#take();
      const isNew = process_.shown === 0;
      const { verdicts, isWhole } = await process_.show({ ...this.#order, screens: screens.slice(start) });
      for (const [index, told] of verdicts) all.set(start + index, told);
      if (isWhole) return all;
      await this.#drop();
      if (!process_.hasStarted) throw new Error(`A process to replay did not start: ${process_.endText}`);
      if (this.#order.mode === 'stream') {
        // A process that has shown many screens may have died for that reason. The strict replay determines whether
        // this screen kills a new one.
        if (isNew) return all;
        start += Math.max(-1, ...verdicts.keys()) + 1;
        continue;
      }
      // The screen at which the process died gets one retry in a new process before it is blamed.
      const fatal = start + verdicts.size;
      if (fatal === suspect) all.set(fatal, ended);
      start = fatal === suspect ? fatal + 1 : fatal;
      suspect = fatal;
    }
    return all;
  }

  /** Resolves with undefined when the process died during the sequence. */
  async follow(sequence: ReplaySequence): Promise<SequenceResult | undefined> {
    const process_ = await this.#take();
    const result = await process_.follow(sequence);
    if (result !== undefined) return result;
    await this.#drop();
    if (!process_.hasStarted) throw new Error(`A process to replay did not start: ${process_.endText}`);
    return undefined;
  }

  async close(): Promise<void> {
    await this.#drop();
  }

  async #take(): Promise<ReplayProcess> {
    if (this.#process !== undefined && this.#process.shown >= maxShown) await this.#drop();
    return (this.#process ??= new ReplayProcess(this.#ground, this.#code));
  }

  async #drop(): Promise<void> {
    await this.#process?.close();
    this.#process = undefined;
  }
}

const overSequence: SequenceResult = {
  kind: 'limit',
  index: 0,
  message: 'The process ended over this record: it used too much memory or time.',
};

const ended: ReplayedScreen = {
  verdict: { kind: 'limit', message: 'The process ended over this screen: it used too much memory or time.' },
  missed: [],
};

interface AnswererOptions {
  connection: ServerConnection;
  confinement: Confinement;
  /** Maximum number of processes; 0 means that this host replays no screens. */
  processes: number;
  log: Logger;
}

/** Replays saved screens for the server, one question at a time. */
export class ReplayAnswerer {
  readonly #options: AnswererOptions;
  #replays: Promise<Replays> | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(options: AnswererOptions) {
    this.#options = options;
  }

  get isWilling(): boolean {
    return this.#options.processes > 0;
  }

  /** Answers with the code's verdicts on the screens, or with the reason why there are none. */
  answer(question: HostQuestionOf<'replay'>): void {
    // Starts the budget now: the server repeats a question that waits for longer.
    const deadline = performance.now() + question.budget_ms;
    this.#last = this.#last.then(() => this.#answer(question, deadline));
  }

  async #answer(question: HostQuestionOf<'replay'>, deadline: number): Promise<void> {
    const { connection, log } = this.#options;
    const { type, request_id } = question;
    try {
      const answer = await this.#replay(question, deadline);
      connection.sendFrame({ type, request_id }, Buffer.from(JSON.stringify(answer)));
    } catch (error) {
      // Drops replays that could not be opened, so that the next question opens new ones.
      this.#replays = undefined;
      log.warn({ err: error }, 'Saved screens could not be replayed');
      const message = errorText(error).slice(0, 2000);
      connection.send({ type: 'request_failed', request_id, message });
    }
  }

  async #replay(question: HostQuestionOf<'replay'>, deadline: number): Promise<HostReplayAnswer> {
    if (!this.isWilling) throw new Error('This host replays no screens');
    if (performance.now() > deadline) return { verdicts: question.screens.map(() => null) };
    const { confinement, processes } = this.#options;
    this.#replays ??= openReplays({ confinement, processes });
    const { code, source_map: sourceMap, parameters, job_variables: jobVariables, fetches } = question;
    const replays = await this.#replays;
    const given = { code, sourceMap, arguments: { automationParameters: parameters, jobVariables }, fetches };
    if (question.sequence !== undefined) {
      const sequence = await replays.follow(given, sequenceOf(question.sequence));
      return { verdicts: [], sequence };
    }
    const replayed = await replays.replay(
      given,
      question.screens.map(({ tree_json: treeJson, stage }) => ({ treeJson, stage: stage ?? undefined })),
      { mode: 'strict', deadline },
    );
    return { verdicts: replayed.map((one) => one?.verdict ?? null) };
  }
}

const sequenceOf = ({
  screens,
  ends,
}: NonNullable<HostQuestionOf<'replay'>['sequence']>): ReplaySequence => ({
  screens: screens.map(({ tree_json: treeJson, ...screen }) => ({ treeJson, ...screen })),
  ends,
});

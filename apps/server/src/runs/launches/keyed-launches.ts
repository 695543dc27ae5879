import { hash } from 'node:crypto';
import type { DeviceOutcome } from '@phalanx/protocol';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { boundedList } from '../../kernel/errors/bounded-list.ts';
import { awaitOutcome, type Dispatcher, type LaunchOutcome } from './dispatch.ts';
import type { StoredLaunch, BegunRun } from './store.ts';
import { stableJson } from '../../kernel/stable-json.ts';

/** A launch with a key of its caller's. */
interface KeyedLaunch {
  readonly userId: string;
  readonly launchId: string;
  /** Digest of the request: a different request with the same key is refused. */
  readonly fingerprint: string;
  /** Stores the launch and waits for its phones. Rejects when nothing was stored. */
  readonly begin: () => Promise<BegunLaunch>;
}

export interface BegunLaunch {
  /** The service's own ID of the launch. */
  readonly id: string;
  readonly outcome: LaunchOutcome;
}

interface UnderWay {
  fingerprint: string;
  answer: Promise<LaunchAnswer>;
}

export const fingerprintOf = (request: readonly unknown[]): string =>
  hash('sha256', stableJson(request), 'hex');

function requireSame({ launchId, fingerprint }: KeyedLaunch, known: string): void {
  if (fingerprint !== known) throw ApiError.of('launch_id_conflict', { launch_id: launchId });
}

/** Makes sure that a launch ID starts one launch, however often it is asked for and at whichever servers. */
export class KeyedLaunches {
  readonly #dispatcher: Dispatcher;
  /** The launches that wait for their answer, by user and launch ID. */
  readonly #underWay = new Map<string, UnderWay>();

  constructor(dispatcher: Dispatcher) {
    this.#dispatcher = dispatcher;
  }

  /** Starts a launch without a key: each request starts another one. */
  async startWithout(begin: KeyedLaunch['begin']): Promise<LaunchReply> {
    const { outcome } = await begin();
    return deliver(await answerOf(outcome, this.#dispatcher));
  }

  /** Throws the errors that the error table lists for launches. */
  async start(launch: KeyedLaunch): Promise<LaunchReply> {
    const { userId, launchId, fingerprint } = launch;
    const key = `${userId} ${launchId}`;
    const known = this.#underWay.get(key);
    if (known !== undefined) requireSame(launch, known.fingerprint);
    const answer = known?.answer ?? this.#answer(launch);
    if (known === undefined) {
      this.#underWay.set(key, { fingerprint, answer });
      const forget = () => this.#underWay.delete(key);
      void answer.then(forget, forget);
    }
    return deliver(await answer);
  }

  async #answer(launch: KeyedLaunch): Promise<LaunchAnswer> {
    const earlier = await this.#repeated(launch);
    if (earlier !== undefined) return earlier;
    try {
      const { id, outcome } = await launch.begin();
      return await this.#remember(id, outcome);
    } catch (error) {
      // Another server may have stored the launch first, and its runs may have caused the error.
      const first = await this.#repeated(launch);
      if (first === undefined) throw error;
      return first;
    }
  }

  async #repeated(launch: KeyedLaunch): Promise<LaunchAnswer | undefined> {
    const earlier = await this.#dispatcher.launches.find(launch.userId, launch.launchId);
    if (earlier === undefined) return undefined;
    requireSame(launch, earlier.fingerprint);
    return this.#repeat(earlier);
  }

  /**
   * Answers for a launch that is stored, which is never sent again. Without an answer it has started, or the server
   * stopped in the middle of it.
   */
  async #repeat(launch: StoredLaunch): Promise<LaunchAnswer> {
    if (launch.answer !== null) return readAnswer(launch.answer);
    return this.#remember(launch.id, await awaitOutcome(this.#dispatcher, launch.id));
  }

  async #remember(id: string, outcome: LaunchOutcome): Promise<LaunchAnswer> {
    const { launches } = this.#dispatcher;
    const answer = await answerOf(outcome, this.#dispatcher);
    if ('refusal' in answer) return readAnswer(await launches.saveAnswer(id, JSON.stringify(answer)));
    // An answer that all runs have started need not be stored: the stored runs say so, too. Only a launch with a run
    // that was called off may have another answer, which was given before that run started.
    const isCalledOff = outcome.some((run) => run.stop_requested === 1);
    const earlier = isCalledOff ? await launches.findAnswer(id) : null;
    return earlier === null ? answer : readAnswer(earlier);
  }
}

/** The reply to a launch, as it is stored, so that the same request gets it again. */
type LaunchAnswer = ({ message: string } | { refusal: Record<'missing' | 'started', string> }) & {
  /** Missing in answers of the first release. */
  devices?: DeviceOutcome[];
};

const count = (devices: number): string => `${devices} device${devices === 1 ? '' : 's'}`;
const hasStarted = (run: BegunRun): boolean => run.started_at !== null;

async function answerOf(
  runs: LaunchOutcome,
  { namesOf }: Pick<Dispatcher, 'namesOf'>,
): Promise<LaunchAnswer> {
  const [started, missing] = [runs.filter(hasStarted), runs.filter((run) => !hasStarted(run))];
  if (missing.length === 0)
    return { message: `Started on ${count(started.length)}.`, devices: started.map(startedRow) };
  const nameOf = await namesOf(runs.map((run) => run.device_id));
  const namesOfStarted = started.map((run) => nameOf(run.device_id));
  return {
    refusal: {
      missing: boundedList(
        missing.map((run) => `${nameOf(run.device_id)} (${run.error_message ?? 'no answer'})`),
      ),
      started: started.length === 0 ? 'none' : boundedList(namesOfStarted, ', '),
    },
    devices: runs.map((run) => (hasStarted(run) ? startedRow(run) : missingRow(run, nameOf(run.device_id)))),
  };
}

const startedRow = (run: BegunRun): DeviceOutcome => ({
  ...{ device_id: run.device_id, run_id: run.id },
  ...{ outcome: 'started', code: null, reason: null },
});

function missingRow(run: BegunRun, name: string): DeviceOutcome {
  const row = { device_id: run.device_id, run_id: run.id };
  if (run.error_code !== null)
    return {
      ...row,
      outcome: 'refused',
      code: run.error_code,
      reason: `${name}: ${run.error_message ?? ''}`,
    };
  const reason = `${name}: no answer in time; it does not begin any more.`;
  return { ...row, outcome: 'not_acknowledged', code: 'launch_not_acknowledged', reason };
}

/** Parses the stored JSON of an answer. */
function readAnswer(json: string): LaunchAnswer {
  // Nobody else writes the column.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(json) as LaunchAnswer;
}

/** Returns the reply of a success; throws a refusal. */
function deliver(answer: LaunchAnswer): LaunchReply {
  const { devices = [] } = answer;
  if ('message' in answer) return { success: true, message: answer.message, devices };
  throw ApiError.of('launch_not_acknowledged', answer.refusal, { devices });
}

/** The body of a success. */
export interface LaunchReply {
  success: true;
  message: string;
  devices: DeviceOutcome[];
}

/** Adds an outcome for each device to a refusal that has none: it means the same for all of them. */
export async function refusingEach<Result>(
  deviceIds: readonly string[],
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 400 || error.devices !== undefined) throw error;
    const { code, message: reason } = error;
    const ids = [...new Set(deviceIds)];
    throw error.withDevices(
      ids.map((device_id) => ({ device_id, outcome: 'refused', code, reason, run_id: null })),
    );
  }
}

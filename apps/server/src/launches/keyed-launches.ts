import { hash } from 'node:crypto';

import { ApiError } from '../errors/api-error.ts';
import { awaitOutcome, type Dispatcher, type LaunchOutcome } from './dispatch.ts';
import { answerOf, deliver, type LaunchAnswer, type LaunchReply, readAnswer } from './launch-answer.ts';
import type { StoredLaunch } from './store.ts';

/** A launch with a key of its caller's. */
interface KeyedLaunch {
  readonly userId: string;
  readonly launchId: string;
  /** Of what is asked for: another request with the same key is refused. */
  readonly fingerprint: string;
  /** Stores it and waits for the phones. Rejects when nothing was stored. */
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
  hash('sha256', JSON.stringify(request, inOrder), 'hex');

/** For `JSON.stringify`: the order of an object's keys says nothing. */
const inOrder = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value;

function requireSame({ launchId, fingerprint }: KeyedLaunch, known: string): void {
  if (fingerprint !== known) throw ApiError.of('launch_id_conflict', { launch_id: launchId });
}

/** Makes sure that a launch ID starts something once, whoever asks how often at whichever server. */
export class KeyedLaunches {
  readonly #dispatcher: Dispatcher;
  /** The launches that wait for their answer, by user and launch ID. */
  readonly #underWay = new Map<string, UnderWay>();

  constructor(dispatcher: Dispatcher) {
    this.#dispatcher = dispatcher;
  }

  /** The same without a key: each request starts something. */
  async startWithout(begin: KeyedLaunch['begin']): Promise<LaunchReply> {
    const { outcome } = await begin();
    return deliver(await answerOf(outcome, this.#dispatcher), this.#dispatcher.ackTimeoutMs);
  }

  /** Throws what the error table has for launches. */
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
    return deliver(await answer, this.#dispatcher.ackTimeoutMs);
  }

  async #answer(launch: KeyedLaunch): Promise<LaunchAnswer> {
    const earlier = await this.#repeated(launch);
    if (earlier !== undefined) return earlier;
    try {
      const { id, outcome } = await launch.begin();
      return await this.#remember(id, outcome);
    } catch (error) {
      // Another server was faster, and its runs may be what was in the way.
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

  /** A launch that is stored is never sent again; without an answer it has started, or the server stopped in the middle of it. */
  async #repeat(launch: StoredLaunch): Promise<LaunchAnswer> {
    if (launch.answer !== null) return readAnswer(launch.answer);
    return this.#remember(launch.id, await awaitOutcome(this.#dispatcher, launch.id));
  }

  async #remember(id: string, outcome: LaunchOutcome): Promise<LaunchAnswer> {
    const { launches } = this.#dispatcher;
    const answer = await answerOf(outcome, this.#dispatcher);
    if ('refusal' in answer) return readAnswer(await launches.saveAnswer(id, JSON.stringify(answer)));
    // That all have started is what the stored runs say too, unless somebody was told otherwise before they had.
    const isCalledOff = outcome.some((run) => run.stop_requested === 1);
    const earlier = isCalledOff ? await launches.findAnswer(id) : null;
    return earlier === null ? answer : readAnswer(earlier);
  }
}

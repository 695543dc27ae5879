import { hash } from 'node:crypto';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { stableJson } from '../../kernel/stable-json.ts';
import { awaitStoredStart, type LaunchOutcome, type StartWaits } from './await-start.ts';
import type { LaunchKey } from './launch.ts';
import { type LaunchAnswer, type NamesOf, answerOf, readAnswer } from './launch-reply.ts';
import type { LaunchStore, StoredLaunch } from './store.ts';

/** Digest of a request; the order of its keys does not matter. */
export const fingerprintOf = (request: readonly unknown[]): string =>
  hash('sha256', stableJson(request), 'hex');

/** Throws `launch_id_conflict` when the launch ID was used for another request. */
export function requireSame({ launchId, fingerprint }: LaunchKey, known: string): void {
  if (fingerprint !== known) throw ApiError.of('launch_id_conflict', { launch_id: launchId });
}

interface Options extends StartWaits {
  readonly launches: LaunchStore;
  readonly namesOf: NamesOf;
}

/** Answers of launches with a launch ID: the first answer is the answer to every repetition of the request. */
export class LaunchAnswers {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Answers a repetition; undefined when no launch is stored under the key. Throws `launch_id_conflict`. */
  async find(userId: string, key: LaunchKey): Promise<LaunchAnswer | undefined> {
    const earlier = await this.#options.launches.find(userId, key.launchId);
    return earlier === undefined ? undefined : this.repeat(key, earlier);
  }

  /**
   * Answers for a launch that is stored, which is never sent again. Without an answer it has started, or the server
   * stopped in the middle of it. Throws `launch_id_conflict`.
   */
  async repeat(key: LaunchKey, { id, fingerprint, answer }: StoredLaunch): Promise<LaunchAnswer> {
    requireSame(key, fingerprint);
    if (answer !== null) return readAnswer(answer);
    return this.answer(id, await awaitStoredStart(this.#options, id));
  }

  /** Makes the answer of a launch and stores it, unless another server has stored one; that one is returned. */
  async answer(id: string, outcome: LaunchOutcome): Promise<LaunchAnswer> {
    const { launches, namesOf } = this.#options;
    const made = await answerOf(outcome, namesOf);
    if ('refusal' in made) return readAnswer(await launches.saveAnswer(id, JSON.stringify(made)));
    // An answer that all runs have started need not be stored: the stored runs say so, too. Only a launch with a run
    // that was called off may have another answer, which was given before that run started.
    const isCalledOff = outcome.some((run) => run.stop_requested === 1);
    const earlier = isCalledOff ? await launches.findAnswer(id) : null;
    return earlier === null ? made : readAnswer(earlier);
  }
}

import { hash } from 'node:crypto';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { stableJson } from '../../kernel/stable-json.ts';
import { awaitStoredStart, type LaunchOutcome, type StartWaits } from './await-start.ts';
import type { LaunchKey } from './launch.ts';
import { type LaunchAnswer, type NamesOf, answerOf, readAnswer } from './launch-reply.ts';
import type { LaunchStore, StoredLaunch } from './store.ts';

/** Returns the digest of a request. The order of object keys does not matter. */
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

/**
 * Replies to launches with a launch ID. Every repeated request gets the reply of the first one, so launches are
 * idempotent.
 */
export class LaunchAnswers {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Returns the reply to a repeated request; undefined when no launch is stored under the key. Throws
   * `launch_id_conflict`.
   */
  async find(userId: string, key: LaunchKey): Promise<LaunchAnswer | undefined> {
    const earlier = await this.#options.launches.find(userId, key.launchId);
    return earlier === undefined ? undefined : this.repeat(key, earlier);
  }

  /**
   * Returns the reply to a stored launch, which is never sent again. A launch without a stored reply has started, or
   * the server stopped while it was in flight. Throws `launch_id_conflict`.
   */
  async repeat(key: LaunchKey, { id, fingerprint, answer }: StoredLaunch): Promise<LaunchAnswer> {
    requireSame(key, fingerprint);
    if (answer !== null) return readAnswer(answer);
    return this.answer(id, await awaitStoredStart(this.#options, id));
  }

  /** Creates and stores the reply to a launch. Returns the stored reply when another server was first. */
  async answer(id: string, outcome: LaunchOutcome): Promise<LaunchAnswer> {
    const { launches, namesOf } = this.#options;
    const made = await answerOf(outcome, namesOf);
    if ('refusal' in made) return readAnswer(await launches.saveAnswer(id, JSON.stringify(made)));
    // A reply that all runs have started need not be stored: the stored runs say the same. Another reply can exist only
    // for a launch with a called-off run, given before that run started.
    const isCalledOff = outcome.some((run) => run.stop_requested === 1);
    const earlier = isCalledOff ? await launches.findAnswer(id) : null;
    return earlier === null ? made : readAnswer(earlier);
  }
}

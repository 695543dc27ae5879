import { isDeepStrictEqual } from 'node:util';
import { type LaunchSecrets, SecretMatcher } from '@phalanx/protocol';
import { LRUCache } from 'lru-cache';

import { TimeSlice } from '../../kernel/limits/time-slice.ts';
import { minuteMs } from '../../kernel/durations.ts';

interface Kept {
  readonly values: readonly string[];
  readonly matcher: Promise<SecretMatcher>;
}

/**
 * Limit of cached values in UTF-16 units, each of which takes some 25 bytes. The least recently used projects make
 * room.
 */
const maxKeptUnits = 4 * 1024 * 1024;
const keptMs = 10 * minuteMs;

/** Cache of matchers for the secrets of projects, each built once for the present secrets. */
export class ProjectMatchers {
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: maxKeptUnits,
    ttl: keptMs,
    sizeCalculation: ({ values }) => values.reduce((sum, { length }) => sum + length, 1),
  });

  /**
   * Returns the matcher of a project. `secrets`: its secrets as the database has them now. Yields to other work while
   * it builds.
   */
  of(projectId: string, secrets: LaunchSecrets): Promise<SecretMatcher> {
    const values = Object.values(secrets);
    const kept = this.#kept.get(projectId);
    if (kept !== undefined && isDeepStrictEqual(kept.values, values)) return kept.matcher;
    const matcher = new TimeSlice().run(SecretMatcher.building(values));
    if (values.length > 0) this.#kept.set(projectId, { values, matcher });
    return matcher;
  }
}

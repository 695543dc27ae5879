import { isDeepStrictEqual } from 'node:util';
import { type LaunchSecrets, SecretMatcher } from '@phalanx/protocol';
import { LRUCache } from 'lru-cache';

import { TimeSlice } from '../../kernel/limits/time-slice.ts';
import { minuteMs } from '@phalanx/timing/durations';

interface Kept {
  readonly values: readonly string[];
  readonly matcher: Promise<SecretMatcher>;
}

/**
 * Maximum total length of cached values in UTF-16 units, each of which takes about 25 bytes. The least recently used
 * projects are evicted.
 */
const maxKeptUnits = 4 * 1024 * 1024;
const keptMs = 10 * minuteMs;

/** Cache of matchers for the secrets of projects. A matcher is rebuilt only when the secrets change. */
export class ProjectMatchers {
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: maxKeptUnits,
    ttl: keptMs,
    sizeCalculation: ({ values }) => values.reduce((sum, { length }) => sum + length, 1),
  });

  /**
   * Returns the matcher of a project. `secrets`: the project's current secrets. Yields to other work while building.
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

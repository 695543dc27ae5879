import { isDeepStrictEqual } from 'node:util';
import { type LaunchSecrets, SecretMatcher } from '@phalanx/protocol';
import { LRUCache } from 'lru-cache';

import { TimeSlice } from '../../kernel/limits/time-slice.ts';

interface Kept {
  readonly values: readonly string[];
  readonly matcher: Promise<SecretMatcher>;
}

/** In UTF-16 units of values, each of which takes some 25 bytes; the projects that were not asked for longest make room. */
const maxKeptUnits = 4 * 1024 * 1024;
const keptMs = 10 * 60 * 1000;

/** Matchers of the secrets of projects, built once for the secrets as they are. */
export class ProjectMatchers {
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: maxKeptUnits,
    ttl: keptMs,
    sizeCalculation: ({ values }) => values.reduce((sum, { length }) => sum + length, 1),
  });

  /** `secrets`: those of the project as the database has them now. Others have turns while it is built. */
  of(projectId: string, secrets: LaunchSecrets): Promise<SecretMatcher> {
    const values = Object.values(secrets);
    const kept = this.#kept.get(projectId);
    if (kept !== undefined && isDeepStrictEqual(kept.values, values)) return kept.matcher;
    const matcher = new TimeSlice().run(SecretMatcher.building(values));
    if (values.length > 0) this.#kept.set(projectId, { values, matcher });
    return matcher;
  }
}

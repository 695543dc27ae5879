import type { FleetDevice } from '../../fleet/devices/fleet-device.ts';
import type { SecretGrants } from '../../code/secrets/secret-grants.ts';
import type { StoredJob } from './store.ts';

/**
 * Maximum age of the cache. A phone is offered to the jobs of several users in one pass, which reads nothing. The
 * launch itself checks again.
 */
const knownMs = 10_000;

/** Cache of the users whose hosts get the secrets of projects with waiting jobs, up to some seconds stale. */
export class SecretReceivers {
  readonly #grants: Pick<SecretGrants, 'listReceivers'>;
  /** Receivers by project; null when the project has no secrets. */
  #known = new Map<string, ReadonlySet<string> | null>();
  #readAt = performance.now();
  /** Projects that were requested since `#readAt`. */
  #asked = new Set<string>();
  readonly #missing = new Set<string>();

  constructor(grants: Pick<SecretGrants, 'listReceivers'>) {
    this.#grants = grants;
  }

  /**
   * Whether the phone's host gets no secrets of the project, or this is not cached. `readMissing` reads what is not
   * cached.
   */
  areWithheld(
    job: Pick<StoredJob, 'user_id' | 'project_id'>,
    { ownerId }: Pick<FleetDevice, 'ownerId'>,
  ): boolean {
    // A user who may launch the project is its owner or an editor, and so gets its secrets.
    if (ownerId === job.user_id) return false;
    this.#asked.add(job.project_id);
    const known = this.#known.get(job.project_id);
    if (known === undefined) this.#missing.add(job.project_id);
    return known === undefined || known?.has(ownerId) === false;
  }

  /**
   * Refreshes a stale cache. Call it before phones are offered: each phone checks every job of a project that is not
   * cached.
   */
  async refresh(): Promise<void> {
    if (performance.now() - this.#readAt <= knownMs) return;
    const asked = [...this.#asked];
    this.#asked = new Set();
    this.#readAt = performance.now();
    this.#known = await this.#read(asked);
  }

  /** Reads the projects that were not cached. Returns false when there were none. */
  async readMissing(): Promise<boolean> {
    const missing = [...this.#missing];
    this.#missing.clear();
    if (missing.length === 0) return false;
    for (const [projectId, receivers] of await this.#read(missing)) this.#known.set(projectId, receivers);
    return true;
  }

  async #read(projectIds: readonly string[]): Promise<Map<string, ReadonlySet<string> | null>> {
    if (projectIds.length === 0) return new Map();
    const receivers = await this.#grants.listReceivers(projectIds);
    return new Map(projectIds.map((id) => [id, receivers.get(id) ?? null]));
  }
}

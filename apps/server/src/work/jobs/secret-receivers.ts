import type { FleetDevice } from '../../fleet/devices/fleet-device.ts';
import type { SecretGrants } from '../../code/secrets/secret-grants.ts';
import type { StoredJob } from './store.ts';

/** A phone is offered to the jobs of several users in one turn, which reads nothing. The launch itself asks anew. */
const knownMs = 10_000;

/** Cache of the users whose hosts get the secrets of projects with waiting jobs, some seconds old. */
export class SecretReceivers {
  readonly #grants: Pick<SecretGrants, 'listReceivers'>;
  /** By project; null: it has no secrets. */
  readonly #known = new Map<string, ReadonlySet<string> | null>();
  #knownSince = performance.now();
  readonly #missing = new Set<string>();

  constructor(grants: Pick<SecretGrants, 'listReceivers'>) {
    this.#grants = grants;
  }

  /** Whether the phone's host gets none, or it is not known: `readMissing` reads it. */
  areWithheld(
    job: Pick<StoredJob, 'user_id' | 'project_id'>,
    { ownerId }: Pick<FleetDevice, 'ownerId'>,
  ): boolean {
    // A user who may launch the project is its owner or an editor, and so gets its secrets.
    if (ownerId === job.user_id) return false;
    // Forgets all at once: projects that are forgotten one by one might be read for ever.
    if (performance.now() - this.#knownSince > knownMs) this.#forgetAll();
    const known = this.#known.get(job.project_id);
    if (known === undefined) this.#missing.add(job.project_id);
    return known === undefined || known?.has(ownerId) === false;
  }

  #forgetAll(): void {
    this.#known.clear();
    this.#knownSince = performance.now();
  }

  /** False: there was nothing to be read. */
  async readMissing(): Promise<boolean> {
    const missing = [...this.#missing];
    this.#missing.clear();
    if (missing.length === 0) return false;
    const receivers = await this.#grants.listReceivers(missing);
    for (const projectId of missing) this.#known.set(projectId, receivers.get(projectId) ?? null);
    return true;
  }
}

import type { ProjectRole } from '@phalanx/protocol';
import { boundedCache } from '../bounded-cache.ts';

import type { ProjectStore } from './store.ts';

type Roles = ReadonlyMap<string, ProjectRole>;

const maxRemembered = 10_000;

/** Who has which part in a project; in memory, because every reader of logs and events asks. */
export class ProjectPeople {
  readonly #store: ProjectStore;
  readonly #known = boundedCache<Roles>(maxRemembered);
  #changes = 0;

  constructor(store: ProjectStore) {
    this.#store = store;
  }

  /** Empty for what is no project. */
  async of(projectId: string): Promise<Roles> {
    const known = this.#known.get(projectId);
    if (known !== undefined) return known;
    const changesBefore = this.#changes;
    const roles: Roles = new Map(
      (await this.#store.listRoles(projectId)).map(({ user_id: userId, role }) => [userId, role]),
    );
    // What was read before a change must not be kept after it.
    if (changesBefore === this.#changes) this.#known.set(projectId, roles);
    return roles;
  }

  /** Call it when another server may have changed the members of some project. */
  forgetAll(): void {
    this.#changes += 1;
    this.#known.clear();
  }

  /** Call it after the members of a project have changed, or it is gone. */
  forget(projectId: string): void {
    this.#changes += 1;
    this.#known.delete(projectId);
  }
}

import { accessRoutes, type AuditSubject, type User } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { readPage } from '../requests/replies/page.ts';
import { requireName } from '../requests/require-name.ts';
import { addRoute } from '../requests/route.ts';
import type { AccessStore, StoredUser } from './store.ts';
import { isUniqueViolation } from '../../storage/db/dialect.ts';

/** Resources of a user beyond the tables that refer to them. */
export interface OwnedResources {
  listProjects(userId: string): Promise<string[]>;
  /** Removes their projects, devices and records. */
  remove(userId: string): Promise<void>;
  /** Drops the cached resources. Call it after the user's rows are deleted, or they would be cached again. */
  forget(userId: string): void;
}

interface UserRoutesOptions {
  store: AccessStore;
  clock: Clock;
  ownedResources: OwnedResources;
  /** Called with the current name of a user that has changed. */
  onNamed: (userId: string, name: string) => void;
}

/** `GET, POST /users` · `PATCH, DELETE /users/:id` */
export function addUserRoutes(app: FastifyInstance, options: UserRoutesOptions): void {
  const { store, clock, ownedResources, onNamed } = options;

  addRoute(app, accessRoutes.listUsers, async ({ query }) => {
    const { items, next_cursor } = await readPage(
      query,
      (part) => store.listUsers({ ...part, search: query.search }),
      ({ id }) => id,
    );
    return { success: true, users: items.map(userView), next_cursor };
  });

  addRoute(app, accessRoutes.createUser, async ({ body, auditEvent }) => {
    const name = requireName(body.name);
    const made = { id: uuidv7(), name, role: 'user' as const, created_at: clock.now() };
    auditEvent.on(subjectOf(made), [made.id]);
    const user = await store.insertUser(made).catch((error: unknown) => {
      throw explainUserName(error, name);
    });
    return { success: true, user: userView(user) };
  });

  addRoute(app, accessRoutes.updateUser, async ({ params, body, auditEvent }) => {
    const before = await getUser(params.id);
    const user = changed(before, body);
    auditEvent.on(subjectOf(before), [user.id], body);
    await update(user);
    onNamed(user.id, user.name);
    return { success: true, user: userView(user) };
  });

  addRoute(app, accessRoutes.deleteUser, async ({ params, query, auditEvent }) => {
    const user = await getUser(params.id);
    const { length: count } = await ownedResources.listProjects(user.id);
    if (count > 0 && query.projects !== 'delete')
      throw ApiError.of('user_owns_projects', { user_id: user.id, count });
    // Disable the user first, so that nothing new is created meanwhile. A repeated request deletes what a crash left.
    await update({ ...user, disabled_at: user.disabled_at ?? clock.now() });
    await ownedResources.remove(user.id);
    auditEvent.on(subjectOf(user), [user.id], { projects: count });
    await store.deleteUser(user.id);
    ownedResources.forget(user.id);
    return { success: true, message: `User "${user.name}" was deleted.` };
  });

  async function getUser(id: string): Promise<StoredUser> {
    const user = await store.findUser(id.toLowerCase());
    if (user === undefined) throw ApiError.of('user_not_found', { user_id: id });
    return user;
  }

  function changed(user: StoredUser, change: Static<typeof accessRoutes.updateUser.body>): StoredUser {
    const disabledAt = change.disabled === true ? (user.disabled_at ?? clock.now()) : null;
    return {
      ...user,
      name: change.name === undefined ? user.name : requireName(change.name),
      role: change.role ?? user.role,
      disabled_at: change.disabled === undefined ? user.disabled_at : disabledAt,
    };
  }

  async function update(user: StoredUser): Promise<void> {
    const isUpdated = await store.updateUser(user).catch((error: unknown) => {
      throw explainUserName(error, user.name);
    });
    if (!isUpdated) throw ApiError.of('last_administrator', { user_id: user.id });
  }
}

const subjectOf = ({ id, name }: Pick<StoredUser, 'id' | 'name'>): AuditSubject => ({
  type: 'user',
  id,
  name,
});

export function userView({ id, name, role, created_at, disabled_at }: StoredUser): User {
  return { id, name, role, created_at, disabled_at };
}

/** Converts the error of a taken name to one for the caller. */
const explainUserName = (error: unknown, name: string): unknown =>
  isUniqueViolation(error) ? ApiError.of('user_name_taken', { name }, { cause: error }) : error;

import type { MemberRole, ProjectMember, ProjectRole } from '@phalanx/protocol';
import { sql } from 'kysely';
import type { Acceptance } from '../../http/acceptance.ts';
import { change } from '../../storage/db/change-note.ts';
import type { Db } from '../../storage/db/database.ts';
import { countRows, roomWithin } from '../../storage/db/quota.ts';
import { hasPart, nameKey } from '../../storage/db/dialect.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import { invalidate } from '../../storage/db/invalidate.ts';

export type StoredProject = Pick<Row<'project'>, 'id' | 'owner_id' | 'name' | 'created_at' | 'changed_at'>;
export type NewProject = Omit<StoredProject, 'changed_at'>;
/** Project with the role that one user has in it. */
export type SharedProject = StoredProject & {
  role: ProjectRole;
  /** Whether the user owns the project or has accepted it. */
  isAccepted: boolean;
};

interface MembershipOfUser {
  readonly user_id: string;
  readonly role: ProjectRole;
  readonly isAccepted: boolean;
}

interface NewMember {
  readonly projectId: string;
  readonly userId: string;
  readonly role: MemberRole;
  /** Epoch ms. */
  readonly now: number;
}

export interface ProjectFilter {
  userId: string;
  /** IDs of the visible projects. Null means all projects of the user. */
  ids: ReadonlySet<string> | null;
  /** Whole name, case-insensitive. `search` is a part of the name. */
  name: string | undefined;
  search: string | undefined;
  /** ID of a project. Only older projects are listed. */
  cursor: string | undefined;
  limit: number;
}

const countOwned = (db: Db, userId: string): Promise<number> =>
  countRows(db.selectFrom('project').where('owner_id', '=', userId));

export type ProjectStore = ReturnType<typeof createProjectStore>;

/** Creates the store of projects and their members. IDs are UUIDv7, so their order is the order of creation. */
export function createProjectStore(db: Db) {
  const shared = (userId: string) =>
    db
      .selectFrom('project')
      .leftJoin('project_member as member', (join) =>
        join.onRef('member.project_id', '=', 'project.id').on('member.user_id', '=', userId),
      )
      .select(['project.id', 'project.owner_id', 'project.name', 'project.created_at', 'project.changed_at'])
      .select((eb) =>
        eb
          .case()
          .when('project.owner_id', '=', userId)
          .then(sql.lit<ProjectRole>('owner'))
          .else(eb.ref('member.role'))
          .end()
          .as('role'),
      )
      .select('member.accepted_at')
      .where((eb) => eb.or([eb('project.owner_id', '=', userId), eb('member.user_id', '=', userId)]));

  return {
    /** Finds a project of the user. Undefined when the user is neither its owner nor a member. */
    async findShared(userId: string, id: string): Promise<SharedProject | undefined> {
      const row = await shared(userId).where('project.id', '=', id).executeTakeFirst();
      return row === undefined ? undefined : withRole(row);
    },

    async listShared(filter: ProjectFilter): Promise<SharedProject[]> {
      let query = shared(filter.userId);
      if (filter.ids !== null) query = query.where('project.id', 'in', [...filter.ids]);
      if (filter.name !== undefined) query = query.where('project.name_key', '=', nameKey(filter.name));
      if (filter.search !== undefined)
        query = query.where(hasPart(db, sql.ref('project.name_key'), sql`${nameKey(filter.search)}`));
      if (filter.cursor !== undefined) query = query.where('project.id', '<', filter.cursor);
      const rows = await query.orderBy('project.id', 'desc').limit(filter.limit).execute();
      return rows.map(withRole);
    },

    async listOwned(userId: string): Promise<string[]> {
      const rows = await db.selectFrom('project').select('id').where('owner_id', '=', userId).execute();
      return rows.map(({ id }) => id);
    },

    async listIds(): Promise<Set<string>> {
      const rows = await db.selectFrom('project').select('id').execute();
      return new Set(rows.map((row) => row.id));
    },

    /** Inserts a project. Stores nothing and returns false when the owner already has `max` projects. */
    insertWithin: (project: NewProject, max: number): Promise<boolean> =>
      change(db, async (transaction) => {
        const quota = { kind: 'projects', owner: project.owner_id, max };
        const room = await roomWithin(transaction, quota, () => countOwned(transaction, project.owner_id));
        if (room < 1) return false;
        await transaction
          .insertInto('project')
          .values({ ...project, name_key: nameKey(project.name) })
          .execute();
        return true;
      }),

    countOwned: (userId: string): Promise<number> => countOwned(db, userId),

    rename: (id: string, name: string): Promise<unknown> =>
      change(db, (transaction) =>
        transaction
          .updateTable('project')
          .set({ name, name_key: nameKey(name) })
          .where('id', '=', id)
          .execute(),
      ),

    findSize: (id: string): Promise<{ owner_id: string; size_bytes: number } | undefined> =>
      db.selectFrom('project').select(['owner_id', 'size_bytes']).where('id', '=', id).executeTakeFirst(),

    async growSize(id: string, bytes: number): Promise<void> {
      await db
        .updateTable('project')
        .set((eb) => ({ size_bytes: eb('size_bytes', '+', bytes) }))
        .where('id', '=', id)
        .execute();
    },

    async setSize(id: string, sizeBytes: number): Promise<void> {
      await db.updateTable('project').set({ size_bytes: sizeBytes }).where('id', '=', id).execute();
    },

    async findUserName(id: string): Promise<string | undefined> {
      const row = await db.selectFrom('user').select('name').where('id', '=', id).executeTakeFirst();
      return row?.name;
    },

    async listMembers(projectId: string, afterUserId: string, limit: number): Promise<ProjectMember[]> {
      const rows = await db
        .selectFrom('project_member as member')
        .innerJoin('user', 'user.id', 'member.user_id')
        .select(['member.user_id', 'user.name', 'member.role', 'member.accepted_at'])
        .where('member.project_id', '=', projectId)
        .where('member.user_id', '>', afterUserId)
        .orderBy('member.user_id')
        .limit(limit)
        .execute();
      return rows.map(({ accepted_at: at, ...member }) => ({ ...member, accepted: at !== null }));
    },

    /** Lists the owner and all members. */
    async listRoles(projectId: string): Promise<MembershipOfUser[]> {
      const owner = db
        .selectFrom('project')
        .select(['owner_id as user_id', sql.lit<ProjectRole>('owner').as('role')])
        .select('created_at as accepted_at')
        .where('id', '=', projectId);
      const members = db
        .selectFrom('project_member')
        .select(['user_id', sql<ProjectRole>`role`.as('role'), sql<number>`accepted_at`.as('accepted_at')])
        .where('project_id', '=', projectId);
      const rows: { user_id: string; role: ProjectRole; accepted_at: number | null }[] = await owner
        .unionAll(members)
        .execute();
      return rows.map(({ user_id, role, accepted_at: at }) => ({ user_id, role, isAccepted: at !== null }));
    },

    /** Adds or changes a member. The member must accept a stronger role again. */
    putMember: ({ projectId, userId, role, now }: NewMember): Promise<{ isAccepted: boolean }> =>
      change(db, async (transaction) => {
        const row = await transaction
          .insertInto('project_member')
          .values({ project_id: projectId, user_id: userId, role, shared_at: now, accepted_at: null })
          .onConflict((conflict) =>
            conflict.columns(['project_id', 'user_id']).doUpdateSet({
              role,
              accepted_at: sql`CASE WHEN excluded.role IN (project_member.role, 'shared_viewer') THEN project_member.accepted_at END`,
            }),
          )
          .returning('accepted_at')
          .executeTakeFirstOrThrow();
        await invalidate(transaction, 'people');
        return { isAccepted: row.accepted_at !== null };
      }),

    /**
     * Accepts a role. False when the user is not a member, or has another role. A role accepted earlier keeps its time.
     */
    accept: (projectId: string, { userId, role, now }: Acceptance): Promise<boolean> =>
      change(db, async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('project_member')
          .set((eb) => ({ accepted_at: eb.fn.coalesce('accepted_at', eb.val(now)) }))
          .where('project_id', '=', projectId)
          .where('user_id', '=', userId)
          .where(role === undefined ? sql.lit(true) : sql<boolean>`role = ${role}`)
          .executeTakeFirst();
        await invalidate(transaction, 'people');
        return numUpdatedRows > 0n;
      }),

    /** Deletes a member. False when the user was not a member. */
    deleteMember: (projectId: string, userId: string): Promise<boolean> =>
      change(db, async (transaction) => {
        const result = await transaction
          .deleteFrom('project_member')
          .where('project_id', '=', projectId)
          .where('user_id', '=', userId)
          .executeTakeFirst();
        await invalidate(transaction, 'people');
        return result.numDeletedRows > 0n;
      }),
  };
}

/** Adds the role and whether it is accepted. Every row has a role: it is either the owner's or a member's. */
function withRole({
  role,
  accepted_at: at,
  ...project
}: StoredProject & { role: ProjectRole | null; accepted_at: number | null }): SharedProject {
  return { ...project, role: role ?? 'shared_viewer', isAccepted: role === 'owner' || at !== null };
}

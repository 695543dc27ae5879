import type { Scope } from '@phalanx/protocol';

import { sql, type Kysely } from 'kysely';

import type { Db } from '../db/database.ts';
import { nameKey, namePattern } from '../db/name-key.ts';

interface UserRow {
  id: string;
  name: string;
  /** See `nameKey`: unique. */
  name_key: string;
  role: 'admin' | 'user';
  created_at: number;
  /** Epoch ms; null: they may come in. */
  disabled_at: number | null;
}

interface TokenRow {
  id: string;
  user_id: string;
  name: string;
  hash: string;
  scopes: string;
  project_ids: string | null;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  /** The token that it was made with. */
  parent_id: string | null;
}

// A type, not an interface: only that has the index signature kysely asks for.
type Tables = {
  user: UserRow;
  token: TokenRow;
};

export type StoredUser = Omit<UserRow, 'name_key'>;

export type NewUser = Omit<StoredUser, 'disabled_at'>;

export interface StoredToken {
  id: string;
  userId: string;
  name: string;
  scopes: Scope[];
  projectIds: string[] | null;
  createdAt: number;
  expiresAt: number | null;
  lastUsedAt: number | null;
  /** The token that it was made with: it is revoked with that. */
  parentId: string | null;
}

/** One more than `limit` are read, so that the caller knows whether there are more. */
interface ListPart {
  /** The ID of the last one of the page before. */
  cursor: string | undefined;
  limit: number;
}

export type NewToken = Omit<StoredToken, 'lastUsedAt'> & { hash: string };

// Nobody but `toRow` writes the columns.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const parseList = <Item extends string>(json: string): Item[] => JSON.parse(json) as Item[];

function toToken(row: TokenRow): StoredToken {
  return {
    id: row.id,
    userId: row.user_id,
    name: row.name,
    scopes: parseList<Scope>(row.scopes),
    projectIds: row.project_ids === null ? null : parseList(row.project_ids),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    parentId: row.parent_id,
  };
}

function toRow(token: NewToken): TokenRow {
  return {
    id: token.id,
    user_id: token.userId,
    name: token.name,
    hash: token.hash,
    scopes: JSON.stringify(token.scopes),
    project_ids: token.projectIds === null ? null : JSON.stringify(token.projectIds),
    created_at: token.createdAt,
    expires_at: token.expiresAt,
    last_used_at: null,
    parent_id: token.parentId,
  };
}

interface TokenFilter {
  userId: string | undefined;
  /** Only this token and those that were made with it, directly or not. */
  ancestorId?: string;
}

const family = (id: string) => sql<string>`(
  WITH RECURSIVE family(id) AS (
    SELECT ${id} UNION SELECT token.id FROM token JOIN family ON token.parent_id = family.id)
  SELECT id FROM family)`;

export type AccessStore = ReturnType<typeof createAccessStore>;

async function countTokens(db: Kysely<Tables>, userId: string): Promise<number> {
  const row = await db
    .selectFrom('token')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return row.count;
}

/** Users and tokens. */
export function createAccessStore(database: Db) {
  const db = database.withTables<Tables>();
  const administrators = db
    .selectFrom('user')
    .selectAll()
    .where('role', '=', 'admin')
    .where('disabled_at', 'is', null);
  return {
    findUser: (id: string): Promise<StoredUser | undefined> =>
      db.selectFrom('user').selectAll().where('id', '=', id).executeTakeFirst(),

    async listUsers(part: ListPart & { search: string | undefined }): Promise<StoredUser[]> {
      let query = db
        .selectFrom('user')
        .selectAll()
        .orderBy('id')
        .limit(part.limit + 1);
      if (part.cursor !== undefined) query = query.where('id', '>', part.cursor);
      if (part.search !== undefined)
        query = query.where(sql<boolean>`name_key LIKE ${namePattern(part.search)} ESCAPE '\\'`);
      return query.execute();
    },

    findAdministrator: (): Promise<StoredUser | undefined> =>
      administrators.orderBy('id').limit(1).executeTakeFirst(),

    async countAdministrators(): Promise<number> {
      return (await administrators.execute()).length;
    },

    /** Throws what `isUniqueViolation` knows when the name is taken. */
    async updateUser({ id, ...changes }: StoredUser): Promise<void> {
      const row = { ...changes, name_key: nameKey(changes.name) };
      await db.updateTable('user').set(row).where('id', '=', id).execute();
    },

    /** With all that refers to them. */
    async deleteUser(id: string): Promise<void> {
      await db.deleteFrom('user').where('id', '=', id).execute();
    },

    async listTokenIds(userId: string): Promise<string[]> {
      const rows = await db.selectFrom('token').select('id').where('user_id', '=', userId).execute();
      return rows.map(({ id }) => id);
    },

    /** Those that are no projects in which the user has a part. */
    async findForeignProjects(userId: string, projectIds: readonly string[]): Promise<string[]> {
      const { rows } = await sql<{ id: string }>`
        SELECT value AS id FROM json_each(${JSON.stringify(projectIds)}) WHERE value NOT IN (
          SELECT id FROM project WHERE owner_id = ${userId}
          UNION SELECT project_id FROM project_member WHERE user_id = ${userId})`.execute(db);
      return rows.map(({ id }) => id);
    },

    /** Throws what `isUniqueViolation` knows when the name is taken. */
    async insertUser(user: NewUser): Promise<StoredUser> {
      const row = { ...user, name_key: nameKey(user.name), disabled_at: null };
      await db.insertInto('user').values(row).execute();
      return row;
    },

    async insertToken(token: NewToken): Promise<void> {
      await db.insertInto('token').values(toRow(token)).execute();
    },

    /** False, and nothing is stored, when the user has `most` tokens already. */
    async insertTokenWithin(token: NewToken, most: number): Promise<boolean> {
      return db.transaction().execute(async (transaction) => {
        if ((await countTokens(transaction, token.userId)) >= most) return false;
        await transaction.insertInto('token').values(toRow(token)).execute();
        return true;
      });
    },

    countTokens: (userId: string): Promise<number> => countTokens(db, userId),

    async listTokens(part: ListPart & TokenFilter): Promise<StoredToken[]> {
      let query = db
        .selectFrom('token')
        .selectAll()
        .orderBy('id')
        .limit(part.limit + 1);
      if (part.userId !== undefined) query = query.where('user_id', '=', part.userId);
      const { ancestorId } = part;
      if (ancestorId !== undefined) query = query.where('id', 'in', family(ancestorId));
      if (part.cursor !== undefined) query = query.where('id', '>', part.cursor);
      return (await query.execute()).map(toToken);
    },

    async findToken(id: string): Promise<StoredToken | undefined> {
      const row = await db.selectFrom('token').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toToken(row);
    },

    /** The newest of that name. */
    async findTokenNamed(userId: string, name: string): Promise<StoredToken | undefined> {
      const row = await db
        .selectFrom('token')
        .selectAll()
        .where('user_id', '=', userId)
        .where('name', '=', name)
        .orderBy('id', 'desc')
        .executeTakeFirst();
      return row && toToken(row);
    },

    async findTokenByHash(hash: string): Promise<{ token: StoredToken; user: StoredUser } | undefined> {
      const row = await db.selectFrom('token').selectAll().where('hash', '=', hash).executeTakeFirst();
      if (row === undefined) return undefined;
      const user = await db
        .selectFrom('user')
        .selectAll()
        .where('id', '=', row.user_id)
        .executeTakeFirstOrThrow();
      return { token: toToken(row), user };
    },

    /** With those that were made with it. Returns the IDs of all. */
    async deleteToken(id: string): Promise<string[]> {
      const rows = await db.deleteFrom('token').where('id', 'in', family(id)).returning('id').execute();
      return rows.map((row) => row.id);
    },

    async isInFamily(id: string, ancestorId: string): Promise<boolean> {
      const row = await db
        .selectFrom('token')
        .select('id')
        .where('id', '=', id)
        .where('id', 'in', family(ancestorId))
        .executeTakeFirst();
      return row !== undefined;
    },

    /** What was made with the token stays when it goes. */
    async releaseChildren(id: string): Promise<void> {
      await db.updateTable('token').set({ parent_id: null }).where('parent_id', '=', id).execute();
    },

    async deleteTokensNamed(userId: string, name: string): Promise<void> {
      await db.deleteFrom('token').where('user_id', '=', userId).where('name', '=', name).execute();
    },

    async noteUse(lastUses: ReadonlyMap<string, number>): Promise<void> {
      await db.transaction().execute(async (transaction) => {
        for (const [id, at] of lastUses) {
          await transaction.updateTable('token').set({ last_used_at: at }).where('id', '=', id).execute();
        }
      });
    },
  };
}

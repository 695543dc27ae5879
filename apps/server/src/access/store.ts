import type { Scope } from '@phalanx/protocol';

import type { Db } from '../db/database.ts';

interface UserRow {
  id: string;
  name: string;
  role: 'admin' | 'user';
  created_at: number;
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
}

// A type, not an interface: only that has the index signature kysely asks for.
type Tables = {
  user: UserRow;
  token: TokenRow;
};

export type StoredUser = UserRow;

export interface StoredToken {
  id: string;
  userId: string;
  name: string;
  scopes: Scope[];
  projectIds: string[] | null;
  createdAt: number;
  expiresAt: number | null;
  lastUsedAt: number | null;
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
  };
}

export type AccessStore = ReturnType<typeof createAccessStore>;

/** Users and tokens. */
export function createAccessStore(database: Db) {
  const db = database.withTables<Tables>();
  return {
    findUser: (id: string): Promise<StoredUser | undefined> =>
      db.selectFrom('user').selectAll().where('id', '=', id).executeTakeFirst(),

    listUsers: (): Promise<StoredUser[]> => db.selectFrom('user').selectAll().orderBy('id').execute(),

    async insertUser(user: StoredUser): Promise<void> {
      await db.insertInto('user').values(user).execute();
    },

    async insertToken(token: NewToken): Promise<void> {
      await db.insertInto('token').values(toRow(token)).execute();
    },

    async listTokens(userId?: string): Promise<StoredToken[]> {
      let query = db.selectFrom('token').selectAll().orderBy('id');
      if (userId !== undefined) query = query.where('user_id', '=', userId);
      return (await query.execute()).map(toToken);
    },

    async findToken(id: string): Promise<StoredToken | undefined> {
      const row = await db.selectFrom('token').selectAll().where('id', '=', id).executeTakeFirst();
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

    async deleteToken(id: string): Promise<void> {
      await db.deleteFrom('token').where('id', '=', id).execute();
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

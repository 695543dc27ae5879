import type { Scope } from '@phalanx/protocol';
import { sql } from 'kysely';
import { change } from '../../storage/db/change-note.ts';
import type { Db } from '../../storage/db/database.ts';
import { countRows, roomWithin } from '../../storage/db/quota.ts';
import { serialize, transact } from '../../storage/db/transactions.ts';
import { invalidate } from '../../storage/db/invalidate.ts';
import { hasPart, nameKey, textsIn } from '../../storage/db/dialect.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import { readTokenUse, type TokenUse } from '../../storage/db/token-use.ts';

type TokenRow = Row<'token'>;

export type StoredUser = Omit<Row<'user'>, 'name_key'>;

export type UserChanges = Pick<StoredUser, 'id'> & Partial<Omit<StoredUser, 'created_at'>>;

export type NewUser = Omit<StoredUser, 'disabled_at'>;

export interface StoredToken {
  id: string;
  userId: string;
  name: string;
  scopes: Scope[];
  projectIds: string[] | null;
  /** Selector of the only phones that the token reaches; null: all of its user. */
  selector: string | null;
  /** Maximum number of phones on which one launch with it may start; null: any number. */
  maxPhones: number | null;
  /** The only apps that the token may use on phones; null: all. */
  apps: string[] | null;
  /** Maximum number of runs that it may begin in a day; null: any number. */
  runsPerDay: number | null;
  /** Maximum time that its runs may take in a day, together, in minutes; null: any time. */
  minutesPerDay: number | null;
  createdAt: number;
  expiresAt: number | null;
  lastUsedAt: number | null;
  /** The token that created this one, and is revoked together with it. */
  parentId: string | null;
}

export const hasBudget = ({ runsPerDay, minutesPerDay }: StoredToken): boolean =>
  runsPerDay !== null || minutesPerDay !== null;

/** Part of a list. One more item than `limit` is read, to show whether more follow. */
interface ListPart {
  /** ID of the last item of the previous page. */
  cursor: string | undefined;
  limit: number;
}

export type NewToken = Omit<StoredToken, 'lastUsedAt'> & { hash: string };

// The columns are written by `toRow` alone.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const parseList = <Item extends string>(json: string): Item[] => JSON.parse(json) as Item[];

function toToken(row: TokenRow): StoredToken {
  return {
    id: row.id,
    userId: row.user_id,
    name: row.name,
    scopes: parseList<Scope>(row.scopes),
    projectIds: row.project_ids === null ? null : parseList(row.project_ids),
    selector: row.selector,
    maxPhones: row.max_phones,
    apps: row.apps === null ? null : parseList(row.apps),
    runsPerDay: row.runs_per_day,
    minutesPerDay: row.minutes_per_day,
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
    selector: token.selector,
    max_phones: token.maxPhones,
    apps: token.apps === null ? null : JSON.stringify(token.apps),
    runs_per_day: token.runsPerDay,
    minutes_per_day: token.minutesPerDay,
    created_at: token.createdAt,
    expires_at: token.expiresAt,
    last_used_at: null,
    parent_id: token.parentId,
  };
}

interface TokenFilter {
  userId: string | undefined;
  /** Limits the list to this token and those that were made with it, directly or not. */
  ancestorId?: string;
}

const family = (id: string) => sql<string>`(
  WITH RECURSIVE family(id) AS (
    SELECT id FROM token WHERE id = ${id} UNION SELECT token.id FROM token JOIN family ON token.parent_id = family.id)
  SELECT id FROM family)`;

export type AccessStore = ReturnType<typeof createAccessStore>;

const countTokens = (db: Db, userId: string): Promise<number> =>
  countRows(db.selectFrom('token').where('user_id', '=', userId));

const activeAdministrators = (db: Db) =>
  db.selectFrom('user').where('role', '=', 'admin').where('disabled_at', 'is', null);

/** Users and tokens. */
export function createAccessStore(db: Db) {
  return {
    findUser: (id: string): Promise<StoredUser | undefined> =>
      db.selectFrom('user').selectAll().where('id', '=', id).executeTakeFirst(),

    async listUsers(part: ListPart & { search: string | undefined }): Promise<StoredUser[]> {
      let query = db.selectFrom('user').selectAll().orderBy('id').limit(part.limit);
      if (part.cursor !== undefined) query = query.where('id', '>', part.cursor);
      if (part.search !== undefined)
        query = query.where(hasPart(db, sql.ref('name_key'), sql`${nameKey(part.search)}`));
      return query.execute();
    },

    findAdministrator: (): Promise<StoredUser | undefined> =>
      activeAdministrators(db).selectAll().orderBy('id').limit(1).executeTakeFirst(),

    /**
     * Returns false and changes nothing if no administrator would be left. Throws an error that `isUniqueViolation`
     * knows when the name is taken.
     */
    updateUser: ({ id, ...changes }: UserChanges): Promise<boolean> =>
      change(db, async (transaction) => {
        const row = { ...changes, ...(changes.name !== undefined && { name_key: nameKey(changes.name) }) };
        const isLeaving = row.role === 'user' || typeof row.disabled_at === 'number';
        if (isLeaving) {
          await serialize(transaction, 'administrators');
          const administrators = await activeAdministrators(transaction).select('id').execute();
          if (administrators.length === 1 && administrators[0]?.id === id) return false;
        }
        await transaction.updateTable('user').set(row).where('id', '=', id).execute();
        await invalidate(transaction, 'access', 'shares');
        return true;
      }),

    /** Deletes a user with all rows that refer to them. */
    deleteUser: (id: string): Promise<unknown> =>
      change(db, async (transaction) => {
        await transaction.deleteFrom('user').where('id', '=', id).execute();
        await invalidate(transaction, 'access', 'sessions', 'shares', 'people', 'leases', 'labels');
        return true;
      }),

    /** Returns those of the tokens that are valid. */
    async listValid(tokenIds: readonly string[]): Promise<Set<string>> {
      const rows = await db
        .selectFrom('token')
        .innerJoin('user', 'user.id', 'token.user_id')
        .select('token.id')
        .where('token.id', 'in', textsIn(db, tokenIds))
        .where('user.disabled_at', 'is', null)
        .execute();
      return new Set(rows.map(({ id }) => id));
    },

    async insertSignInLink(link: { hash: string; tokenId: string; expiresAt: number }): Promise<void> {
      const { hash, tokenId, expiresAt } = link;
      await db
        .insertInto('sign_in_link')
        .values({ hash, token_id: tokenId, expires_at: expiresAt })
        .execute();
    },

    /** Takes a sign-in link, once. Returns the ID of the token that stands behind it, unless it has expired. */
    async takeSignInLink(hash: string, now: number): Promise<string | undefined> {
      await db.deleteFrom('sign_in_link').where('expires_at', '<=', now).execute();
      const taken = db.deleteFrom('sign_in_link').where('hash', '=', hash).returning('token_id');
      return (await taken.executeTakeFirst())?.token_id;
    },

    /** Returns the IDs of projects that the user neither owns nor is a member of. */
    async findForeignProjects(userId: string, projectIds: readonly string[]): Promise<string[]> {
      const own = db.selectFrom('project').select('id').where('owner_id', '=', userId);
      const shared = db.selectFrom('project_member').select('project_id as id').where('user_id', '=', userId);
      const rows = await own.where('id', 'in', textsIn(db, projectIds)).union(shared).execute();
      const known = new Set(rows.map(({ id }) => id));
      return projectIds.filter((id) => !known.has(id));
    },

    /** Throws an error that `isUniqueViolation` knows if the name is taken. */
    async insertUser(user: NewUser): Promise<StoredUser> {
      const row = { ...user, name_key: nameKey(user.name), disabled_at: null };
      await change(db, async (transaction) => {
        await transaction.insertInto('user').values(row).execute();
        await invalidate(transaction, 'shares');
        return true;
      });
      return row;
    },

    async insertToken(token: NewToken): Promise<void> {
      await db.insertInto('token').values(toRow(token)).execute();
    },

    /** Returns false and stores nothing if the user already has `max` tokens. */
    insertTokenWithin: (token: NewToken, max: number): Promise<boolean> =>
      change(db, async (transaction) => {
        const quota = { kind: 'tokens', owner: token.userId, max };
        const room = await roomWithin(transaction, quota, () => countTokens(transaction, token.userId));
        if (room < 1) return false;
        await transaction.insertInto('token').values(toRow(token)).execute();
        return true;
      }),

    countTokens: (userId: string): Promise<number> => countTokens(db, userId),

    async listTokens(part: ListPart & TokenFilter): Promise<StoredToken[]> {
      let query = db.selectFrom('token').selectAll().orderBy('id').limit(part.limit);
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

    /** Finds the newest token of that name. */
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

    /**
     * Deletes a token with those that were made with it. `onDeleted` is told their number before it is final. False: it
     * was gone already.
     */
    deleteToken: (id: string, onDeleted?: (count: number) => void): Promise<boolean> =>
      change(db, async (transaction) => {
        const query = transaction.deleteFrom('token').where('id', 'in', family(id));
        const deleted = await query.returning('id').execute();
        await invalidate(transaction, 'access', 'sessions');
        onDeleted?.(deleted.length);
        return deleted.length > 0;
      }),

    /** Reads the usage of today of tokens with a budget. */
    readUse: (tokens: readonly StoredToken[], now: number): Promise<(tokenId: string) => TokenUse> =>
      readTokenUse(
        db,
        tokens.filter(hasBudget).map(({ id }) => id),
        now,
      ),

    async isInFamily(id: string, ancestorId: string): Promise<boolean> {
      const row = await db
        .selectFrom('token')
        .select('id')
        .where('id', '=', id)
        .where('id', 'in', family(ancestorId))
        .executeTakeFirst();
      return row !== undefined;
    },

    /** Detaches the tokens that this one created, so that they stay when it is deleted. */
    async releaseChildren(id: string): Promise<void> {
      await db.updateTable('token').set({ parent_id: null }).where('parent_id', '=', id).execute();
    },

    async deleteTokensNamed(userId: string, name: string): Promise<void> {
      await transact(db, async (transaction) => {
        const query = transaction.deleteFrom('token').where('user_id', '=', userId);
        await query.where('name', '=', name).execute();
        await invalidate(transaction, 'access', 'sessions');
      });
    },

    async noteUse(lastUses: ReadonlyMap<string, number>): Promise<void> {
      // Sort them, so that concurrent transactions lock in the same order.
      const sorted = [...lastUses].sort(([one], [other]) => (one < other ? -1 : 1));
      await transact(db, async (transaction) => {
        for (const [id, at] of sorted) {
          await transaction.updateTable('token').set({ last_used_at: at }).where('id', '=', id).execute();
        }
      });
    },
  };
}

import type { SecretRecipient } from '@phalanx/protocol';
import { change } from '../../storage/db/change-note.ts';
import type { Db } from '../../storage/db/database.ts';
import { textsIn } from '../../storage/db/dialect.ts';

interface Recipient {
  readonly projectId: string;
  readonly userId: string;
}

export type RecipientStore = ReturnType<typeof createRecipientStore>;

/** Creates the store of secret recipients: users whose hosts get the secrets of projects. */
export function createRecipientStore(db: Db) {
  return {
    /** Lists the recipients of a project, who get its secrets in addition to its owner and editors. */
    list: (projectId: string, afterUserId: string, limit: number): Promise<SecretRecipient[]> =>
      db
        .selectFrom('secret_recipient as recipient')
        .innerJoin('user', 'user.id', 'recipient.user_id')
        .select(['recipient.user_id', 'user.name', 'recipient.added_at'])
        .where('recipient.project_id', '=', projectId)
        .where('recipient.user_id', '>', afterUserId)
        .orderBy('recipient.user_id')
        .limit(limit)
        .execute(),

    async findUserName(id: string): Promise<string | undefined> {
      const row = await db.selectFrom('user').select('name').where('id', '=', id).executeTakeFirst();
      return row?.name;
    },

    /** Adds a recipient. Returns the time when the user was first added. */
    put: ({ projectId, userId }: Recipient, now: number): Promise<number> =>
      change(db, async (transaction) => {
        const row = await transaction
          .insertInto('secret_recipient')
          .values({ project_id: projectId, user_id: userId, added_at: now })
          .onConflict((conflict) =>
            conflict
              .columns(['project_id', 'user_id'])
              .doUpdateSet((eb) => ({ added_at: eb.ref('secret_recipient.added_at') })),
          )
          .returning('added_at')
          .executeTakeFirstOrThrow();
        return row.added_at;
      }),

    /** Deletes a recipient. False when the user is not a recipient of the project. */
    delete: ({ projectId, userId }: Recipient): Promise<boolean> =>
      change(db, async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom('secret_recipient')
          .where('project_id', '=', projectId)
          .where('user_id', '=', userId)
          .executeTakeFirst();
        return numDeletedRows > 0n;
      }),

    /**
     * Lists the users whose hosts get the secrets of each project: the owner and editors, who can read the values by
     * code, and the recipients. Omits projects without secrets.
     */
    async listReceivers(projectIds: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
      const withSecrets = db
        .selectFrom('project_secret')
        .select('project_id')
        .where('project_id', 'in', textsIn(db, projectIds));
      const owners = db
        .selectFrom('project')
        .select(['id as project_id', 'owner_id as user_id'])
        .where('id', 'in', withSecrets);
      const editors = db
        .selectFrom('project_member')
        .select(['project_id', 'user_id'])
        .where('project_id', 'in', withSecrets)
        .where('role', '=', 'shared_editor');
      const listed = db
        .selectFrom('secret_recipient')
        .select(['project_id', 'user_id'])
        .where('project_id', 'in', withSecrets);
      const rows = await owners.union(editors).union(listed).execute();
      const byProject = Map.groupBy(rows, ({ project_id: id }) => id);
      return new Map(
        [...byProject].map(([id, ofProject]) => [id, new Set(ofProject.map(({ user_id }) => user_id))]),
      );
    },
  };
}

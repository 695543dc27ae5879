import type { MemberRole, ShareKind, ShareRole, ShareState } from '@phalanx/protocol';
import { sql } from 'kysely';
import type { Db } from '../../storage/db/database.ts';

/** Share that a user has received. */
export interface ReceivedShare {
  /** Position in the list. */
  readonly position: string;
  readonly kind: ShareKind;
  readonly id: string;
  readonly name: string;
  readonly owner_id: string;
  readonly owner_name: string;
  readonly role: ShareRole | MemberRole;
  readonly shared_at: number | null;
  readonly accepted_at: number | null;
}

interface Page {
  readonly state: ShareState | undefined;
  /** Position after which the page begins. Empty for the first page. */
  readonly after: string;
  readonly limit: number;
}

/** Identifier of a share. Owners choose the IDs of their hosts, so two owners may share hosts with the same ID. */
export interface ShareName {
  readonly kind: ShareKind;
  readonly id: string;
  /** Owner of the share. Undefined for any owner. */
  readonly ownerId: string | undefined;
}

export type ReceivedShareStore = ReturnType<typeof createReceivedShareStore>;

/** Creates the store of phones, hosts and projects that other users have shared with a user. */
export function createReceivedShareStore(db: Db) {
  const received = (userId: string) => sql`SELECT received.*, owner.name AS owner_name FROM (
      SELECT share.kind || ' ' || share.target_id || ' ' || share.owner_id AS position, share.kind AS kind,
        share.target_id AS id, share.owner_id AS owner_id, share.role AS role, share.shared_at AS shared_at,
        share.accepted_at AS accepted_at,
        coalesce(nullif(label_set.name, ''), device.serial, host.name, '') AS name
      FROM share
      LEFT JOIN device ON share.kind = 'device' AND device.id = share.target_id
      LEFT JOIN label_set ON share.kind = 'device' AND label_set.kind = 'device'
        AND label_set.owner_id = share.owner_id AND label_set.target_id = share.target_id
      LEFT JOIN host ON share.kind = 'host' AND host.owner_id = share.owner_id AND host.id = lower(share.target_id)
      WHERE share.user_id = ${userId}
      UNION ALL
      SELECT 'project ' || project.id || ' ' || project.owner_id, 'project', project.id, project.owner_id,
        member.role, member.shared_at, member.accepted_at, project.name
      FROM project_member AS member JOIN project ON project.id = member.project_id
      WHERE member.user_id = ${userId}
    ) AS received JOIN "user" AS owner ON owner.id = received.owner_id`;
  const inState = {
    waiting: sql`AND received.accepted_at IS NULL`,
    accepted: sql`AND received.accepted_at IS NOT NULL`,
  } as const;
  return {
    async list(userId: string, { state, after, limit }: Page): Promise<ReceivedShare[]> {
      const filter = state === undefined ? sql`` : inState[state];
      const { rows } =
        await sql<ReceivedShare>`${received(userId)} WHERE received.position > ${after} ${filter}
        ORDER BY received.position LIMIT ${limit}`.execute(db);
      return rows;
    },

    /** Finds the shares with a name. Returns at most one, except for hosts. */
    async find(userId: string, { kind, id, ownerId }: ShareName): Promise<ReceivedShare[]> {
      const ofOwner = ownerId === undefined ? sql`` : sql`AND received.owner_id = ${ownerId}`;
      const { rows } = await sql<ReceivedShare>`${received(userId)} WHERE received.kind = ${kind}
        AND lower(received.id) = ${id.toLowerCase()} ${ofOwner} ORDER BY received.position`.execute(db);
      return rows;
    },
  };
}

import type { MemberRole, ShareRole } from '@phalanx/protocol';
import { type RawBuilder, sql } from 'kysely';

/** A user takes what somebody shares with them. */
export interface Acceptance {
  readonly userId: string;
  /** The role that they have seen: no other one is accepted. Undefined: any. */
  readonly role: ShareRole | MemberRole | undefined;
  /** Epoch ms. */
  readonly now: number;
}

/** Whether a row of shares or members has the role. */
export const hasRole = (role: Acceptance['role']): RawBuilder<boolean> =>
  role === undefined ? sql<boolean>`TRUE` : sql<boolean>`role = ${role}`;

import type { MemberRole, ShareRole } from '@phalanx/protocol';

/** A user takes what somebody shares with them. */
export interface Acceptance {
  readonly userId: string;
  /** The role that they have seen: no other one is accepted. Undefined: any. */
  readonly role: ShareRole | MemberRole | undefined;
  /** Epoch ms. */
  readonly now: number;
}

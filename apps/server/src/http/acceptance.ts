import type { MemberRole, ShareRole } from '@phalanx/protocol';

/** Acceptance of a share by the user with whom it is shared. */
export interface Acceptance {
  readonly userId: string;
  /** The role that the user has seen; no other role is accepted. Undefined: any. */
  readonly role: ShareRole | MemberRole | undefined;
  /** Epoch ms. */
  readonly now: number;
}

import type { RecentBundles, ServerMessage, WireLogEntries } from '@phalanx/protocol';
import type { Principal } from '../../http/requests/principal.ts';

type Question<Message> = Message extends { request_id: string } ? Omit<Message, 'request_id'> : never;
/** Question to a host about a phone. The protocol describes the answer at the frame of the same type. */
export type HostQuestion = Question<ServerMessage>;

/** Connected host, as seen by the features. */
export interface HostLink {
  /** Epoch of this connection: later connections of the same host have greater epochs. */
  readonly epoch: number;
  readonly hostId: string;
  readonly hostName: string;
  /** Owner of the token, and therefore of the devices. */
  readonly userId: string;
  readonly userName: string;
  /** Principal of the token that the host connected with. */
  readonly principal: Principal;
  /** Address that the host connected from. */
  readonly address: string | null;
  /** False once the connection is closed: messages that were sent may not have arrived. */
  readonly isOpen: boolean;
  /** Launch bundles that the host has received on this connection. */
  readonly bundles: RecentBundles<true>;
  /** Whether the host accepts secrets and masks them; hosts of earlier versions don't. */
  readonly knowsSecrets: boolean;
  /** Whether the host restricts callers and runs to the apps of their token; hosts of earlier versions don't. */
  readonly knowsAppLimits: boolean;
  send(message: ServerMessage): void;
  /** Rejects with a user-facing message. */
  ask(question: HostQuestion): Promise<Buffer>;
  /** Closes the connection. The host reconnects and resends what was not acknowledged. */
  drop(closeCode: number, reason: string): void;
}

export interface LogFrame {
  firstSeq: number;
  entries: WireLogEntries;
  /** Size as received, in bytes. */
  sizeBytes: number;
}

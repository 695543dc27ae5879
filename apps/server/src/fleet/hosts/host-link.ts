import type { RecentBundles, ServerMessage, WireLogEntries } from '@phalanx/protocol';
import type { Principal } from '../../http/requests/principal.ts';

type Question<Message> = Message extends { request_id: string } ? Omit<Message, 'request_id'> : never;
/** Question to a host about a phone. The protocol describes the answer at the frame of the same type. */
export type HostQuestion = Question<ServerMessage>;

/** A connected host, as the features see it. */
export interface HostLink {
  /** Epoch of this connection: a later one of the same host has a greater one. */
  readonly epoch: number;
  readonly hostId: string;
  readonly hostName: string;
  /** Owner of the token, and so of the devices. */
  readonly userId: string;
  readonly userName: string;
  /** Principal of the token that it connected with. */
  readonly principal: Principal;
  /** Address that it connected from. */
  readonly address: string | null;
  /** False once the connection is gone: what was sent may not have arrived. */
  readonly isOpen: boolean;
  /** Bundles of launches that the host has got on this connection. */
  readonly bundles: RecentBundles<true>;
  /** Whether it takes secrets, and hides them; hosts of the version before don't. */
  readonly knowsSecrets: boolean;
  /** Whether it keeps callers and runs to the apps of their token; hosts of the version before don't. */
  readonly knowsAppLimits: boolean;
  send(message: ServerMessage): void;
  /** Rejects with a sentence for people. */
  ask(question: HostQuestion): Promise<Buffer>;
  /** Ends the connection; the host comes back and says again what was not acknowledged. */
  drop(closeCode: number, reason: string): void;
}

export interface LogFrame {
  firstSeq: number;
  entries: WireLogEntries;
  /** Size as it came, in bytes. */
  sizeBytes: number;
}

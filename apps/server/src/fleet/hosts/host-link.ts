import type { RecentBundles, ServerMessage, WireLogEntries } from '@phalanx/protocol';
import type { Principal } from '../../http/requests/principal.ts';

type Question<Message> = Message extends { request_id: string } ? Omit<Message, 'request_id'> : never;
/** What a host is asked about a phone; what its answer is, the protocol says at the frame of the same type. */
export type HostQuestion = Question<ServerMessage>;

/** A connected host, as the features see it. */
export interface HostLink {
  /** Of this connection: a later one of the same host has a greater one. */
  readonly epoch: number;
  readonly hostId: string;
  readonly hostName: string;
  /** Owner of the token, and so of the devices. */
  readonly userId: string;
  readonly userName: string;
  /** Whose token it connected with. */
  readonly principal: Principal;
  /** Where it connected from. */
  readonly address: string | null;
  /** False once the connection is gone: what was sent may not have arrived. */
  readonly isOpen: boolean;
  /** What the host has of the launches on this connection. */
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
  /** As it came. */
  sizeBytes: number;
}

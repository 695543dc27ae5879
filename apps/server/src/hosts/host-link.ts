import type { PhoneInput, RecentBundles, ServerMessage } from '@phalanx/protocol';

import type { Principal } from '../http/principal.ts';

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
  /** Whether it covers what a launch says must not be seen; hosts of the version before don't. */
  readonly knowsMasks: boolean;
  send(message: ServerMessage): void;
  /** Takes a JPEG of a phone's screen. Rejects with a sentence for people. */
  requestScreenshot(serial: string): Promise<Buffer>;
  /** Takes tree and picture of a phone's screen: JSON of a `DeviceScreen`. Rejects with a sentence for people. */
  requestScreen(serial: string, width: number | null): Promise<Buffer>;
  /** How a phone is: JSON of a `PhoneHealth`. Rejects with a sentence for people. */
  requestHealth(serial: string): Promise<Buffer>;
  /** The next picture of a live view: JSON of a `LiveFrame`, a line feed, a JPEG. Rejects with a sentence for people. */
  requestLive(serial: string, known: string | null): Promise<Buffer>;
  /** Rejects with a sentence for people. */
  requestInput(serial: string, input: PhoneInput): Promise<void>;
  /** Ends the connection; the host comes back and says again what was not acknowledged. */
  drop(closeCode: number, reason: string): void;
}

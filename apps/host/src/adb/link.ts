import type { Adb } from '@yume-chan/adb';

/** Ways to reach a phone. */
export type Reach = 'adb-server' | 'direct-tcp';

/** An open ADB connection to one phone. */
export interface AdbConnection {
  readonly reach: Reach;
  readonly adb: Adb;
  /** Aborts as soon as the phone is lost; its reason is an Error with a message for people. */
  readonly gone: AbortSignal;
  /** Closes the connection and every socket on it. Never throws; idempotent. */
  close(reason?: string): void;
}

/** State of a link without a connection. The words are ADB's, except for `unplugged` (the link has ended). */
export type LinkTrouble =
  | 'connecting'
  | 'offline'
  | 'unauthorized'
  | 'no_permissions'
  | 'recovery'
  | 'sideload'
  | 'bootloader'
  | 'unplugged';

export type LinkStatus =
  | { readonly state: 'connected'; readonly connection: AdbConnection }
  | {
      readonly state: LinkTrouble;
      readonly reason: string;
      /** Repair that the source of the link has just tried. */
      readonly repair?: string | undefined;
      /** Whether the phone has left the list of a running adb server for an unknown reason, such as its cable. */
      readonly hasLeftList?: boolean | undefined;
    };

/** One way to reach a phone: a row of an adb server's list, or a TCP address. */
export interface Link {
  readonly kind: Reach;
  /** The adb serial or the address, as an operator knows it. Two links may share a name. */
  readonly name: string;
  /** Connection point of the phone: its address, or its USB port. Stays the same when another phone takes it. */
  readonly place: string;
  readonly status: LinkStatus;
  /** Phone that the link last led to, as the phone identified itself. Undefined until one has answered. */
  ledTo: LinkedPhone | undefined;
}

/** Properties that identify a phone on a network. */
export interface LinkedPhone {
  /** Serial number of the phone; undefined when it has none. */
  readonly serial: string | undefined;
  /** Name that the phone announces by mDNS; undefined when the phone reported none. */
  readonly mdnsName: string | undefined;
}

/** Called with each new link and at each change of its status. */
export type LinkListener = (link: Link) => void;

/** Source that searches for links until it is closed. */
export interface LinkSource {
  /** Reason why the source can't search for phones, and what to do; undefined while it can. */
  readonly problem?: string | undefined;
  close(): Promise<void>;
}

/** Writable side of a link, for its source only. */
export class TrackedLink implements Link {
  readonly kind: Reach;
  readonly name: string;
  readonly place: string;
  ledTo: LinkedPhone | undefined;
  #status: LinkStatus = { state: 'connecting', reason: 'Connecting to the phone.' };
  readonly #listener: LinkListener;

  constructor(kind: Reach, { name, place }: Pick<Link, 'name' | 'place'>, listener: LinkListener) {
    this.kind = kind;
    this.name = name;
    this.place = place;
    this.#listener = listener;
  }

  get status(): LinkStatus {
    return this.#status;
  }

  /** Sets the status and notifies the listener. Ignores an equal status. */
  setStatus(status: LinkStatus): void {
    if (isSameStatus(this.#status, status)) return;
    const before = this.#status;
    this.#status = status;
    if (before.state === 'connected') before.connection.close('the link changed');
    this.#listener(this);
  }
}

function isSameStatus(a: LinkStatus, b: LinkStatus): boolean {
  if (a.state === 'connected' || b.state === 'connected') return a === b;
  return a.state === b.state && a.reason === b.reason;
}

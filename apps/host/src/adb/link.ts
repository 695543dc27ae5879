import type { Adb } from '@yume-chan/adb';

/** The two ways to a phone. */
export type Reach = 'adb-server' | 'direct-tcp';

/** An open ADB connection to one phone. */
export interface AdbConnection {
  readonly reach: Reach;
  readonly adb: Adb;
  /** Aborted at the moment the phone is gone; its reason is an Error for people. */
  readonly gone: AbortSignal;
  /** Ends the connection and every socket on it. Never throws, may be called twice. */
  close(reason?: string): void;
}

/** State of a link that carries no connection now. The words are ADB's, but for `unplugged` (the link is no more). */
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
      /** Repair that its source has just tried. */
      readonly repair?: string | undefined;
      /** The list of a running adb server no longer has the phone, and nobody knows why: its cable may be. */
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
  /** The phone that it led to last, by its own word. Undefined until one has answered. */
  ledTo: LinkedPhone | undefined;
}

/** Properties by which a phone is found again on a network. */
export interface LinkedPhone {
  /** Its own serial number; undefined when it has none. */
  readonly serial: string | undefined;
  /** The name that it announces by mDNS; undefined when it told none. */
  readonly mdnsName: string | undefined;
}

/** Called with each new link and at each change of its status. */
export type LinkListener = (link: Link) => void;

/** Looks for links until it is closed. */
export interface LinkSource {
  /** Reason why it can't look for phones, and what to do; undefined while it can. */
  readonly problem?: string | undefined;
  close(): Promise<void>;
}

/** The writable side of a link, for its source alone. */
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

  /** An equal status is not told again. */
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

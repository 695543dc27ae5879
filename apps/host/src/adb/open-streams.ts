import { AdbCommand, type AdbPacketData } from '@yume-chan/adb';

/** A phone that never confirms the end of a stream would have the client library keep all of them. */
const maxUnconfirmed = 64;
/** A phone sends one packet, and waits until it is taken. */
const maxUntakenBytes = 4 * 1024 * 1024;

type Packet = Pick<AdbPacketData, 'command' | 'arg0' | 'arg1'> & { readonly payload: ArrayLike<unknown> };

interface OpenStream {
  untakenBytes: number;
}

/** The streams of one ADB connection, by the host's numbers for them. */
export class OpenStreams {
  readonly #open = new Map<number, OpenStream>();
  /** Those that the host has closed, with the phone's numbers, the oldest first. */
  readonly #unconfirmed = new Map<number, number>();

  /** To be called with each packet of the host. Returns what the phone should have confirmed by now, in its place. */
  noteSent({ command, arg0: id, arg1: remoteId }: Packet): AdbPacketData | undefined {
    const stream = this.#open.get(id);
    if (command === AdbCommand.Open) this.#open.set(id, { untakenBytes: 0 });
    if (command === AdbCommand.Okay && stream !== undefined) stream.untakenBytes = 0;
    if (command === AdbCommand.Close && stream !== undefined) this.#unconfirmed.set(id, remoteId);
    const [oldest] = this.#unconfirmed;
    if (oldest === undefined || this.#unconfirmed.size <= maxUnconfirmed) return undefined;
    this.#forget(oldest[0]);
    return { command: AdbCommand.Close, arg0: oldest[1], arg1: oldest[0], payload: new Uint8Array() };
  }

  /** Whether this packet of the phone belongs to a stream. Throws when the phone does not wait for the host. */
  takes({ command, arg1: id, payload }: Packet): boolean {
    if (command === AdbCommand.Close) this.#forget(id);
    if (command !== AdbCommand.Write) return true;
    const stream = this.#open.get(id);
    if (stream === undefined) return false;
    stream.untakenBytes += payload.length;
    if (stream.untakenBytes > maxUntakenBytes)
      throw new Error('The phone sends more than the host has taken of it');
    return true;
  }

  #forget(id: number): void {
    this.#open.delete(id);
    this.#unconfirmed.delete(id);
  }
}

import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import type { Adb } from '@yume-chan/adb';
import { openDirectConnection } from '../../apps/host/src/adb/direct-tcp.ts';
import { loadHostKey } from '../../apps/host/src/adb/host-key.ts';
import { type AdbConnection, TrackedLink } from '../../apps/host/src/adb/link.ts';
import { readMjpeg } from '../../apps/host/src/driver/frames/frame-source.ts';
import { requestKind, startHelperLink } from '../../apps/host/src/driver/resident/helper-link.ts';
import { createPhoneShell } from '../../apps/host/src/driver/shell/phone-shell.ts';
import { toSocketDuplex } from '../../apps/host/src/driver/uiautomator2/socket-duplex.ts';

const helperPort = 6790;
const picturePort = 7810;
const headEnd = Buffer.from('\r\n\r\n');

export async function connectTo(port: number, dataDir: string): Promise<AdbConnection> {
  const address = { host: '127.0.0.1', port };
  const link = new TrackedLink('direct-tcp', { name: 'bare', place: 'bare' }, () => undefined);
  const key = await loadHostKey(dataDir);
  const status = await openDirectConnection(link, { address, key }, new AbortController().signal);
  if (status.state !== 'connected') throw new Error(status.reason);
  return status.connection;
}

/** Socket to the helper on a phone without a queue, limits, or parsing of replies. */
export class BareHelper {
  readonly #adb: Adb;
  readonly #socket: Duplex;
  #session = '';

  private constructor(adb: Adb, socket: Duplex) {
    this.#adb = adb;
    this.#socket = socket;
  }

  /** Connects to the helper, which must already be running. */
  static async open(port: number, dataDir: string): Promise<BareHelper> {
    const { adb } = await connectTo(port, dataDir);
    const helper = new BareHelper(adb, toSocketDuplex(await adb.createSocket(`tcp:${helperPort}`)));
    const opened = await helper.#ask('POST', '/session', {
      capabilities: { firstMatch: [{}], alwaysMatch: {} },
    });
    helper.#session = /"sessionId":"([^"]+)"/.exec(opened.toString())?.[1] ?? '';
    return helper;
  }

  async readTree(): Promise<void> {
    await this.#ask('GET', `/session/${this.#session}/source`);
  }

  async tap(): Promise<void> {
    await this.#ask('POST', `/session/${this.#session}/appium/gestures/click`, { offset: { x: 10, y: 900 } });
  }

  /** Counts the pictures that differ from their predecessor, for `durationMs` from the first picture on. */
  async countPictures(durationMs: number): Promise<number> {
    const stream = toSocketDuplex(await this.#adb.createSocket(`tcp:${picturePort}`));
    stream.write('GET / HTTP/1.0\r\n\r\n');
    let [count, endsAt] = [0, Infinity];
    let last: Buffer = Buffer.alloc(0);
    for await (const picture of readMjpeg(stream)) {
      if (performance.now() > endsAt) break;
      if (endsAt === Infinity) endsAt = performance.now() + durationMs;
      else if (!picture.equals(last)) count += 1;
      last = picture;
    }
    stream.destroy();
    return count;
  }

  /** Resolves with the entire reply. */
  async #ask(method: string, path: string, body?: object): Promise<Buffer> {
    const text = body === undefined ? '' : JSON.stringify(body);
    this.#socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
    const parts: Buffer[] = [];
    let missing = Infinity;
    while (missing > 0) {
      const said: unknown[] = await once(this.#socket, 'data');
      const [part] = said;
      if (!(part instanceof Uint8Array)) throw new Error('a socket gives bytes');
      parts.push(Buffer.from(part));
      missing = missingOf(parts, missing);
    }
    return Buffer.concat(parts);
  }
}

/** Returns the number of missing bytes. Joins the received chunks only until the head is complete. */
function missingOf(parts: Buffer[], before: number): number {
  if (before !== Infinity) return before - (parts.at(-1)?.length ?? 0);
  const bytes = Buffer.concat(parts);
  const end = bytes.indexOf(headEnd);
  const length = /content-length: *(\d+)/i.exec(bytes.toString('latin1', 0, Math.max(end, 0)))?.[1];
  return end === -1 || length === undefined ? Infinity : end + headEnd.length + Number(length) - bytes.length;
}

interface BareResident {
  tree(): Promise<unknown>;
  /** Reads the screen and taps. */
  touch(): Promise<unknown>;
}

/** Connects to the resident helper of a phone on a bare stream; replies are not parsed. */
export async function openBareResident(port: number, dataDir: string): Promise<BareResident> {
  const shell = createPhoneShell(await connectTo(port, dataDir));
  const { signal } = new AbortController();
  const link = await startHelperLink(shell, { signal, onLaunched: () => undefined });
  const tree = (): Promise<unknown> => link.ask(requestKind.read, Buffer.from([0, 0]), signal);
  return {
    tree,
    touch: () => tree().then(() => link.ask(requestKind.gesture, tapPayload(10, 900), signal)),
  };
}

/** Returns the payload of a stationary finger (Requests.java). */
function tapPayload(x: number, y: number): Buffer {
  const payload = Buffer.alloc(29);
  payload.writeUInt8(1, 12);
  for (const [at, value] of [x, y, x, y].entries()) payload.writeInt32BE(value, 13 + 4 * at);
  return payload;
}

import type { Device, WallMessage, WallRequest } from '@phalanx/protocol';
import { useCallback, useSyncExternalStore } from 'react';

import { deviceName } from '../../fleet/devices/device.tsx';
import { liveEvents } from '../../api/live-events.ts';
import styles from './wall-picture.module.css';

/** Small live picture of a phone's screen. */
export function WallPicture({ device }: { device: Device }) {
  const { address, note } = useWallPicture(device.device_id);
  if (address !== undefined) return <img src={address} alt={`What ${deviceName(device)} shows`} />;
  if (note !== undefined) return <span title={note}>screen is private or off</span>;
  const { screen_width: width, screen_height: height } = device;
  return (
    <span
      className={styles['skeleton']}
      style={{ aspectRatio: width > 0 && height > 0 ? `${width} / ${height}` : '9 / 20' }}
      title="Waiting for the picture…"
    />
  );
}

/** A small picture of a phone's screen. */
interface ShownPicture {
  /** URL of the latest picture; undefined if there is none. */
  readonly address: string | undefined;
  /** Width and height of the screen. */
  readonly width: number;
  readonly height: number;
  /** Reason why there is no picture. */
  readonly note: string | undefined;
}

const nothingYet: ShownPicture = { address: undefined, width: 0, height: 0, note: undefined };
const retryMs = 1000;
/** Maximum number of phones in one message, as enforced by the service. */
const phonesOfMessage = 20;

interface Followed {
  picture: ShownPicture;
  readonly listeners: Set<() => void>;
}

/** Delivers the small pictures of all phones on the page. The connection is open while any phone is followed. */
class WallConnection {
  readonly #followed = new Map<string, Followed>();
  /** Phones whose change is not yet sent to the service. */
  readonly #changed = new Set<string>();
  /** Phones that the service sends pictures of. */
  readonly #watched = new Set<string>();
  #socket: WebSocket | undefined;
  #frame: Extract<WallMessage, { type: 'frame' }> | undefined;
  #shown = 0;

  constructor() {
    // A hidden page gets neither events nor pictures.
    liveEvents.state.subscribe(() => this.#connect());
  }

  pictureOf(deviceId: string): ShownPicture {
    return this.#followed.get(deviceId)?.picture ?? nothingYet;
  }

  follow(deviceId: string, listener: () => void): () => void {
    const one = this.#followed.get(deviceId) ?? { picture: nothingYet, listeners: new Set() };
    this.#followed.set(deviceId, one);
    one.listeners.add(listener);
    this.#change(deviceId);
    return () => {
      one.listeners.delete(listener);
      if (one.listeners.size > 0 || this.#followed.get(deviceId) !== one) return;
      this.#followed.delete(deviceId);
      forget(one.picture);
      this.#change(deviceId);
    };
  }

  /** Schedules one message for many changes, because many tiles come and go at once. */
  #change(deviceId: string): void {
    this.#changed.add(deviceId);
    if (this.#changed.size === 1) window.setTimeout(() => this.#connect(), 0);
  }

  #connect(): void {
    const isWanted = this.#followed.size > 0 && liveEvents.state.get() === 'live';
    if (!isWanted) this.#close();
    else if (this.#socket === undefined) this.#open();
    else this.#say();
  }

  #open(): void {
    const { protocol, host } = window.location;
    const socket = new WebSocket(`${protocol === 'https:' ? 'wss' : 'ws'}://${host}/api/v2/devices/live`);
    this.#socket = socket;
    socket.onopen = () => this.#say();
    socket.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (data instanceof Blob) this.#show(data);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the service writes messages by the same contract
      else this.#hear(JSON.parse(String(data)) as WallMessage);
    };
    socket.onclose = () => {
      this.#close();
      window.setTimeout(() => this.#connect(), retryMs);
    };
  }

  #close(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#watched.clear();
    this.#changed.clear();
    if (socket === undefined) return;
    socket.onclose = null;
    socket.onmessage = null;
    socket.close();
  }

  /** Sends the service the phones that came into view or left it. */
  #say(): void {
    this.#changed.clear();
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    const come = [...this.#followed.keys()].filter((id) => !this.#watched.has(id));
    const gone = [...this.#watched].filter((id) => !this.#followed.has(id));
    for (const id of come) this.#watched.add(id);
    for (const id of gone) this.#watched.delete(id);
    for (const device_ids of inParts(gone)) this.#send({ type: 'leave', device_ids });
    for (const device_ids of inParts(come)) this.#send({ type: 'watch', device_ids });
  }

  #send(request: WallRequest): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(request));
  }

  #hear(message: WallMessage): void {
    this.#frame = message.type === 'frame' ? message : undefined;
    if (message.type === 'nothing') this.#set(message.device_id, { ...nothingYet, note: message.reason });
    if (message.type === 'gone')
      this.#set(message.device_id, { ...nothingYet, note: 'The phone is no longer shared with you.' });
  }

  #show(picture: Blob): void {
    if (this.#frame !== undefined && this.#followed.has(this.#frame.device_id)) {
      const { device_id: id, width, height } = this.#frame;
      this.#set(id, { address: URL.createObjectURL(picture), width, height, note: undefined });
    }
    // A page that is not drawn acknowledges nothing, so the service sends no more pictures.
    if (this.#shown === 0) requestAnimationFrame(() => this.#answer());
    this.#shown += 1;
  }

  #answer(): void {
    this.#send({ type: 'shown', pictures: this.#shown });
    this.#shown = 0;
  }

  #set(deviceId: string, picture: ShownPicture): void {
    const one = this.#followed.get(deviceId);
    if (one === undefined) return;
    forget(one.picture);
    one.picture = picture;
    for (const listener of one.listeners) listener();
  }
}

/** Releases a picture after the page has drawn its successor. */
function forget({ address }: ShownPicture): void {
  if (address !== undefined) window.setTimeout(() => URL.revokeObjectURL(address), retryMs);
}

const inParts = (ids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / phonesOfMessage) }, (_, part) =>
    ids.slice(part * phonesOfMessage, (part + 1) * phonesOfMessage),
  );

const wall = new WallConnection();

/** Follows the screen of a phone while the component is mounted. */
function useWallPicture(deviceId: string): ShownPicture {
  const follow = useCallback((listener: () => void) => wall.follow(deviceId, listener), [deviceId]);
  return useSyncExternalStore(follow, () => wall.pictureOf(deviceId));
}

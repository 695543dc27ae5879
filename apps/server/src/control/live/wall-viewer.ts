import {
  maxLivePictureBytes,
  maxWallPhones,
  maxWallPicturesAhead,
  type WallMessage,
  WallRequest,
} from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import type { Principal } from '../../http/requests/principal.ts';
import type { OpenStream } from '../../http/requests/sockets/open-streams.ts';
import type { ViewerSocket } from '../../http/requests/sockets/viewer-socket.ts';
import type { LivePicture } from './live-viewer.ts';

const validator = Compile(WallRequest);

interface ViewerOptions {
  readonly socket: ViewerSocket;
  readonly principal: Principal;
}

/**
 * Viewer of many phones on one socket. Pictures beyond the unacknowledged maximum are dropped, so that a slow viewer
 * delays nobody else and shows the newest pictures.
 */
export class WallViewer implements OpenStream {
  readonly principal: Principal;
  readonly expiresAt: number;
  readonly #socket: ViewerSocket;
  /** Last state that was sent to the viewer, by watched phone; empty when none was sent. */
  readonly #sentStates = new Map<string, string>();
  #room = maxWallPicturesAhead;

  constructor({ socket, principal }: ViewerOptions) {
    this.principal = principal;
    this.expiresAt = principal.expiresAt ?? Infinity;
    this.#socket = socket;
    socket.onMessage(validator, (request) => this.#handle(request));
  }

  get hasRoom(): boolean {
    return this.#room > 0;
  }

  get watched(): string[] {
    return [...this.#sentStates.keys()];
  }

  watch(deviceIds: readonly string[]): void {
    for (const id of deviceIds) if (!this.#sentStates.has(id)) this.#sentStates.set(id, '');
    if (this.#sentStates.size > maxWallPhones) this.refuse();
  }

  isWatching(deviceId: string): boolean {
    return this.#sentStates.has(deviceId);
  }

  /** Disconnects the viewer because it watches too many phones. */
  refuse(): void {
    this.#sentStates.clear();
    this.#socket.refuse();
  }

  show(device_id: string, { hash, jpeg, captured_at, width, height }: LivePicture): void {
    if (!this.hasRoom || !this.#replaceState(device_id, `picture ${hash}`)) return;
    this.#room -= 1;
    this.#send({ type: 'frame', device_id, captured_at, width, height });
    this.#socket.send(jpeg);
  }

  sendNothing(device_id: string, reason: string): void {
    if (this.#replaceState(device_id, `nothing ${reason}`))
      this.#send({ type: 'nothing', device_id, reason });
  }

  /** Notifies the viewer that it may not see the phone. */
  lose(device_id: string): void {
    this.#sentStates.delete(device_id);
    this.#send({ type: 'gone', device_id });
  }

  end(code: number): void {
    this.#sentStates.clear();
    this.#socket.end(code);
  }

  #handle(request: WallRequest): void {
    // A client that sends requests without reading the answers is cut off.
    if (this.#socket.unsentBytes > maxLivePictureBytes) return this.#socket.terminate();
    if (request.type === 'watch') return this.watch(request.device_ids);
    if (request.type === 'leave') for (const id of request.device_ids) this.#sentStates.delete(id);
    if (request.type === 'shown') this.#room = Math.min(maxWallPicturesAhead, this.#room + request.pictures);
  }

  /** Records the state of a phone. Returns false if the phone is not watched, or this state has already been sent. */
  #replaceState(deviceId: string, state: string): boolean {
    const isNew = this.#sentStates.has(deviceId) && this.#sentStates.get(deviceId) !== state;
    if (isNew) this.#sentStates.set(deviceId, state);
    return isNew;
  }

  #send(message: WallMessage): void {
    this.#socket.send(JSON.stringify(message));
  }
}

import {
  maxLivePictureBytes,
  maxWallPhones,
  maxWallPicturesAhead,
  type WallMessage,
  WallRequest,
} from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import type { RawData, WebSocket } from 'ws';

import type { Principal } from '../http/principal.ts';
import { keepAlive } from '../http/sockets/keep-alive.ts';
import type { OpenStream } from '../http/sockets/open-streams.ts';
import type { LivePicture } from './live-viewer.ts';

const validator = Compile(WallRequest);
/** RFC 6455: a message that is not one of ours, or one too many. */
const policyViolation = 1008;

interface ViewerOptions {
  readonly socket: WebSocket;
  readonly principal: Principal;
}

/**
 * One who watches many phones on one socket. Pictures beyond those that it has answered are left out, so that a slow one keeps
 * nobody waiting and shows the newest.
 */
export class WallViewer implements OpenStream {
  readonly principal: Principal;
  readonly expiresAt: number;
  readonly #socket: WebSocket;
  /** What was told last of each phone that is watched. */
  readonly #told = new Map<string, string>();
  #room = maxWallPicturesAhead;

  constructor({ socket, principal }: ViewerOptions) {
    this.principal = principal;
    this.expiresAt = principal.expiresAt ?? Infinity;
    this.#socket = socket;
    socket.on('message', (data, isBinary) => this.#hear(isBinary ? undefined : parse(data)));
    socket.on('error', () => socket.terminate());
    keepAlive(socket);
  }

  get hasRoom(): boolean {
    return this.#room > 0;
  }

  get watched(): string[] {
    return [...this.#told.keys()];
  }

  watch(deviceIds: readonly string[]): void {
    for (const id of deviceIds) if (!this.#told.has(id)) this.#told.set(id, '');
    if (this.#told.size > maxWallPhones) this.end(policyViolation);
  }

  show(device_id: string, { hash, jpeg, captured_at, width, height }: LivePicture): void {
    if (!this.hasRoom || !this.#isNews(device_id, `picture ${hash}`)) return;
    this.#room -= 1;
    this.#tell({ type: 'frame', device_id, captured_at, width, height });
    this.#socket.send(jpeg);
  }

  tellNothing(device_id: string, reason: string): void {
    if (this.#isNews(device_id, `nothing ${reason}`)) this.#tell({ type: 'nothing', device_id, reason });
  }

  /** The phone is not this viewer's to see. */
  lose(device_id: string): void {
    this.#told.delete(device_id);
    this.#tell({ type: 'gone', device_id });
  }

  end(code: number): void {
    this.#told.clear();
    this.#socket.close(code);
  }

  #hear(request: WallRequest | undefined): void {
    // Who asks on without reading is no viewer.
    if (this.#socket.bufferedAmount > maxLivePictureBytes) return this.#socket.terminate();
    if (request === undefined) return this.end(policyViolation);
    if (request.type === 'watch') return this.watch(request.device_ids);
    if (request.type === 'leave') for (const id of request.device_ids) this.#told.delete(id);
    if (request.type === 'shown') this.#room = Math.min(maxWallPicturesAhead, this.#room + request.pictures);
  }

  #isNews(deviceId: string, news: string): boolean {
    const isNews = this.#told.has(deviceId) && this.#told.get(deviceId) !== news;
    if (isNews) this.#told.set(deviceId, news);
    return isNews;
  }

  #tell(message: WallMessage): void {
    this.#socket.send(JSON.stringify(message));
  }
}

function parse(data: RawData): WallRequest | undefined {
  try {
    const request: unknown = Buffer.isBuffer(data) && JSON.parse(data.toString());
    return validator.Check(request) ? request : undefined;
  } catch {
    return undefined;
  }
}

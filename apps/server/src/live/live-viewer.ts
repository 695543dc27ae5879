import { LiveRequest, maxLivePictureBytes, type LiveMessage } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import type { RawData, WebSocket } from 'ws';

import { keepAlive } from '../http/sockets/keep-alive.ts';
import type { OpenStream } from '../http/sockets/open-streams.ts';

const validator = Compile(LiveRequest);
/** RFC 6455: a message that is not one of ours. */
const policyViolation = 1008;

export interface LivePicture {
  readonly hash: string;
  readonly captured_at: number;
  readonly width: number;
  readonly height: number;
  readonly jpeg: Buffer;
}

interface ViewerOptions {
  readonly socket: WebSocket;
  readonly userId: string;
  readonly expiresAt: number;
  /** It wants the next picture. */
  readonly onNext: (viewer: LiveViewer) => void;
}

/** One who watches a phone. It is sent nothing but the answer to each `next`, so a slow one keeps nobody waiting. */
export class LiveViewer implements OpenStream {
  readonly userId: string;
  readonly expiresAt: number;
  readonly #socket: WebSocket;
  #seen = '';

  constructor({ socket, userId, expiresAt, onNext }: ViewerOptions) {
    this.userId = userId;
    this.expiresAt = expiresAt;
    this.#socket = socket;
    socket.on('message', (data, isBinary) => {
      if (isBinary || !isRequest(data)) this.end(policyViolation);
      // Who asks on without reading is no viewer.
      else if (socket.bufferedAmount > maxLivePictureBytes) socket.terminate();
      else onNext(this);
    });
    socket.on('error', () => socket.terminate());
    keepAlive(socket);
  }

  show({ hash, jpeg, captured_at, width, height }: LivePicture): void {
    if (this.#seen === hash) return this.tell({ type: 'still', captured_at });
    this.#seen = hash;
    this.tell({ type: 'frame', captured_at, width, height });
    this.#socket.send(jpeg);
  }

  tell(message: LiveMessage): void {
    this.#socket.send(JSON.stringify(message));
  }

  end(code: number): void {
    this.#socket.close(code);
  }
}

function isRequest(data: RawData): boolean {
  try {
    return Buffer.isBuffer(data) && validator.Check(JSON.parse(data.toString()));
  } catch {
    return false;
  }
}

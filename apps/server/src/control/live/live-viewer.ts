import {
  type HostVideo,
  type LiveMessage,
  LiveRequest,
  maxRequestsAhead,
  maxLivePictureBytes,
  type VideoPlace,
} from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import type { OpenStream } from '../../http/requests/sockets/open-streams.ts';
import type { ViewerSocket } from '../../http/requests/sockets/viewer-socket.ts';

const validator = Compile(LiveRequest);

export interface LivePicture {
  readonly hash: string;
  readonly captured_at: number;
  readonly width: number;
  readonly height: number;
  readonly jpeg: Buffer;
}

/** Consecutive H.264 packets. */
export interface LiveVideo extends Extract<HostVideo, { first: unknown }> {
  readonly bytes: Buffer;
}

/** Maximum unsent bytes of a viewer: two seconds of video. A viewer that is further behind gets no more. */
const maxBehindBytes = 512 * 1024;

interface ViewerOptions {
  readonly socket: ViewerSocket;
  /** Whether the viewer takes video; otherwise it gets pictures only. */
  readonly takesVideo: boolean;
  readonly expiresAt: number;
  /** Called when the viewer requests another answer. */
  readonly onNext: (viewer: LiveViewer) => void;
}

/** Viewer of one phone. It receives nothing but one answer to each `next`, so a slow viewer delays nobody else. */
export class LiveViewer implements OpenStream {
  readonly expiresAt: number;
  readonly takesVideo: boolean;
  readonly #socket: ViewerSocket;
  #seen = '';
  /** Number of answers that the viewer waits for. */
  #asked = 0;
  /** Place of the last packet that the viewer has; undefined when it has to begin with a key frame. */
  #place: VideoPlace | undefined;

  constructor({ socket, takesVideo, expiresAt, onNext }: ViewerOptions) {
    this.takesVideo = takesVideo;
    this.expiresAt = expiresAt;
    this.#socket = socket;
    socket.onMessage(validator, () => {
      // A client that sends requests without reading the answers is cut off.
      if (!takesVideo && socket.unsentBytes > maxLivePictureBytes) return socket.terminate();
      this.#asked = Math.min(this.#asked + 1, takesVideo ? maxRequestsAhead : 1);
      onNext(this);
    });
  }

  /** Whether an answer is due. */
  get isWaiting(): boolean {
    return this.#asked > 0;
  }

  /** Whether the viewer has too many unsent bytes. */
  get isBehind(): boolean {
    return this.#socket.unsentBytes > maxBehindBytes;
  }

  /** Whether the viewer has all packets up to this place. */
  hasReached({ stream, number }: VideoPlace): boolean {
    return this.#place?.stream === stream && this.#place.number >= number;
  }

  /** Sends a picture. `noVideo`: reason why a viewer that takes video gets pictures. */
  show({ hash, jpeg, captured_at, width, height }: LivePicture, noVideo: string | undefined): void {
    const why = this.takesVideo && noVideo !== undefined ? { no_video: noVideo } : {};
    this.#place = undefined;
    if (this.#seen === hash) return this.send({ type: 'still', captured_at, ...why });
    this.#seen = hash;
    this.send({ type: 'frame', captured_at, width, height, ...why });
    this.#socket.send(jpeg);
  }

  /**
   * Sends the packets that the viewer does not have yet, as encoded by the phone. A viewer that is behind or has missed
   * packets resumes with a key frame.
   */
  showVideo({ first, bytes, ...video }: LiveVideo): void {
    const { captured_at, packets } = video;
    if (packets.length === 0) return this.send({ type: 'still', captured_at });
    const known = this.#place?.stream === first.stream ? this.#place.number + 1 - first.number : -1;
    const skipped = known >= 0 ? known : packets.findIndex(({ is_key }) => is_key);
    if (skipped < 0 || skipped >= packets.length) return;
    if (this.isBehind) {
      this.#place = undefined;
      return;
    }
    this.#seen = '';
    this.#place = { stream: first.stream, number: first.number + packets.length - 1 };
    this.send({ ...video, type: 'video', packets: packets.slice(skipped) });
    const skippedBytes = packets.slice(0, skipped).reduce((sum, { size_bytes }) => sum + size_bytes, 0);
    this.#socket.send(bytes.subarray(skippedBytes));
  }

  send(message: LiveMessage): void {
    this.#asked = Math.max(0, this.#asked - 1);
    this.#socket.send(JSON.stringify(message));
  }

  end(code: number): void {
    this.#socket.end(code);
  }
}

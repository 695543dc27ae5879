import type { LiveMessage } from '@phalanx/protocol';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import { liveEvents } from '../../api/live-events.ts';

export interface LivePicture {
  /** URL of the latest picture. The picture stays when no newer one is available. */
  readonly address: string | undefined;
  /** Video to show in place of the picture. */
  readonly video: Pick<VideoScreen, 'attach'> | undefined;
  /** `Video`, or the reason for showing pictures; undefined where only pictures are requested. */
  readonly kind: string | undefined;
  /** Width and height of the screen, the coordinate space of touches. */
  readonly width: number;
  readonly height: number;
  readonly capturedAt: number | undefined;
  /** Reason why no new picture arrives. */
  readonly note: string | undefined;
}

const nothingYet: LivePicture = {
  address: undefined,
  video: undefined,
  kind: undefined,
  width: 0,
  height: 0,
  capturedAt: undefined,
  note: undefined,
};
const retryMs = 1000;
/**
 * Number of requests in flight while a frame is on display. They keep the full frame rate on a link with a round trip
 * of a quarter of a second.
 */
const askedAhead = 8;
/** Minimum time between updates of the picture's age, in ms. */
const ageMs = 500;
const lost = 'The connection is lost. Trying again…';
const closedForGood = new Map([
  [4003, 'Your sign-in has ended.'],
  [4004, 'The phone is no longer shared with you.'],
]);

type Change = (parts: Partial<LivePicture>) => void;
type Shown = Extract<LiveMessage, { type: 'frame' | 'video' }>;

/** Displays the pictures or the video of one connection. */
class Show {
  readonly #change: Change;
  readonly #onUndecodable: () => void;
  /** Reason why the browser gets no video; undefined if it does or if no video is requested. */
  readonly #whyPictures: string | undefined;
  #address: string | undefined;
  #video: VideoScreen | undefined;
  #toldAt = 0;

  constructor(change: Change, whyPictures: string | undefined, onUndecodable: () => void) {
    this.#change = change;
    this.#whyPictures = whyPictures;
    this.#onUndecodable = onUndecodable;
  }

  /** Displays a frame. Resolves when the next one may be requested. */
  async show(message: Shown, bytes: ArrayBuffer): Promise<void> {
    if (message.type === 'frame') this.#showPicture(message, bytes);
    else await this.#showVideo(message, bytes);
  }

  tellStill({ captured_at: capturedAt, no_video }: Extract<LiveMessage, { type: 'still' }>): void {
    this.#change({ capturedAt, note: undefined, ...this.#kindOf(no_video) });
  }

  close(): void {
    this.#video?.close();
    this.#video = undefined;
    if (this.#address !== undefined) URL.revokeObjectURL(this.#address);
  }

  #showPicture(
    { captured_at: capturedAt, width, height, no_video }: Extract<Shown, { type: 'frame' }>,
    jpeg: ArrayBuffer,
  ): void {
    const last = this.#address;
    this.#address = URL.createObjectURL(new Blob([jpeg], { type: 'image/jpeg' }));
    this.#video?.close();
    this.#video = undefined;
    this.#change({
      address: this.#address,
      video: undefined,
      width,
      height,
      capturedAt,
      note: undefined,
      ...this.#kindOf(no_video),
    });
    if (last !== undefined) window.setTimeout(() => URL.revokeObjectURL(last), retryMs);
  }

  async #showVideo(message: Extract<Shown, { type: 'video' }>, bytes: ArrayBuffer): Promise<void> {
    const { captured_at: capturedAt, width, height } = message;
    const isFirst = this.#video === undefined;
    this.#video ??= new VideoScreen(this.#onUndecodable);
    const isKey = message.packets.some(({ is_key }) => is_key);
    if (isFirst || isKey || performance.now() - this.#toldAt > ageMs) {
      this.#toldAt = performance.now();
      const kind = 'H.264, up to 30/s';
      this.#change({ video: this.#video, kind, width, height, capturedAt, note: undefined });
    }
    await this.#video.take(message, new Uint8Array(bytes));
  }

  #kindOf(noVideo: string | undefined): Partial<LivePicture> {
    if (this.#video !== undefined) return {};
    const why = this.#whyPictures ?? noVideo;
    return why === undefined ? {} : { kind: `JPEG: ${why}` };
  }
}

interface Following {
  readonly deviceId: string;
  /** Whether to request video. */
  readonly video: boolean;
  readonly change: Change;
  readonly onEnded: () => void;
}

/**
 * Requests the next frame only after showing the last one, so that a slow browser or a hidden tab gets fewer frames.
 */
function follow({ deviceId, video, change, onEnded }: Following, whyNone: string | undefined): () => void {
  const { protocol, host } = window.location;
  const address = `${protocol === 'https:' ? 'wss' : 'ws'}://${host}/api/v2/devices/${encodeURIComponent(deviceId)}/live`;
  let socket: WebSocket;
  let show: Show;
  let timer: number | undefined;
  let whyPictures = whyNone;
  const ask = (): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send('{"type":"next"}');
  };
  /**
   * Requests the next frame. Waits for an animation frame, which a hidden tab does not get, unless video is on
   * display.
   */
  const askSoon = (): void => {
    if (video && whyPictures === undefined && !document.hidden) ask();
    else requestAnimationFrame(ask);
  };
  let head: Shown | undefined;
  const hear = (message: LiveMessage): void => {
    if (message.type === 'frame' || message.type === 'video') {
      head = message;
      return;
    }
    askSoon();
    if (message.type === 'still') show.tellStill(message);
    else change({ note: message.reason });
  };
  /** Reconnects only while the event stream is connected; otherwise the service is unreachable here too. */
  const openWhenLive = (): void => {
    if (liveEvents.state.get() === 'live') open();
  };
  const open = (): void => {
    const wantsVideo = video && whyPictures === undefined;
    const opened = new WebSocket(wantsVideo ? `${address}?video=h264` : address);
    opened.binaryType = 'arraybuffer';
    socket = opened;
    show?.close();
    show = new Show(change, whyPictures, () => {
      whyPictures = 'this browser could not decode the video';
      leave();
      open();
    });
    opened.onopen = () => {
      for (let asked = 0; asked < (wantsVideo ? askedAhead : 1); asked += 1) askSoon();
    };
    opened.onmessage = ({ data }: MessageEvent<unknown>) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the service writes messages by the same contract
      if (!(data instanceof ArrayBuffer)) return hear(JSON.parse(String(data)) as LiveMessage);
      if (head !== undefined) void show.show(head, data).then(() => opened === socket && askSoon());
    };
    opened.onclose = ({ code }) => {
      const ended = closedForGood.get(code);
      change({ note: ended ?? lost });
      if (ended === undefined) timer = window.setTimeout(openWhenLive, retryMs);
      else onEnded();
    };
  };
  const leave = (): void => {
    window.clearTimeout(timer);
    socket.onclose = null;
    socket.onmessage = null;
    socket.close();
  };
  open();
  // A connection cut along the way does not close its socket. The event stream detects the cut for the whole page.
  const stopFollowing = liveEvents.state.subscribe(() => {
    const isLost = liveEvents.state.get() !== 'live';
    if (document.hidden || (!isLost && socket.readyState === WebSocket.OPEN)) return;
    leave();
    if (isLost) change({ note: lost });
    else timer = window.setTimeout(open, 0);
  });
  return () => {
    stopFollowing();
    leave();
    show.close();
  };
}

/** Follows the live screen of a phone while the component is mounted. */
export function useLivePicture(deviceId: string, { video = false } = {}): LivePicture {
  const queries = useQueryClient();
  const [picture, setPicture] = useState(nothingYet);
  useEffect(() => {
    const gone = new AbortController();
    let leave = (): void => gone.abort();
    const begin = (whyNone: string | undefined): void => {
      if (gone.signal.aborted) return;
      const change: Change = (parts) => setPicture((known) => ({ ...known, ...parts }));
      const onEnded = (): void => void queries.invalidateQueries();
      leave = follow({ deviceId, video, change, onEnded }, whyNone);
    };
    if (video) void whyNoVideo().then(begin);
    else begin(undefined);
    return () => leave();
  }, [deviceId, video, queries]);
  return picture;
}

type VideoMessage = Extract<LiveMessage, { type: 'video' }>;

/**
 * Constrained Baseline Profile, level 5. A decoder for it can decode what phones send, or reports an error on the
 * first packet.
 */
const defaultCodec = 'avc1.42C032';
/** Maximum queue size of a decoder. A longer queue means that it falls behind. */
const maxQueued = 8;
const microsBetween = 1000;

/** Returns why this browser can't show video; undefined if it can. */
async function whyNoVideo(): Promise<string | undefined> {
  if (!window.isSecureContext) return 'video needs this page over HTTPS';
  if (!('VideoDecoder' in window)) return 'this browser has no WebCodecs';
  const { supported } = await VideoDecoder.isConfigSupported({ codec: defaultCodec });
  return supported === true ? undefined : 'this browser cannot decode H.264';
}

/** Decodes H.264 packets and draws the frames on a canvas. */
class VideoScreen {
  readonly #decoder: VideoDecoder;
  #canvas: HTMLCanvasElement | null = null;
  /** Latest frame, to draw on a canvas that is attached later. */
  #frame: VideoFrame | undefined;
  #codec = '';
  #count = 0;
  #isClosed = false;

  constructor(onFailure: () => void) {
    this.#decoder = new VideoDecoder({
      output: (frame) => this.#show(frame),
      error: onFailure,
    });
  }

  /** Callback for the `ref` of a canvas. */
  readonly attach = (canvas: HTMLCanvasElement | null): void => {
    this.#canvas = canvas;
    this.#draw();
  };

  /** Queues packets for decoding. Resolves when the decoder can take more. */
  async take({ codec, packets }: VideoMessage, bytes: Uint8Array): Promise<void> {
    let at = 0;
    for (const { is_key: isKey, size_bytes: size } of packets) {
      const data = bytes.subarray(at, (at += size));
      if (isKey && codec !== this.#codec) this.#configure(codec);
      this.#count += 1;
      const type = isKey ? 'key' : 'delta';
      const chunk = { type, timestamp: this.#count * microsBetween, data } as const;
      if (this.#codec !== '') this.#decoder.decode(new EncodedVideoChunk(chunk));
    }
    while (!this.#isClosed && this.#decoder.decodeQueueSize > maxQueued)
      await new Promise((resolve) => this.#decoder.addEventListener('dequeue', resolve, { once: true }));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#frame?.close();
    if (this.#decoder.state !== 'closed') this.#decoder.close();
  }

  #configure(codec: string): void {
    this.#codec = codec;
    this.#decoder.configure({ codec, optimizeForLatency: true });
  }

  #show(frame: VideoFrame): void {
    this.#frame?.close();
    if (this.#isClosed) return frame.close();
    this.#frame = frame;
    this.#draw();
  }

  #draw(): void {
    const [canvas, frame] = [this.#canvas, this.#frame];
    if (canvas === null || frame === undefined || this.#isClosed) return;
    const { displayWidth: width, displayHeight: height } = frame;
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    canvas.getContext('2d')?.drawImage(frame, 0, 0);
  }
}

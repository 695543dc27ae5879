import type { LiveMessage } from '@phalanx/protocol';

type VideoMessage = Extract<LiveMessage, { type: 'video' }>;

/** Constrained baseline, level 5: what decodes this decodes what phones send, or says so when it comes. */
const usualCodec = 'avc1.42C032';
/** A decoder with more to do is behind. */
const maxQueued = 8;
const microsBetween = 1000;

/** Why this browser shows no video; undefined: it does. */
export async function whyNoVideo(): Promise<string | undefined> {
  if (!window.isSecureContext) return 'video needs this page over HTTPS';
  if (!('VideoDecoder' in window)) return 'this browser has no WebCodecs';
  const { supported } = await VideoDecoder.isConfigSupported({ codec: usualCodec });
  return supported === true ? undefined : 'this browser decodes no H.264';
}

/** Draws packets of H.264 on a canvas. */
export class VideoScreen {
  readonly #decoder: VideoDecoder;
  #canvas: HTMLCanvasElement | null = null;
  /** The last one, for a canvas that comes later. */
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

  /** As the `ref` of a canvas. */
  readonly attach = (canvas: HTMLCanvasElement | null): void => {
    this.#canvas = canvas;
    this.#draw();
  };

  /** Resolves when it can take more. */
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

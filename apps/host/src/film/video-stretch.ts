import type { VideoPacket } from '../driver/video/run-scrcpy.ts';
import { isOfSameForm } from '../driver/video/screen-video.ts';
import type { HostTimings } from '../time/host-timings.ts';

const maxStretchBytes = 8_000_000;
/** Overhead of the file in bytes: for the file as a whole, and for each packet. */
const [headBytes, packetBytes] = [2000, 40];
/** Minimum time between two packets in milliseconds: players reject two packets with the same timestamp. */
const minStepMs = 1;

type StretchTimings = Pick<HostTimings, 'filmStretchMs' | 'maxFilmStretchMs'>;

/** Packets of one video file: starts at a key packet and has one frame size. */
export class VideoStretch {
  readonly first: VideoPacket;
  readonly #maxBytes: number;
  readonly #timings: StretchTimings;
  readonly #packets: { readonly packet: VideoPacket; readonly at: number }[] = [];
  #bytes = headBytes;

  constructor(first: VideoPacket, maxBytes: number, timings: StretchTimings) {
    this.first = first;
    this.#maxBytes = Math.min(maxStretchBytes, maxBytes);
    this.#timings = timings;
  }

  get sizeBytes(): number {
    return this.#bytes;
  }

  /** Returns false for a packet that belongs to another stretch. */
  add(packet: VideoPacket): boolean {
    const agedMs = packet.takenAt - this.first.takenAt;
    const bytes = this.#bytes + packet.data.byteLength + packetBytes;
    const isLate = this.isOverAt(packet.takenAt) || (packet.isKey && agedMs > this.#timings.filmStretchMs);
    if (isLate || bytes > this.#maxBytes || !isOfSameForm(packet, this.first)) return false;
    this.#bytes = bytes;
    this.#packets.push({ packet, at: Math.max(packet.takenAt, this.#lastAt + minStepMs) });
    return true;
  }

  isOverAt(epochMs: number): boolean {
    return epochMs - this.first.takenAt > this.#timings.maxFilmStretchMs;
  }

  /** Returns the end of the stretch, which is never before the last packet. */
  endedAt(wanted: number): number {
    return Math.max(wanted, this.#lastAt + minStepMs);
  }

  /** Returns an MP4 file with the unchanged packets and one fragment per key packet. */
  async file(endedAt: number): Promise<Buffer> {
    const { first } = this;
    const { BufferTarget, EncodedPacket, EncodedVideoPacketSource, Mp4OutputFormat, Output } =
      await import('mediabunny');
    const target = new BufferTarget();
    const output = new Output({ format: new Mp4OutputFormat({ fastStart: 'fragmented' }), target });
    const source = new EncodedVideoPacketSource('avc');
    output.addVideoTrack(source);
    await output.start();
    const decoderConfig = { codec: first.codec, codedWidth: first.width, codedHeight: first.height };
    for (const [index, { packet, at }] of this.#packets.entries()) {
      const untilAt = this.#packets[index + 1]?.at ?? endedAt;
      const [beginsS, lastsS] = [(at - first.takenAt) / 1000, (untilAt - at) / 1000];
      const type = packet.isKey ? 'key' : 'delta';
      await source.add(new EncodedPacket(packet.data, type, beginsS, lastsS), { decoderConfig });
    }
    await output.finalize();
    return Buffer.from(target.buffer ?? new ArrayBuffer());
  }

  get #lastAt(): number {
    return this.#packets.at(-1)?.at ?? -Infinity;
  }
}

import { isOfSameForm } from '../driver/video/screen-video.ts';
import type { VideoPacket } from '../driver/video/run-scrcpy.ts';

/** A stretch ends at the first key packet after so long: it is in memory until it ends, and a host that dies loses it. */
const usualMs = 10_000;
/** A screen at rest has no key packets. */
const mostMs = 60_000;
const mostBytes = 8_000_000;
/** What the file takes beside the packets: this, and so much for each. */
const [headBytes, packetBytes] = [2000, 40];
/** Players take no two packets of one moment. */
const leastStepMs = 1;

/** Packets from a key packet on that one file can have. */
export class VideoStretch {
  readonly first: VideoPacket;
  readonly #maxBytes: number;
  readonly #packets: { readonly packet: VideoPacket; readonly at: number }[] = [];
  #bytes = headBytes;

  constructor(first: VideoPacket, maxBytes: number) {
    this.first = first;
    this.#maxBytes = Math.min(mostBytes, maxBytes);
  }

  get sizeBytes(): number {
    return this.#bytes;
  }

  /** False: the packet is for another stretch. */
  add(packet: VideoPacket): boolean {
    const agedMs = packet.takenAt - this.first.takenAt;
    const bytes = this.#bytes + packet.data.byteLength + packetBytes;
    const isLate = this.isOverAt(packet.takenAt) || (packet.isKey && agedMs > usualMs);
    if (isLate || bytes > this.#maxBytes || !isOfSameForm(packet, this.first)) return false;
    this.#bytes = bytes;
    this.#packets.push({ packet, at: Math.max(packet.takenAt, this.#lastAt + leastStepMs) });
    return true;
  }

  isOverAt(epochMs: number): boolean {
    return epochMs - this.first.takenAt > mostMs;
  }

  /** The last picture stands until then, at least. */
  endedAt(wanted: number): number {
    return Math.max(wanted, this.#lastAt + leastStepMs);
  }

  /** An MP4 file with the packets as they came: a fragment for each of their key packets, after what a player has to know of them. */
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

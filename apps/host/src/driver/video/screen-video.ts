import { randomUUID } from 'node:crypto';
import { errorText } from '@phalanx/settings';
import { maxVideoBytes, type VideoPlace } from '@phalanx/protocol';
import type { HeldMasks } from '../masks/masked-screen.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import { runScrcpy, type VideoPacket, type VideoUse } from './run-scrcpy.ts';
import type { ScrcpyServer } from './scrcpy-file.ts';

/** Idle time in ms before the encoder stops, because it costs the phone power. */
const idleMs = 5000;
/** Maximum wait for the first packet in ms. The viewer has pictures of another kind until then. */
const startMs = 300;
/**
 * Maximum wait for the next packet in ms, also for a viewer that arrives meanwhile: the server asks for all viewers at
 * once.
 */
const stillMs = 250;
/** Time in ms before a phone that can't encode is tried again. */
const afterFailureMs = 60_000;
/** Limit in bytes above what two seconds take. An encoder that makes no key frame is restarted. */
const maxGroupBytes = 16 * 1024 * 1024;

const masked = 'a mask is active';
export const startingVideo = 'H.264 is starting';

export interface VideoPackets {
  /** Place of the first packet, or of the next one when there is none. */
  readonly first: VideoPlace;
  readonly packets: readonly VideoPacket[];
}

/** Reason why there is no video. */
export interface NoVideo {
  readonly reason: string;
}

interface Options {
  readonly shell: PhoneShell;
  readonly server: ScrcpyServer | NoVideo;
  readonly screen: () => { readonly width: number; readonly height: number } | undefined;
  readonly masks: Pick<HeldMasks, 'list' | 'heldOnce'>;
}

/** One run of the encoder: its last key packet, and all packets after it. */
interface Running {
  readonly id: string;
  readonly use: VideoUse;
  /** Value of the masks' `heldOnce` at its start. A packet from after a change of it may show a hidden part. */
  readonly heldOnce: number;
  readonly stop: AbortController;
  readonly startedAt: number;
  group: VideoPacket[];
  groupBytes: number;
  /** Number of the first packet of the group. */
  first: number;
}

/** H.264 of a phone's screen for as long as it is requested. Never shows a moment at which a mask was held. */
export class ScreenVideo {
  readonly #options: Options;
  #running: Running | undefined;
  #failure = { reason: '', until: -Infinity };
  readonly #waiting = new Set<() => void>();
  #idle: NodeJS.Timeout | undefined;
  /** End of the time in which the encoder uses the form for viewers, which films then get as well. */
  #liveUntil = -Infinity;
  #isClosed = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Returns the packets after a place, or from the last key packet on; an empty list after a quarter of a second
   * without packets.
   */
  async next(
    after: VideoPlace | null,
    signal: AbortSignal,
    use: VideoUse = 'live',
  ): Promise<VideoPackets | NoVideo> {
    const beganAt = performance.now();
    if (use === 'live') this.#liveUntil = beganAt + idleMs;
    for (;;) {
      const running = this.#start();
      if ('reason' in running) return running;
      const found = packetsAfter(running, after);
      if (found.packets.length > 0) return found;
      const hasBegun = running.group.length > 0;
      const leftMs = beganAt + (hasBegun ? stillMs : startMs) - performance.now();
      if (leftMs <= 0) return hasBegun ? found : { reason: startingVideo };
      await this.#untilNews(leftMs, signal);
      signal.throwIfAborted();
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  /** Returns the running encoder, or the reason why none runs. */
  #start(): Running | NoVideo {
    const { server, masks } = this.#options;
    if (this.#isClosed) return { reason: 'the connection to the phone broke' };
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#stop(), idleMs).unref();
    if (masks.list().length > 0) {
      this.#stop();
      return { reason: masked };
    }
    if ('reason' in server) return server;
    const use = performance.now() < this.#liveUntil ? 'live' : 'film';
    const running = this.#running;
    if (running?.use === use && this.#isClean(running)) return running;
    this.#stop();
    const { reason, until } = this.#failure;
    return performance.now() < until ? { reason } : this.#begin(server, use);
  }

  #begin(server: ScrcpyServer, use: VideoUse): Running | NoVideo {
    const { shell, masks } = this.#options;
    const screen = this.#options.screen();
    if (screen === undefined) return { reason: 'the size of the screen is not known yet' };
    const running: Running = {
      id: randomUUID(),
      use,
      heldOnce: masks.heldOnce,
      stop: new AbortController(),
      startedAt: performance.now(),
      group: [],
      groupBytes: 0,
      first: 0,
    };
    this.#running = running;
    const onPacket = (packet: VideoPacket): void => this.#take(running, packet);
    runScrcpy({ shell, server, screen, use, onPacket }, running.stop.signal).catch((error: unknown) =>
      this.#fail(running, errorText(error)),
    );
    return running;
  }

  #take(running: Running, packet: VideoPacket): void {
    if (running !== this.#running) return;
    if (!this.#isClean(running)) return this.#stop();
    if (packet.data.length > maxVideoBytes) return this.#fail(running, 'scrcpy sends too large frames');
    if (packet.isKey) {
      running.first += running.group.length;
      running.group = [];
      running.groupBytes = 0;
    } else if (running.group.length === 0) return;
    running.group.push(packet);
    running.groupBytes += packet.data.length;
    if (running.groupBytes > maxGroupBytes) this.#stop();
    this.#tell();
  }

  #isClean({ heldOnce }: Running): boolean {
    return this.#options.masks.heldOnce === heldOnce;
  }

  #fail(running: Running, reason: string): void {
    if (running !== this.#running || running.stop.signal.aborted) return;
    this.#failure = { reason, until: running.startedAt + afterFailureMs };
    this.#stop();
  }

  #stop(): void {
    this.#running?.stop.abort(new Error('nobody watches'));
    this.#running = undefined;
    this.#tell();
  }

  #tell(): void {
    for (const goOn of this.#waiting) goOn();
  }

  #untilNews(waitMs: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const goOn = (): void => resolve();
    const timer = setTimeout(goOn, waitMs);
    signal.addEventListener('abort', goOn, { once: true });
    this.#waiting.add(goOn);
    return promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', goOn);
      this.#waiting.delete(goOn);
    });
  }
}

/** Whether one decoder can show both. */
export const isOfSameForm = (one: VideoPacket, other: VideoPacket): boolean =>
  one.width === other.width && one.height === other.height && one.codec === other.codec;

/** Returns the packets after a place, as many as fit into one answer. */
function packetsAfter({ id, group, first }: Running, after: VideoPlace | null): VideoPackets {
  const isKnown = after?.stream === id && after.number >= first && after.number < first + group.length;
  const skipped = isKnown ? after.number + 1 - first : 0;
  const packets: VideoPacket[] = [];
  let bytes = 0;
  for (const packet of group.slice(skipped)) {
    bytes += packet.data.length;
    if (packets[0] !== undefined && (bytes > maxVideoBytes || !isOfSameForm(packet, packets[0]))) break;
    packets.push(packet);
  }
  return { first: { stream: id, number: first + skipped }, packets };
}

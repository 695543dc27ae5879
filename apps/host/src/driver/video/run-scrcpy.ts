import { randomBytes } from 'node:crypto';
import { errorText } from '@phalanx/settings';
import { BufferedReadableStream } from '@yume-chan/stream-extra';
import { pause, untilAborted } from '../../time/time-limit.ts';
import { keepFile } from '../shell/phone-files.ts';
import { closeQuietly, type PhoneShell, type RunningCommand } from '../shell/phone-shell.ts';
import type { ScrcpyProtocol, ScrcpyServer } from './scrcpy-file.ts';

/**
 * Forms of the video. `live` fits a viewer's window, and several phones on one wireless link. `film` can last as long
 * as a run.
 */
const videoForms = {
  live: { shortSide: 720, framesPerSecond: 30, bitsPerSecond: 2_000_000 },
  film: { shortSide: 540, framesPerSecond: 15, bitsPerSecond: 1_000_000 },
} as const;
export type VideoUse = keyof typeof videoForms;
const keySeconds = 2;
const connectMs = 10_000;
const retryMs = 50;

/** Packet as the encoder made it. A key packet begins with the parameters that its decoder needs first. */
export interface VideoPacket {
  readonly isKey: boolean;
  readonly data: Buffer;
  /** Time at which the screen showed it, in epoch ms. */
  readonly takenAt: number;
  readonly width: number;
  readonly height: number;
  /** Codec string as in WebCodecs. */
  readonly codec: string;
}

interface Options {
  readonly shell: PhoneShell;
  readonly server: ScrcpyServer;
  /** Size of the phone's screen, in either orientation. */
  readonly screen: { readonly width: number; readonly height: number };
  readonly use: VideoUse;
  readonly onPacket: (packet: VideoPacket) => void;
}

/** Encodes the screen on the phone until the signal aborts. Rejects with the reason why it has ended. */
export async function runScrcpy(options: Options, signal: AbortSignal): Promise<void> {
  const { shell, server, screen } = options;
  const form = videoForms[options.use];
  const jar = { ...server, prefix: 'phalanx-scrcpy-', suffix: '.jar' };
  const path = await keepFile(shell, jar, signal);
  if (path === undefined) throw new Error('the phone did not keep the scrcpy server');
  const scid = (randomBytes(4).readUInt32BE() >>> 1).toString(16).padStart(8, '0');
  const scrcpy = new server.Options({
    scid,
    audio: false,
    control: false,
    tunnelForward: true,
    cleanup: false,
    powerOn: false,
    sendDeviceMeta: false,
    videoCodec: 'h264',
    videoBitRate: form.bitsPerSecond,
    videoCodecOptions: `i-frame-interval=${keySeconds}`,
    maxFps: form.framesPerSecond,
    maxSize: longestSide(screen, form.shortSide),
  });
  const start = `CLASSPATH=${path} exec app_process / com.genymobile.scrcpy.Server`;
  const running = await shell.start([start, server.version, ...scrcpy.serialize()].join(' '), signal);
  try {
    await readVideo(scrcpy, { ...options, running, service: `localabstract:scrcpy_${scid}` }, signal);
  } catch (error) {
    signal.throwIfAborted();
    // A server that can't encode reports it, and ends.
    running.kill();
    const why = lastLine(await running.ended) ?? errorText(error);
    throw new Error(`scrcpy stopped: ${why}`, { cause: error });
  } finally {
    running.kill();
  }
}

function longestSide({ width, height }: Options['screen'], shortSide: number): number {
  const [short, long] = [Math.min(width, height), Math.max(width, height)];
  return short <= shortSide ? long : Math.round((long * shortSide) / short);
}

interface Reading extends Options {
  readonly running: RunningCommand;
  readonly service: string;
}

async function readVideo(
  scrcpy: ScrcpyProtocol,
  { shell, server, running, service, onPacket }: Reading,
  signal: AbortSignal,
): Promise<void> {
  const socket = await connect(shell, { running, service }, signal);
  const ended = new AbortController();
  void running.ended.then(() => ended.abort(new Error('it ended')));
  const over = AbortSignal.any([signal, ended.signal]);
  try {
    const whole = new BufferedReadableStream(socket.readable);
    // The server sends this byte as soon as the connection is open.
    await untilAborted(over, async () => whole.readExactly(1));
    const { stream } = await untilAborted(over, async () => scrcpy.parseVideoStreamMetadata(whole.release()));
    const reader = stream.pipeThrough(scrcpy.createMediaStreamTransformer()).getReader();
    const timeOf = phoneTimes();
    let parameters: (ReturnType<typeof describe> & { data: Buffer }) | undefined;
    for (;;) {
      const { done, value } = await untilAborted(over, () => reader.read());
      if (done || value === undefined) throw new Error('the stream ended');
      const data = Buffer.from(value.data.buffer, value.data.byteOffset, value.data.byteLength);
      if (value.type === 'configuration') parameters = { ...describe(server.parseConfiguration(data)), data };
      else if (parameters !== undefined) {
        const { data: before, ...described } = parameters;
        const isKey = value.keyframe === true;
        const takenAt = timeOf(value.pts);
        onPacket({ ...described, isKey, takenAt, data: isKey ? Buffer.concat([before, data]) : data });
      }
    }
  } finally {
    closeQuietly(socket);
  }
}

/** Connects to the server, which listens some time after its start. */
async function connect(
  shell: PhoneShell,
  { running, service }: Pick<Reading, 'running' | 'service'>,
  signal: AbortSignal,
): ReturnType<PhoneShell['open']> {
  let hasEnded = false;
  void running.ended.then(() => (hasEnded = true));
  const until = performance.now() + connectMs;
  for (;;) {
    try {
      return await shell.open(service, signal);
    } catch (error) {
      if (signal.aborted || hasEnded || performance.now() > until) throw error;
      await pause(retryMs, signal);
    }
  }
}

/**
 * Converts the phone's timestamps, which count microseconds from an unknown moment, to epoch ms. The packet with the
 * lowest delay counts as sent when it arrived.
 */
function phoneTimes(): (pts: bigint | undefined) => number {
  let zeroAt = Infinity;
  return (pts) => {
    const ms = Number(pts ?? 0n) / 1000;
    zeroAt = Math.min(zeroAt, Date.now() - ms);
    return zeroAt + ms;
  };
}

/** Describes the video by its sequence parameters. */
function describe({
  croppedWidth,
  croppedHeight,
  ...parameters
}: ReturnType<ScrcpyServer['parseConfiguration']>): Omit<VideoPacket, 'isKey' | 'data' | 'takenAt'> {
  const bytes = [parameters.profileIndex, parameters.constraintSet, parameters.levelIndex];
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0').toUpperCase()).join('');
  return { width: croppedWidth, height: croppedHeight, codec: `avc1.${hex}` };
}

const lastLine = (printed: string): string | undefined =>
  printed
    .split('\n')
    .map((line) => line.replace(/^\[server\] \w+: /, '').trim())
    .findLast((line) => line !== '' && !/^(?:at |Device: |\.\.\. )/.test(line))
    ?.slice(0, 300);

import type { Duplex } from 'node:stream';
import type { ShellOutput } from '../adb/shell-service.ts';
import { writeTo } from '../adb/write-to.ts';
import { makeZip, readZip } from '../android/packages/apk.ts';
import { pause } from '../pause.ts';
import type { Phone } from '../phone.ts';
import type { Size } from '../view/rect.ts';
import { H264Encoder } from './h264-encoder.ts';

export const scrcpyClass = 'com.genymobile.scrcpy.Server';
const versionForm = /The server version \(([\w.-]+)\) does not match the client/;
const codeName = 'classes.dex';
const codecId = 0x68_32_36_34;
const nameBytes = 64;
/** Flag of the packet without data that carries the size, from scrcpy 4 on. */
const sessionFlag = Buffer.from([0x80, 0, 0, 0]);
const sizeStep = 8;
const defaultFramesPerSecond = 60;
const defaultKeySeconds = 10;
const lookMs = 50;

/**
 * Builds a file that simulated phones accept as scrcpy's server. It contains the message for a client of another
 * version.
 */
export function makeScrcpyServer(version: string): Buffer {
  const dex = `dex\n035\0The server version (${version}) does not match the client (\0`;
  return makeZip([[codeName, Buffer.from(dex)]]);
}

function versionOf(file: Buffer): string | undefined {
  try {
    const code = readZip(file, (name) => name === codeName).get(codeName);
    return versionForm.exec(code?.toString('latin1') ?? '')?.[1];
  } catch {
    return undefined;
  }
}

interface Started {
  readonly phone: Phone;
  readonly args: readonly string[];
  readonly stdout: ShellOutput;
  readonly stderr: ShellOutput;
  readonly signal: AbortSignal;
}

/** Runs scrcpy's server with a video socket only (`tunnel_forward=true audio=false control=false`). */
export async function runScrcpyServer(
  { phone, args, stdout, stderr, signal }: Started,
  path: string,
): Promise<number> {
  const [, , client = '', ...settings] = args;
  const version = versionOf(phone.android.files.readFile(path));
  const refuse = async (reason: string): Promise<number> => {
    await stderr.write(`[server] ERROR: ${reason}\n`);
    return 1;
  };
  if (version === undefined) return refuse(`java.lang.ClassNotFoundException: ${scrcpyClass}`);
  if (version !== client)
    return refuse(
      `java.lang.IllegalArgumentException: The server version (${version}) does not match the client (${client})`,
    );
  const options = new Map(settings.map((text) => splitAt(text, text.indexOf('='))));
  for (const [name, value] of [
    ['tunnel_forward', 'true'],
    ['audio', 'false'],
    ['control', 'false'],
  ] as const)
    if (options.get(name) !== value) return refuse(`This phone serves no scrcpy without ${name}=${value}`);
  await stdout.write(`[server] INFO: Device: ${phone.android.identity.model}\n`);
  const stream = await acceptOne(phone, options.get('scid'), signal);
  if (stream === undefined) return 0;
  if (phone.faults.noVideoEncoder) {
    stream.destroy();
    return refuse('Capture/encoding error: java.lang.IllegalStateException: null');
  }
  phone.encoders.add(stream);
  try {
    await sendVideo({ phone, stream, options, signal, isOld: Number.parseInt(version, 10) < 4 });
  } catch {
    // The client has disconnected.
  } finally {
    phone.encoders.delete(stream);
    stream.destroy();
  }
  return 0;
}

const splitAt = (text: string, at: number): [string, string] => [text.slice(0, at), text.slice(at + 1)];

/** Accepts the first connection to the server's socket and refuses others; undefined if the process is killed. */
async function acceptOne(
  { sockets }: Phone,
  scid: string | undefined,
  signal: AbortSignal,
): Promise<Duplex | undefined> {
  const connected = Promise.withResolvers<Duplex | undefined>();
  const suffix = scid === undefined ? '' : `_${scid.padStart(8, '0')}`;
  const name = `localabstract:scrcpy${suffix}`;
  const stopListening = sockets.listen(name, (stream) => {
    stopListening();
    connected.resolve(stream);
  });
  const kill = (): void => connected.resolve(undefined);
  signal.addEventListener('abort', kill);
  if (signal.aborted) kill();
  try {
    return await connected.promise;
  } finally {
    stopListening();
    signal.removeEventListener('abort', kill);
  }
}

interface Served {
  readonly phone: Phone;
  readonly stream: Duplex;
  readonly options: ReadonlyMap<string, string>;
  readonly signal: AbortSignal;
  /** Whether the version is older than scrcpy 4. */
  readonly isOld: boolean;
}

async function sendVideo({ phone, stream, options, signal, isOld }: Served): Promise<void> {
  const ended = new AbortController();
  const killed = AbortSignal.any([signal, ended.signal]);
  stream.once('close', () => ended.abort()).on('error', () => ended.abort());
  // The client sends nothing: the stream is read only to detect its end.
  stream.resume().once('end', () => ended.abort());
  const { android } = phone;
  const beganAt = performance.now();
  const frameMs = 1000 / Number(options.get('max_fps') ?? defaultFramesPerSecond);
  const keyMs = 1000 * keySecondsOf(options.get('video_codec_options') ?? '');
  const sizeNow = (): Size => sizeOf(android.screen, Number(options.get('max_size') ?? 0));
  if (options.get('send_dummy_byte') !== 'false') await writeTo(stream, Buffer.alloc(1));
  await writeTo(stream, headOf(options, android.identity.model, isOld ? sizeNow() : undefined));
  const [configFlag, keyFlag] = isOld ? [1n << 63n, 1n << 62n] : [1n << 62n, 1n << 61n];
  let encoder: H264Encoder | undefined;
  let [shown, keyAt]: [unknown, number] = [undefined, 0];
  while (!killed.aborted) {
    const [{ screen }, isSecure] = [android, phone.faults.secureWindow || phone.faults.forbidsCapture];
    const { width, height } = sizeNow();
    if (encoder?.width !== width || encoder.height !== height) {
      encoder = new H264Encoder(width, height);
      if (!isOld) await writeTo(stream, sessionOf({ width, height }));
      await writeTo(stream, packetOf(configFlag, encoder.configuration()));
      shown = undefined;
    }
    if (shown === (isSecure ? 'secure' : screen)) await untilRedrawn(phone, killed);
    else {
      shown = isSecure ? 'secure' : screen;
      const at = performance.now();
      const pixels = await phone.camera.takePixels({ width, height });
      const { isKey, data } = encoder.encode(pixels, at - keyAt > keyMs);
      if (isKey) keyAt = at;
      const micros = BigInt(Math.round(1000 * (at - beganAt)));
      if (killed.aborted) return;
      await writeTo(stream, packetOf(isKey ? micros | keyFlag : micros, data));
      await pause(killed, Math.max(0, at + frameMs - performance.now()));
    }
  }
}

/** Waits for a redraw, or for some time, because a window that starts to forbid screenshots draws nothing. */
async function untilRedrawn({ android }: Phone, signal: AbortSignal): Promise<void> {
  const drawn = new AbortController();
  const leave = android.shown.onRedraw(() => drawn.abort());
  await pause(AbortSignal.any([signal, drawn.signal]), lookMs);
  leave();
}

/** Returns the size of the video by scrcpy's rule: the longer side is limited, in steps of eight pixels. */
function sizeOf({ width, height }: Size, maxSize: number): Size {
  const share = maxSize === 0 ? 1 : Math.min(1, maxSize / Math.max(width, height));
  const round = (pixels: number): number => Math.floor((pixels * share) / sizeStep) * sizeStep;
  return { width: round(width), height: round(height) };
}

function keySecondsOf(codecOptions: string): number {
  const [, seconds] = /(?:^|,)i-frame-interval(?::\w+)?=(\d+)/.exec(codecOptions) ?? [];
  return Number(seconds ?? defaultKeySeconds);
}

function headOf(options: Served['options'], model: string, size: Size | undefined): Buffer {
  const name = Buffer.alloc(options.get('send_device_meta') === 'false' ? 0 : nameBytes);
  name.write(model.slice(0, nameBytes - 1));
  const codec = Buffer.alloc(4);
  codec.writeUInt32BE(codecId);
  return Buffer.concat([name, codec, ...(size === undefined ? [] : [bytesOf(size)])]);
}

const sessionOf = (size: Size): Buffer => Buffer.concat([sessionFlag, bytesOf(size)]);

function bytesOf({ width, height }: Size): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(width, 0);
  bytes.writeUInt32BE(height, 4);
  return bytes;
}

function packetOf(time: bigint, data: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeBigUInt64BE(time, 0);
  head.writeUInt32BE(data.length, 8);
  return Buffer.concat([head, data]);
}

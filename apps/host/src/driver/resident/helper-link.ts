import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Duplex } from 'node:stream';
import { untilAborted } from '../../time/time-limit.ts';
import { DriverError, type DriverErrorCode } from '../driver-error.ts';
import { keepFile } from '../shell/phone-files.ts';
import { type PhoneShell, readTail, separate } from '../shell/phone-shell.ts';
import { toSocketDuplex } from '../uiautomator2/socket-duplex.ts';

const protocol = '1';
const nothing = Buffer.alloc(0);

/** A running resident helper. */
export interface HelperLink {
  /** Aborts when the helper has ended, or has sent what no helper sends. */
  readonly failed: AbortSignal;
  readonly changes: ToldChanges;
  /**
   * Sends a request. Rejects with DriverError when the helper refuses or ends, or the signal aborts; the request may be
   * executed nevertheless.
   */
  ask(kind: number, payload: Buffer, signal: AbortSignal): Promise<Frame>;
  /** Ends the helper and reports its failure. */
  fail(reason: DriverError): void;
  close(): void;
}

/** Copies the helper to the phone, starts it, and waits for its hello. */
export async function startHelperLink(
  shell: PhoneShell,
  { signal, onLaunched }: { signal: AbortSignal; onLaunched: () => void },
): Promise<HelperLink> {
  if (!shell.connection.adb.deviceFeatures.includes('shell_v2'))
    throw new DriverError('ui_helper_refused', 'The resident helper needs the shell v2 protocol of ADB.');
  const { path, sha256 } = await installDex(shell, signal);
  // Ignores SIGHUP: otherwise a cut link would end the helper at once, with a finger on the screen. The helper detects
  // the cut, lifts the finger and ends.
  const command = `trap '' HUP; CLASSPATH=${path} exec app_process / dev.phalanx.helper.Main ${sha256}`;
  const stream = await startShellStream(shell, command, signal);
  onLaunched();
  const failed = new AbortController();
  const changes = new ToldChanges();
  const waiting = new Map<number, PromiseWithResolvers<Frame>>();
  let lastId = 0;
  const fail = (reason: DriverError): void => {
    failed.abort(reason);
    stream.close();
    for (const { reject } of waiting.values()) reject(reason);
    waiting.clear();
  };
  /** Last tree from the helper, for any request. The answer SAME refers to it. */
  let lastTree: Frame | undefined;
  const take = async (): Promise<void> => {
    for await (const frame of readFrames(stream.stdout)) {
      if (frame.kind === answerKind.changed) {
        changes.add();
        continue;
      }
      if (frame.kind === answerKind.tree) lastTree = frame;
      waiting.get(frame.id)?.resolve(frame.kind === answerKind.same ? (lastTree ?? frame) : frame);
      waiting.delete(frame.id);
    }
  };
  void take()
    .then(
      () => stream.ended,
      (error: unknown) => String(error),
    )
    .then((said) => fail(endedHelper(said)));
  const link: HelperLink = {
    failed: failed.signal,
    changes,
    async ask(kind, payload, askSignal) {
      failed.signal.throwIfAborted();
      const answer = Promise.withResolvers<Frame>();
      answer.promise.catch(() => {});
      lastId = (lastId % 0x7fff_ffff) + 1;
      waiting.set(lastId, answer);
      stream.write(encodeFrame({ kind, id: lastId, payload }));
      const frame = await untilAborted(askSignal, () => answer.promise);
      if (frame.kind === answerKind.error) throw toResidentFailure(frame.payload.toString());
      return frame;
    },
    fail,
    close: () => fail(new DriverError('ui_helper_failed', 'The resident helper was stopped.')),
  };
  try {
    const hello = (await link.ask(requestKind.hello, nothing, signal)).payload.toString();
    const [spoken, , build] = hello.split(' ');
    if (spoken === protocol && build === sha256) return link;
    throw new DriverError('ui_helper_failed', `The resident helper said "${hello.slice(0, 100)}" first.`);
  } catch (error) {
    link.close();
    throw error;
  }
}

function endedHelper(said: string): DriverError {
  const last = said.trim().split('\n').slice(-3).join(' ').slice(0, 300) || 'it printed nothing';
  return new DriverError('ui_helper_failed', `The resident helper on the phone stopped: ${last}.`);
}

/** Built by helper/build.sh. */
const dexFile = fileURLToPath(new URL('../../../helper/phalanx-helper.dex', import.meta.url));

interface InstalledDex {
  readonly path: string;
  readonly sha256: string;
}

let knownSha256: string | undefined;

async function installDex(shell: PhoneShell, signal: AbortSignal): Promise<InstalledDex> {
  const sha256 = (knownSha256 ??= createHash('sha256').update(readFileSync(dexFile)).digest('hex'));
  const file = { localPath: dexFile, sha256, prefix: 'phalanx-', suffix: '.dex' };
  const path = await keepFile(shell, file, signal);
  if (path !== undefined) return { path, sha256 };
  throw new DriverError('ui_helper_refused', 'The phone did not keep the resident helper.');
}

/** Failures by the word in front of the helper's error (Failure.java). */
const failures: ReadonlyMap<string, readonly [code: DriverErrorCode, sentence: string]> = new Map([
  ['no_root', ['screen_not_readable', "The screen can't be read now. It may be off, locked or changing"]],
  ['busy', ['screen_not_readable', "Another program uses the phone's only UiAutomation"]],
  ['not_connected', ['ui_helper_failed', 'The resident helper has no access to the screen']],
  ['input_refused', ['input_refused', 'The phone refuses simulated input']],
  ['no_field', ['no_focused_field', 'No text field has the focus. Tap one first']],
  ['text_refused', ['text_not_typable', 'The focused field does not take this text']],
  ['no_picture', ['screen_not_readable', 'The phone gave no picture of its screen']],
  ['clipboard_refused', ['clipboard_refused', 'This Android does not give the clipboard to the helper']],
]);

function toResidentFailure(told: string): DriverError {
  const end = told.indexOf(':');
  const detail = told
    .slice(end + 1)
    .trim()
    .slice(0, 300);
  const [code, sentence] = failures.get(told.slice(0, end)) ?? [
    'phone_answer_unexpected',
    'The resident helper refused the call',
  ];
  return new DriverError(code, `${sentence} (${detail}).`);
}

/** Changes of its screen that a phone has reported, without details. */
class ToldChanges {
  #count = 0;
  readonly #waiting = new Set<() => void>();

  get count(): number {
    return this.#count;
  }

  add(): void {
    this.#count += 1;
    for (const wake of this.#waiting) wake();
  }

  /** Resolves when the count exceeds `count`, the time is over, or the signal aborts. */
  async moreThan(count: number, waitMs: number, signal: AbortSignal): Promise<void> {
    if (this.#count > count || signal.aborted || waitMs <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    const timer = setTimeout(wake, waitMs);
    this.#waiting.add(wake);
    signal.addEventListener('abort', wake, { once: true });
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(wake);
    signal.removeEventListener('abort', wake);
  }
}

/** Kinds of frames, the same as in Requests.java. */
export const requestKind = {
  hello: 1,
  read: 2,
  gesture: 3,
  key: 4,
  field: 5,
  setText: 6,
  readClipboard: 7,
  writeClipboard: 8,
  picture: 9,
  watch: 10,
  release: 11,
  windows: 12,
} as const;

/** First byte of a watch. With `tellAndLook`, the helper also polls the screen by itself. */
export const watchKind = { tell: 1, tellAndLook: 2 } as const;

export const answerKind = { ok: 64, same: 65, tree: 66, error: 67, changed: 68 } as const;

export interface Frame {
  readonly kind: number;
  readonly id: number;
  readonly payload: Buffer;
}

const lengthBytes = 4;
/** Bytes of the kind and the ID, which the length includes. */
const headBytes = 5;
const maxAnswerBytes = 32 * 1024 * 1024;

export function encodeFrame({ kind, id, payload }: Frame): Buffer {
  const head = Buffer.alloc(lengthBytes + headBytes);
  head.writeUInt32BE(headBytes + payload.length, 0);
  head.writeUInt8(kind, 4);
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, payload]);
}

/**
 * Yields the frames of a stream. Throws on a length that the helper never sends, and reserves no memory for a length.
 */
export async function* readFrames(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  let parts: Uint8Array[] = [];
  let held = 0;
  /** Length of the first frame in bytes, as far as known. */
  let wanted = lengthBytes;
  for await (const part of stream) {
    parts.push(part);
    held += part.length;
    if (held < wanted) continue;
    let bytes = Buffer.concat(parts);
    for (;;) {
      wanted = lengthBytes;
      if (bytes.length < wanted) break;
      wanted += checkedLength(bytes.readUInt32BE(0));
      if (bytes.length < wanted) break;
      yield { kind: bytes.readUInt8(4), id: bytes.readUInt32BE(5), payload: bytes.subarray(9, wanted) };
      bytes = bytes.subarray(wanted);
    }
    parts = [bytes];
    held = bytes.length;
  }
}

function checkedLength(length: number): number {
  if (length >= headBytes && length <= headBytes + maxAnswerBytes) return length;
  throw new Error(`The helper on the phone sent a frame of ${length} bytes.`);
}

const stdinId = 0;
const headerBytes = 5;
const maxPacketBytes = 64 * 1024;

/** Running command of a phone with its standard streams. */
interface ShellStream {
  readonly stdout: AsyncIterable<Uint8Array>;
  write(bytes: Buffer): void;
  /** Resolves with the end of its standard error when the command or the connection has ended. Never rejects. */
  readonly ended: Promise<string>;
  close(): void;
}

/** Starts a command. Requires the shell v2 protocol, which ends the command with the connection. */
async function startShellStream(
  shell: PhoneShell,
  command: string,
  signal: AbortSignal,
): Promise<ShellStream> {
  const duplex = toSocketDuplex(await shell.open(`shell,v2,raw:${command}`, signal));
  const { stdout, stderr } = separate(duplex);
  return {
    stdout,
    write: (bytes) => writePackets(duplex, bytes),
    ended: readTail(stderr),
    close: () => void duplex.destroy(),
  };
}

function writePackets(duplex: Duplex, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; at += maxPacketBytes) {
    const part = bytes.subarray(at, at + maxPacketBytes);
    const header = Buffer.alloc(headerBytes);
    header.writeUInt8(stdinId, 0);
    header.writeUInt32LE(part.length, 1);
    duplex.write(Buffer.concat([header, part]));
  }
}

import { DriverError } from '../driver-error.ts';
import { untilAborted } from '../../time/time-limit.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import { startShellStream } from '../shell/shell-stream.ts';
import { answerKind, encodeFrame, type Frame, readFrames, requestKind } from './frames.ts';
import { installDex } from './install-dex.ts';
import { toResidentFailure } from './resident-failure.ts';

const protocol = '1';
const nothing = Buffer.alloc(0);

/** A running resident helper. */
export interface HelperLink {
  /** Aborted when it has ended, or answers what no helper does. */
  readonly failed: AbortSignal;
  /** Rejects with DriverError when the helper refuses, ends, or the signal aborts: the request may be done all the same. */
  ask(kind: number, payload: Buffer, signal: AbortSignal): Promise<Frame>;
  /** Ends the helper as a failure of it. */
  fail(reason: DriverError): void;
  close(): void;
}

/** Brings the helper to the phone, starts it, and waits for its first word. */
export async function startHelperLink(
  shell: PhoneShell,
  { signal, onLaunched }: { signal: AbortSignal; onLaunched: () => void },
): Promise<HelperLink> {
  if (!shell.connection.adb.deviceFeatures.includes('shell_v2'))
    throw new DriverError('ui_helper_refused', 'The resident helper needs the shell v2 protocol of ADB.');
  const { path, sha256 } = await installDex(shell, signal);
  // A cut link would end it at once, with a finger on the screen: it notices by itself, lifts it and ends.
  const command = `trap '' HUP; CLASSPATH=${path} exec app_process / dev.phalanx.helper.Main ${sha256}`;
  const stream = await startShellStream(shell, command, signal);
  onLaunched();
  const failed = new AbortController();
  const waiting = new Map<number, PromiseWithResolvers<Frame>>();
  let lastId = 0;
  const fail = (reason: DriverError): void => {
    failed.abort(reason);
    stream.close();
    for (const { reject } of waiting.values()) reject(reason);
    waiting.clear();
  };
  /** SAME stands for the tree that was told before it, whoever asked for that. */
  let lastTree: Frame | undefined;
  const take = async (): Promise<void> => {
    for await (const frame of readFrames(stream.stdout)) {
      if (frame.kind === answerKind.changed) continue;
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

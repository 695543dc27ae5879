import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { untilAborted } from '../../time/time-limit.ts';
import { DriverError, type DriverErrorCode } from '../driver-error.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import { pushFile } from '../shell/push-file.ts';
import { startShellStream } from '../shell/shell-stream.ts';
import { answerKind, encodeFrame, type Frame, readFrames, requestKind } from './frames.ts';
import { ToldChanges } from './told-changes.ts';

const protocol = '1';
const nothing = Buffer.alloc(0);

/** A running resident helper. */
export interface HelperLink {
  /** Aborted when it has ended, or answers what no helper does. */
  readonly failed: AbortSignal;
  readonly changes: ToldChanges;
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
  const changes = new ToldChanges();
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
const folder = '/data/local/tmp';

interface InstalledDex {
  readonly path: string;
  readonly sha256: string;
}

let known: InstalledDex | undefined;

/** Each build has a name of its own, so that hosts of different releases don't disturb each other. */
function ourDex(): InstalledDex {
  if (known !== undefined) return known;
  const sha256 = createHash('sha256').update(readFileSync(dexFile)).digest('hex');
  known = { path: `${folder}/phalanx-${sha256.slice(0, 12)}.dex`, sha256 };
  return known;
}

/** Brings the helper to the phone unless this very build is there. */
async function installDex(shell: PhoneShell, signal: AbortSignal): Promise<InstalledDex> {
  const dex = ourDex();
  const { stdout } = await shell.run(`sha256sum ${dex.path}; ls ${folder}`, signal);
  if (stdout.startsWith(dex.sha256)) return dex;
  const old = stdout.split(/\s+/).filter((name) => /^phalanx-[0-9a-f]{12}\.dex$/.test(name));
  if (old.length > 0) await shell.run(`rm -f ${old.map((name) => `${folder}/${name}`).join(' ')}`, signal);
  // Android 14 and newer run no dex that can be written.
  await pushFile(shell, createReadStream(dexFile), { remotePath: dex.path, permission: 0o400 }, signal);
  const after = await shell.run(`sha256sum ${dex.path}`, signal);
  if (after.stdout.startsWith(dex.sha256)) return dex;
  throw new DriverError('ui_helper_refused', `The phone did not keep the resident helper at ${dex.path}.`);
}

/** By the word in front of the helper's error (Failure.java). */
const failures: ReadonlyMap<string, readonly [code: DriverErrorCode, sentence: string]> = new Map([
  ['no_root', ['screen_not_readable', "The screen can't be read now. It may be off, locked or changing"]],
  ['busy', ['screen_not_readable', "Another program uses the phone's only UiAutomation"]],
  ['not_connected', ['ui_helper_failed', 'The resident helper has no access to the screen']],
  ['input_refused', ['input_refused', 'The phone refuses simulated input']],
  ['no_field', ['no_focused_field', 'No text field has the focus. Tap one first']],
  ['text_refused', ['text_not_typable', 'The focused field does not take this text']],
  ['no_picture', ['secure_screen', 'The app in front forbids pictures of its screen (FLAG_SECURE)']],
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

import { randomBytes } from 'node:crypto';
import { pause } from '../../time/time-limit.ts';
import { findNode } from '../find-node.ts';
import { DriverError } from '../driver-error.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import { isDark, wakefulnessQuestion } from '../shell/wakefulness.ts';
import { fieldText, isTextField } from '../tree/text-fields.ts';
import { type ParsedTree, parseTree } from '../tree/parse-tree.ts';
import { maxTreeBytes, tooManyBytes } from '../tree/tree-size.ts';
import { XmlScreen } from '../tree/xml-screen.ts';
import type { FieldLook, UiBackend } from '../ui-backend.ts';
import { deleteByKeys, runInput, typeByKeys } from './input-text.ts';
import { screencap } from './screencap.ts';
import { listVisibleWindows } from './visible-windows.ts';

// Gap between Android's limits for a double tap, 40 ms and 300 ms.
const doubleTapGapSeconds = 0.12;

/** Creates a backend of Android's own commands, which are slow and limited to ASCII, but available on every phone. */
export function createFallbackBackend(shell: PhoneShell): UiBackend {
  const input = (commandLine: string, signal: AbortSignal): Promise<void> =>
    runInput(shell, commandLine, signal);
  return {
    source: 'dump',
    failed: new AbortController().signal,
    readSource: async (signal) => new XmlScreen({ text: await dumpSource(shell, signal), bytes: undefined }),
    readWindows: async (signal) => [(await dumpTree(shell, signal)).root],
    readTouchWindows: (signal) => listVisibleWindows(shell, signal),
    takeScreenshot: async (signal) => (await screencap(shell, signal)).file,
    tap: ({ x, y }, signal) => input(`input tap ${x} ${y}`, signal),
    // Starts both processes at nearly the same time: in sequence, the second tap would come too late.
    doubleTap: ({ x, y }, signal) =>
      input(`input tap ${x} ${y} & sleep ${doubleTapGapSeconds}; input tap ${x} ${y}`, signal),
    longPress: ({ x, y, durationMs }, signal) =>
      input(`input swipe ${x} ${y} ${x} ${y} ${durationMs}`, signal),
    swipe: ({ fromX, fromY, toX, toY, durationMs }, signal) =>
      input(`input swipe ${fromX} ${fromY} ${toX} ${toY} ${durationMs}`, signal),
    drag: ({ fromX, fromY, toX, toY, durationMs }, signal) =>
      input(`input draganddrop ${fromX} ${fromY} ${toX} ${toY} ${durationMs}`, signal),
    moveFingers: async () => {
      throw new DriverError(
        'input_refused',
        "Several fingers at once need the UI helper. See the phone's state for why it is not there.",
      );
    },
    async typeText(text, _, signal) {
      await typeByKeys(shell, text, signal);
      return undefined;
    },
    async clearText(signal) {
      const { shown } = await readFocusedField(shell, signal);
      await deleteByKeys(shell, [...shown].length, signal);
    },
    readField: (signal) => readFocusedField(shell, signal),
    readClipboard: async () => refuseClipboard(),
    writeClipboard: async () => refuseClipboard(),
    pressKey: (keyCode, signal) => input(`input keyevent ${keyCode}`, signal),
    openNotifications: (signal) => input('cmd statusbar expand-notifications', signal),
    async probe(signal) {
      const { stdout } = await shell.run('echo phalanx', signal);
      if (!stdout.startsWith('phalanx'))
        throw new DriverError('phone_answer_unexpected', "The phone's shell does not answer.");
    },
    probeScreen: async () => {},
    // Android has no command that keeps the screen awake. The key counts as use, and is pressed again before the time
    // is over.
    keepAwake: (forMs, signal) => (forMs > 0 ? input('input keyevent 224', signal) : Promise.resolve()),
    close() {},
  };
}

/** Refuses access to the clipboard, which none of Android's own commands reaches. */
function refuseClipboard(): never {
  throw new DriverError(
    'clipboard_refused',
    "The clipboard needs the UI helper. See the phone's state for why it is not there.",
  );
}

/** Reads the field with the focus. */
async function readFocusedField(shell: PhoneShell, signal: AbortSignal): Promise<FieldLook> {
  const { root } = await dumpTree(shell, signal);
  const field = findNode(root, (node) => node.focused && isTextField(node));
  if (field === undefined)
    throw new DriverError('no_focused_field', 'No text field has the focus. Tap one first.');
  return { isPassword: field.password, shown: fieldText(field) };
}

const attempts = 3;
const pauseMs = 300;

async function dumpTree(shell: PhoneShell, signal: AbortSignal): Promise<ParsedTree> {
  return parseTree(await dumpSource(shell, signal));
}

/** Reads the tree's XML with `uiautomator dump`, which takes about two seconds, more when the screen moves. */
async function dumpSource(shell: PhoneShell, signal: AbortSignal): Promise<string> {
  const failures: string[] = [];
  while (failures.length < attempts) {
    const outcome = await attemptDump(shell, signal);
    if (outcome.xml !== undefined) return outcome.xml;
    failures.push(outcome.said);
    await pause(pauseMs, signal);
    signal.throwIfAborted();
  }
  const said = [...new Set(failures)].join('; ');
  throw new DriverError(
    'screen_not_readable',
    `"uiautomator dump" gave no tree in ${attempts} attempts (${said}). ${await adviseOn(shell, said, signal)}`,
  );
}

/**
 * Attempts one dump, with a fresh file name: the command exits with 0 after a failure and leaves an older file in
 * place.
 */
async function attemptDump(
  shell: PhoneShell,
  signal: AbortSignal,
): Promise<{ xml: string | undefined; said: string }> {
  const path = `/data/local/tmp/phalanx-${randomBytes(6).toString('hex')}.xml`;
  try {
    const { stdout, stderr } = await shell.run(`uiautomator dump ${path}`, signal);
    const file = await shell.runWhole(`cat ${path}`, signal, maxTreeBytes).catch((error: unknown) => {
      throw error instanceof DriverError && error.code === 'output_too_large' ? tooManyBytes() : error;
    });
    const said = `${stderr} ${stdout}`.replace(/\s+/g, ' ').trim().slice(0, 200);
    return { xml: cutXml(file.stdout), said: said || 'it printed nothing' };
  } finally {
    await shell.run(`rm -f ${path}`, signal).catch(() => {});
  }
}

/** Cuts the document out of the output, because some vendors' builds print lines around it. */
function cutXml(text: string): string | undefined {
  const start = text.indexOf('<?xml');
  const endTag = '</hierarchy>';
  const end = text.lastIndexOf(endTag);
  return start === -1 || end < start ? undefined : text.slice(start, end + endTag.length);
}

async function adviseOn(shell: PhoneShell, said: string, signal: AbortSignal): Promise<string> {
  const power = await shell.run(wakefulnessQuestion, signal).catch(() => undefined);
  if (isDark(power?.stdout ?? '')) return 'The screen is off: press the key WAKEUP (224) first.';
  if (said.includes('idle state'))
    return 'Android waited in vain for the screen to rest. Perhaps something moves all the time, such as a video or an animation.';
  return 'The screen may be locked or changing; or another program uses UiAutomation on this phone.';
}

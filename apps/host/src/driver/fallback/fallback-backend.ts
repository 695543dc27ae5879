import type { UiNode, AgentCallParams } from '@phalanx/protocol';

import { findAlertButton } from '../alert-buttons.ts';
import { DriverError } from '../driver-error.ts';
import { findNode } from '../find-node.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import { XmlScreen } from '../tree/xml-screen.ts';
import type { UiBackend } from '../ui-backend.ts';
import { injectionAdvice } from '../uiautomator2/helper-failure.ts';
import { dumpSource, dumpTree } from './dump-tree.ts';
import { inputTextCommands } from './input-text.ts';
import { screencap } from './screencap.ts';

const keyMoveEnd = 123;
const keyDelete = 67;

// One `input` process takes many keys; a longer line would reach the limit of an ADB service name on old phones.
const keysPerCommand = 60;

// Below Android's limit for a double tap (300 ms) and above its lower one (40 ms).
const doubleTapGapSeconds = 0.12;

/** Android's own commands: slow, and ASCII only, but there on every phone. */
export function createFallbackBackend(shell: PhoneShell): UiBackend {
  const input = (commandLine: string, signal: AbortSignal): Promise<void> =>
    runInput(shell, commandLine, signal);
  return {
    source: 'dump',
    failed: new AbortController().signal,
    readSource: async (signal) => new XmlScreen({ text: await dumpSource(shell, signal), bytes: undefined }),
    readWindows: async (signal) => [(await dumpTree(shell, signal)).root],
    takeScreenshot: async (signal) => (await screencap(shell, signal)).file,
    tap: ({ x, y }, signal) => input(`input tap ${x} ${y}`, signal),
    // Both processes start at nearly the same time: one after the other, the second tap would come too late.
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
    pressAlert: (press, signal) => pressAlert(shell, press, signal),
    async typeText(text, signal) {
      for (const command of inputTextCommands(text)) await input(command, signal);
    },
    clearText: (signal) => clearField(shell, signal),
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
    // Android has no command that holds the screen awake: the key counts as use, and is pressed again before the time is over.
    keepAwake: (forMs, signal) => (forMs > 0 ? input('input keyevent 224', signal) : Promise.resolve()),
    close() {},
  };
}

/** None of Android's own commands reaches it. */
function refuseClipboard(): never {
  throw new DriverError(
    'clipboard_refused',
    "The clipboard needs the UI helper. See the phone's state for why it is not there.",
  );
}

/** Empties the focused field key by key, as many times as it has characters. */
async function clearField(shell: PhoneShell, signal: AbortSignal): Promise<void> {
  const { root } = await dumpTree(shell, signal);
  const field = findNode(root, (node) => node.focused && isTextField(node));
  if (field === undefined)
    throw new DriverError('no_focused_field', 'No text field has the focus. Tap one first.');
  let left = [...(field.text ?? '')].length;
  if (left === 0) return;
  await runInput(shell, `input keyevent ${keyMoveEnd}`, signal);
  while (left > 0) {
    const count = Math.min(left, keysPerCommand);
    await runInput(shell, `input keyevent ${Array(count).fill(keyDelete).join(' ')}`, signal);
    left -= count;
  }
}

function isTextField({ className, packageName }: UiNode): boolean {
  return packageName !== '' && /EditText|AutoComplete|TextInput|SearchView/.test(className ?? '');
}

async function pressAlert(
  shell: PhoneShell,
  press: AgentCallParams<'alert.press'>,
  signal: AbortSignal,
): Promise<string> {
  const { root } = await dumpTree(shell, signal);
  const { label, point } = findAlertButton(root, press);
  await runInput(shell, `input tap ${point.x} ${point.y}`, signal);
  return label;
}

/** Runs Android's `input`; each call starts a process on the phone, some 100 to 300 ms. */
async function runInput(shell: PhoneShell, commandLine: string, signal: AbortSignal): Promise<void> {
  const { stdout, stderr, exitCode } = await shell.run(commandLine, signal);
  const said = `${stderr} ${stdout}`.replace(/\s+/g, ' ').trim();
  if ((exitCode ?? 0) === 0 && !/Exception|^Error/.test(said)) return;
  if (/INJECT_EVENTS/.test(said)) {
    throw new DriverError(
      'input_refused',
      `The phone refuses simulated input (INJECT_EVENTS). ${injectionAdvice}`,
    );
  }
  throw new DriverError(
    'input_refused',
    `The phone refused "${commandLine.slice(0, 60)}": ${said.slice(0, 200) || `exit code ${exitCode}`}.`,
  );
}

import { DriverError } from '../driver-error.ts';
import type { PhoneShell } from '../phone-shell.ts';
import type { UiBackend } from '../ui-backend.ts';
import { clearField } from './clear-field.ts';
import { dumpTree } from './dump-tree.ts';
import { pressAlert } from './press-alert.ts';
import { runInput } from './input-command.ts';
import { inputTextCommands } from './input-text.ts';
import { screencap } from './screencap.ts';

// Below Android's limit for a double tap (300 ms) and above its lower one (40 ms).
const doubleTapGapSeconds = 0.12;

/** Android's own commands: slow, and ASCII only, but there on every phone. */
export function createFallbackBackend(shell: PhoneShell): UiBackend {
  const input = (commandLine: string, signal: AbortSignal): Promise<void> =>
    runInput(shell, commandLine, signal);
  return {
    source: 'dump',
    failed: new AbortController().signal,
    readTree: (signal) => dumpTree(shell, signal),
    readWindows: async (signal) => [(await dumpTree(shell, signal)).root],
    takeScreenshot: (signal) => screencap(shell, signal),
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

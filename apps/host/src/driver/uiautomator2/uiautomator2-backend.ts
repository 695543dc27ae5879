import type { UiNode } from '@phalanx/protocol';
import { createFrameSource } from '../frames/frame-source.ts';
import type { PhoneShell } from '../phone-shell.ts';
import { DriverError } from '../driver-error.ts';
import { parseRoots, parseTree } from '../tree/parse-tree.ts';
import type { UiBackend } from '../ui-backend.ts';
import { readClipboard, writeClipboard } from './clipboard.ts';
import { dragActions, fingersActions, swipeActions } from './swipe-actions.ts';
import { createHelperSession, type HelperSession } from './helper-session.ts';
import { isReady, lastLines, startHelper } from './start-helper.ts';
import { createFieldTyper } from './text-field.ts';

export interface HelpedPhone {
  readonly sdkVersion: number;
  /** Upright, in pixels. */
  readonly screenWidth: number;
}

/** Starts the helper on the phone and speaks with it. Rejects with `ui_helper_failed` when it can't be had. */
export async function createUiautomator2Backend(
  shell: PhoneShell,
  { sdkVersion, screenWidth }: HelpedPhone,
  signal: AbortSignal,
): Promise<UiBackend> {
  const helper = await startHelper(shell, sdkVersion, signal);
  const failed = new AbortController();
  void helper.ended.then((output) =>
    failed.abort(
      new DriverError('ui_helper_failed', `The UI helper on the phone stopped: ${lastLines(output)}.`),
    ),
  );
  const session = createHelperSession(helper.http, failed, screenWidth);
  try {
    await session.open(signal);
  } catch (error) {
    helper.stop();
    throw error;
  }
  const frames = createFrameSource(shell);
  return {
    source: 'uiautomator2',
    failed: failed.signal,
    frames,
    ...actions(session, sdkVersion),
    ...upkeep(),
  };

  function upkeep(): Upkeep {
    return {
      async probe(probeSignal) {
        if (await isReady(helper.http, probeSignal)) return;
        throw new DriverError('ui_helper_failed', 'The UI helper on the phone does not answer.');
      },
      probeScreen: (probeSignal) => session.probe(probeSignal),
      keepAwake: async (forMs, wakeSignal) =>
        void (await session.post('appium/settings', { settings: { wakeLockTimeout: forMs } }, wakeSignal)),
      close: () => {
        frames.close();
        helper.stop();
      },
    };
  }
}

type Actions = Omit<UiBackend, 'source' | 'failed' | 'frames' | keyof Upkeep>;
type Upkeep = Pick<UiBackend, 'probe' | 'probeScreen' | 'keepAwake' | 'close'>;

function actions(session: HelperSession, sdkVersion: number): Actions {
  const post = async (path: string, body: unknown, signal: AbortSignal): Promise<void> => {
    await session.post(path, body, signal);
  };
  const typer = createFieldTyper(session);
  return {
    readTree: async (signal) => parseTree(await session.getText('source', signal)),
    readWindows: (signal) => readWindows(session, signal),
    takeScreenshot: async (signal) => Buffer.from(await session.getText('screenshot', signal), 'base64'),
    tap: (offset, signal) => post('appium/gestures/click', { offset }, signal),
    doubleTap: (offset, signal) => post('appium/gestures/double_click', { offset }, signal),
    longPress: ({ x, y, durationMs }, signal) =>
      post('appium/gestures/long_click', { offset: { x, y }, duration: durationMs }, signal),
    swipe: (swipe, signal) => post('actions', { actions: swipeActions(swipe) }, signal),
    drag: (way, signal) => post('actions', { actions: dragActions(way) }, signal),
    moveFingers: (fingers, signal) => post('actions', { actions: fingersActions(fingers) }, signal),
    async pressAlert({ answer, button }, signal) {
      const body = button === undefined ? {} : { buttonLabel: button };
      const label = await session.post(`alert/${answer}`, body, signal);
      return typeof label === 'string' ? label : (button ?? '');
    },
    typeText: (text, signal) => typer.type(text, signal),
    clearText: (signal) => typer.clear(signal),
    readClipboard: (signal) => readClipboard(session, sdkVersion, signal),
    writeClipboard: (text, signal) => writeClipboard(session, text, signal),
    pressKey: (keycode, signal) => post('appium/device/press_keycode', { keycode }, signal),
    openNotifications: (signal) => post('appium/device/open_notifications', {}, signal),
  };
}

/** The helper reads the active window alone, which is faster, but for this. */
async function readWindows(session: HelperSession, signal: AbortSignal): Promise<UiNode[]> {
  const readAll = (enableMultiWindows: boolean): Promise<unknown> =>
    session.post('appium/settings', { settings: { enableMultiWindows } }, signal);
  await readAll(true);
  try {
    return parseRoots(await session.getText('source', signal));
  } finally {
    await readAll(false);
  }
}

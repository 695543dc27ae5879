import type { Patience } from '../renewals.ts';
import type { UiBackend } from '../ui-backend.ts';

type Input = Pick<UiBackend, 'tap' | 'doubleTap' | 'longPress' | 'swipe' | 'drag' | 'pressKey'>;

/**
 * Input by the helper, and by the shell into an app where the helper took far too long: from Android 16 on, UiAutomation waits before it
 * injects until the animations of all windows have ended, and some apps have one that never does.
 */
export function createQuickInput(
  helper: Input,
  shell: Input,
  { inputMs }: Patience,
  appInFront: () => string,
): Input {
  let slowApp: string | undefined;
  const either = async (ownMs: number, act: (input: Input) => Promise<void>): Promise<void> => {
    if (slowApp === appInFront()) return await act(shell);
    slowApp = undefined;
    const began = performance.now();
    await act(helper);
    if (performance.now() - began > inputMs + ownMs) slowApp = appInFront();
  };
  return {
    tap: (point, signal) => either(0, (input) => input.tap(point, signal)),
    doubleTap: (point, signal) => either(0, (input) => input.doubleTap(point, signal)),
    longPress: (press, signal) => either(press.durationMs, (input) => input.longPress(press, signal)),
    swipe: (way, signal) => either(way.durationMs, (input) => input.swipe(way, signal)),
    drag: (way, signal) => either(way.durationMs, (input) => input.drag(way, signal)),
    pressKey: (code, signal) => either(0, (input) => input.pressKey(code, signal)),
  };
}

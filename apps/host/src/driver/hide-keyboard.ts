import { lookUntil } from '../time/look-until.ts';
import { DriverError } from './driver-error.ts';
import type { PhoneShell } from './shell/phone-shell.ts';
import type { Touches } from './typed-password.ts';
import type { UiBackend } from './ui-backend.ts';

const keyBack = 4;
/**
 * Maximum delay in ms of a keyboard after the input that requests it: the page appears and the keyboard's app starts
 * first.
 */
const comesWithinMs = 1000;
const goesWithinMs = 2000;
const lookMs = 100;

/** State of the keyboard, and the window with the focus, which a keyboard never has, as the phone reports them. */
interface KeyboardLook {
  readonly isShown: boolean;
  readonly focus: string;
}

interface KeyboardParts {
  readonly shell: PhoneShell;
  readonly backend: Pick<UiBackend, 'pressKey'>;
  readonly touches: Pick<Touches, 'endedAt'>;
}

/**
 * Closes the keyboard with the key BACK, and checks that it is closed. Presses nothing while no keyboard has a window,
 * because BACK would leave the page. Right after a touch, waits for the keyboard that the touch may have requested,
 * which may appear a second time.
 */
export async function hideKeyboard(parts: KeyboardParts, signal: AbortSignal): Promise<void> {
  const calledUntil = parts.touches.endedAt + comesWithinMs;
  do {
    const look = (): Promise<KeyboardLook> => readKeyboard(parts.shell, signal);
    const fits = ({ isShown }: KeyboardLook): boolean => isShown;
    const before = await lookUntil(look, { fits, until: calledUntil, pauseMs: lookMs, signal });
    if (!before.isShown) return;
    await closeByBack(parts, before, signal);
  } while (performance.now() < calledUntil);
}

async function closeByBack(
  { shell, backend }: KeyboardParts,
  before: KeyboardLook,
  signal: AbortSignal,
): Promise<void> {
  await backend.pressKey(keyBack, signal);
  const look = (): Promise<KeyboardLook> => readKeyboard(shell, signal);
  const until = performance.now() + goesWithinMs;
  const after = await lookUntil(look, { fits: ({ isShown }) => !isShown, until, pauseMs: lookMs, signal });
  if (after.focus !== before.focus)
    throw new DriverError(
      'page_left',
      `The key BACK, which closes the keyboard, went to the app: ${before.focus} had the focus, and ${after.focus} has it.`,
    );
  if (after.isShown)
    throw new DriverError(
      'not_done',
      `The keyboard is still shown ${goesWithinMs / 1000} s after the key BACK.`,
    );
}

const command = [
  String.raw`dumpsys window InputMethod | grep -E "Window #|ty=|isReadyForDisplay\(\)=|isVisible=|no windows match"`,
  'dumpsys input_method | grep -E "mInputShown=|mIsInputViewShown="',
  'dumpsys window | grep mCurrentFocus=',
].join('; ');

/**
 * Reads whether the keyboard is shown from its window (WindowState.dump of Android 7 to 16), because `mInputShown`
 * stays true for keyboards without a window, on some phones permanently (appium/appium-adb#52, #56). Uses `mInputShown`
 * when the phone reports no window.
 */
async function readKeyboard(shell: PhoneShell, signal: AbortSignal): Promise<KeyboardLook> {
  const { stdout } = await shell.run(command, signal);
  const focus = [...stdout.matchAll(/mCurrentFocus=.*/g)].map(([line]) => line.trim().slice(0, 200));
  return { isShown: saysShown(stdout), focus: [...new Set(focus)].join(', ') || 'no window' };
}

function saysShown(told: string): boolean {
  if (told.includes('mIsInputViewShown=false')) return false;
  const windows = told.split(/^[ \t]*(?=Window #)/m).filter((part) => part.startsWith('Window #'));
  if (windows.length > 0) return windows.some(isShownKeyboard);
  if (told.includes('no windows match')) return false;
  if (told.includes('mInputShown=')) return told.includes('mInputShown=true');
  throw new DriverError('phone_answer_unexpected', 'The phone does not say whether a keyboard is shown.');
}

/**
 * Whether a window is a shown keyboard. Checks the type, which Android sets (2011 up to Android 7), because apps choose
 * titles.
 */
function isShownKeyboard(window: string): boolean {
  return (
    /\bty=(?:INPUT_METHOD|2011)(?!\w)/.test(window) &&
    window.includes('isReadyForDisplay()=true') &&
    !window.includes('isVisible=false')
  );
}

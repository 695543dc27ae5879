import { DriverError, type DriverErrorCode } from '../driver-error.ts';
import type { HelperError } from './helper-http.ts';

/** Android has ended the helper's UiAutomation, or what serves it; the helper itself goes on and says that all is well. */
export function isDeadUiAutomation({ message, trace }: Pick<HelperError, 'message' | 'trace'>): boolean {
  return /UiAutomation not connected|DeadObjectException|DeadSystemException/.test(`${message} ${trace}`);
}

/** What a refused call means to people: by what it was, because the helper tells refused input as a state of elements. */
export function toHelperFailure(error: HelperError, path: string): DriverError {
  const code = codeOf(error, path);
  return new DriverError(code, sentenceOf(error, code), error);
}

const injecting = /actions$|gestures\/|press_keycode$|\/?back$|alert\/(?:accept|dismiss)$/;

function codeOf({ kind, message, trace }: HelperError, path: string): DriverErrorCode {
  if (/INJECT_EVENTS|inject/i.test(`${message} ${trace}`)) return 'input_refused';
  if (kind === 'invalid element state') return injecting.test(path) ? 'input_refused' : 'text_not_typable';
  if (/secure/i.test(message)) return 'secure_screen';
  if (kind === 'no such element') return 'no_focused_field';
  if (kind === 'no such alert') return 'no_alert';
  if (/root|AccessibilityNodeInfo|window/i.test(message) && kind === 'unknown error')
    return 'screen_not_readable';
  return 'phone_answer_unexpected';
}

function sentenceOf(error: HelperError, code: DriverErrorCode): string {
  const detail = `${error.kind}: ${error.message.split('\n')[0] ?? ''}`.slice(0, 300);
  switch (code) {
    case 'secure_screen':
      return 'The app in front forbids pictures of its screen (FLAG_SECURE).';
    case 'no_focused_field':
      return 'No text field has the focus. Tap one first.';
    case 'no_alert':
      return 'No dialog with buttons is on the screen.';
    case 'text_not_typable':
      return `The focused field does not take this text (${detail}).`;
    case 'screen_not_readable':
      return `The screen can't be read now (${detail}). It may be off, locked or changing.`;
    case 'input_refused':
      return `The phone refuses simulated input (${detail}).`;
    default:
      return `The UI helper refused the call (${detail}).`;
  }
}

import { DriverError, type DriverErrorCode } from '../driver-error.ts';
import { injectionAdvice } from '../uiautomator2/helper-failure.ts';

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

export function toResidentFailure(told: string): DriverError {
  const end = told.indexOf(':');
  const detail = told
    .slice(end + 1)
    .trim()
    .slice(0, 300);
  const [code, sentence] = failures.get(told.slice(0, end)) ?? [
    'phone_answer_unexpected',
    'The resident helper refused the call',
  ];
  const advice = code === 'input_refused' ? ` ${injectionAdvice}` : '';
  return new DriverError(code, `${sentence} (${detail}).${advice}`);
}

/** Codes of failed calls to a phone. Callers may rely on these words. */
export type DriverErrorCode =
  | 'phone_gone'
  | 'call_timed_out'
  | 'call_cancelled'
  | 'app_not_found'
  | 'app_not_started'
  | 'app_change_refused'
  | 'app_not_allowed'
  | 'user_refused'
  | 'file_not_found'
  | 'file_refused'
  | 'output_too_large'
  | 'no_focused_field'
  | 'no_alert'
  | 'covered'
  | 'not_in_view'
  | 'gone'
  | 'text_not_typable'
  | 'text_not_kept'
  | 'not_done'
  | 'page_left'
  | 'clipboard_refused'
  | 'messages_refused'
  | 'secure_screen'
  | 'screen_not_readable'
  | 'screen_moving'
  | 'input_refused'
  | 'setting_unsupported'
  | 'setting_refused'
  | 'ui_helper_failed'
  | 'ui_helper_refused'
  | 'phone_answer_unexpected';

/** A failed call to a phone: a stable code, and a sentence for people. */
export class DriverError extends Error {
  override readonly name = 'DriverError';
  readonly code: DriverErrorCode;

  constructor(code: DriverErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }

  /** Whether the phone has done nothing of the call, so that a retry does not do it twice. */
  get isUndone(): boolean {
    return this instanceof UndoneCallError || (this.cause instanceof DriverError && this.cause.isUndone);
  }
}

export class UndoneCallError extends DriverError {}

export function unreadableTree(why: string): DriverError {
  return new DriverError('screen_not_readable', `The phone's UI tree can't be read: ${why}.`);
}

export function unexpectedXml(at: number): DriverError {
  return unreadableTree(`its XML at ${at} is not what Android writes`);
}

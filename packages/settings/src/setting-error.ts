/** A bad or missing setting; its message is one line that says what to do. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

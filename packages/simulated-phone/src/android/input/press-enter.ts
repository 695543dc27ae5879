import type { SystemHost } from '../system-host.ts';

/** Enter: a new line where there are several, else the keyboard's action key, which closes it. */
export function pressEnter(android: SystemHost): void {
  const field = android.focusedField;
  if (field?.multiline) {
    field.insert('\n');
    return android.redraw();
  }
  android.hideKeyboard();
}

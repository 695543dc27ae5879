import type { Android } from './android.ts';

/** Enter: a new line where there are several, else the keyboard's action key, which closes it. */
export function pressEnter(android: Android): void {
  const field = android.focusedField;
  if (field?.multiline) {
    field.insert('\n');
    return android.redraw();
  }
  android.hideKeyboard();
}

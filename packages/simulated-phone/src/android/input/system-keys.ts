import type { SystemHost } from '../system-host.ts';

/** Back closes the topmost thing that can be closed, and only that. */
export function pressBack(android: SystemHost): void {
  if (android.systemDialog) return android.showSystemDialog(undefined);
  if (android.overlay) return android.setOverlay(undefined);
  const { dialog } = android.stack.top;
  if (dialog) return dialog.cancelable === false ? undefined : android.showDialog(undefined);
  const { keyboardBack } = android;
  if (android.isKeyboardShown && keyboardBack !== 'leaves-page')
    return keyboardBack === 'closes' ? android.hideKeyboard() : undefined;
  android.finishTop();
}

/** Enter: a new line where there are several, else the keyboard's action key, which closes it. */
export function pressEnter(android: SystemHost): void {
  const field = android.focusedField;
  if (field?.multiline) {
    field.insert('\n');
    return android.redraw();
  }
  android.hideKeyboard();
}

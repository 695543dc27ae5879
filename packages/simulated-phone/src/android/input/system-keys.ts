import type { SystemHost } from '../system-host.ts';

/** Closes the topmost element that Back can close, and only that. */
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

/**
 * Presses Enter: inserts a line break in a multi-line field; otherwise performs the keyboard's action, which closes
 * it.
 */
export function pressEnter(android: SystemHost): void {
  const field = android.focusedField;
  if (field?.multiline) {
    field.insert('\n');
    return android.redraw();
  }
  android.hideKeyboard();
}

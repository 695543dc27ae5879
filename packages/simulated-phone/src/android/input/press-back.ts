import type { SystemHost } from '../system-host.ts';

/** Back closes the topmost thing that can be closed, and only that. */
export function pressBack(android: SystemHost): void {
  if (android.systemDialog) return android.showSystemDialog(undefined);
  if (android.overlay) return android.setOverlay(undefined);
  const { dialog } = android.stack.top;
  if (dialog) return dialog.cancelable === false ? undefined : android.showDialog(undefined);
  if (android.isKeyboardShown) return android.hideKeyboard();
  android.finishTop();
}

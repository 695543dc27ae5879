import type { SystemDialog } from '../system-dialog.ts';
import type { SystemHost } from '../system-host.ts';
import { palette } from '../../view/palette.ts';
import type { View, Window } from '../../view/view.ts';
import type { Ui } from '../../view/widget.ts';
import { textLine } from '../../widgets/text.ts';

/** A dialog of the system with one option a line, as "App keeps stopping" has. */
export function systemDialogWindow(android: SystemHost, systemUi: Ui, dialog: SystemDialog): Window {
  const ui = { ...systemUi, packageName: 'android' };
  const { width, height } = android.display;
  const rowHeight = ui.dp(56);
  const dialogHeight = ui.dp(88) + dialog.options.length * rowHeight + ui.dp(16);
  const top = (height - dialogHeight) >> 1;
  const frame = { left: ui.dp(24), right: width - ui.dp(24), top, bottom: top + dialogHeight };
  const line = { left: frame.left + ui.dp(24), right: frame.right - ui.dp(24) };
  const title = textLine(
    ui,
    { ...line, top: top + ui.dp(24), bottom: top + ui.dp(64) },
    {
      text: dialog.title,
      id: 'android:id/alertTitle',
      size: 20,
      weight: 'medium',
    },
  );
  const options = dialog.options.map((option, index): View => {
    const optionTop = top + ui.dp(88) + index * rowHeight;
    const label = textLine(
      ui,
      { ...line, top: optionTop, bottom: optionTop + rowHeight },
      {
        text: option.label,
        id: option.id,
        color: palette.primary,
      },
    );
    return { ...label, className: 'android.widget.Button', onTap: option.onTap };
  });
  return {
    title: `Application Error: ${dialog.packageName}`,
    focusable: true,
    modal: true,
    root: {
      className: 'android.widget.FrameLayout',
      packageName: 'android',
      frame,
      paint: (canvas) => {
        canvas.rect({ left: 0, top: 0, right: width, bottom: height }, palette.scrim);
        canvas.rect(frame, palette.surface, ui.dp(28));
      },
      children: [title, ...options],
    },
  };
}

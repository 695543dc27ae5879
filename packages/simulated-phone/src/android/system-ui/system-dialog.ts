import type { SystemDialog, SystemHost } from '../system-host.ts';
import { palette } from '../../view/palette.ts';
import type { View, Window, Ui } from '../../view/view.ts';
import { textLine } from '../../widgets/text.ts';

/** Builds a system dialog with one option per line, such as "App keeps stopping". */
export function systemDialogWindow(android: SystemHost, systemUi: Ui, dialog: SystemDialog): Window {
  const window = dialog.window ?? {
    title: `Application Error: ${dialog.packageName}`,
    packageName: 'android',
    titleId: 'android:id/alertTitle',
  };
  const ui = { ...systemUi, packageName: window.packageName };
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
      id: window.titleId,
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
    return { ...label, className: 'android.widget.Button', enabled: option.enabled, onTap: option.onTap };
  });
  return {
    title: window.title,
    focusable: true,
    modal: true,
    root: {
      className: 'android.widget.FrameLayout',
      packageName: window.packageName,
      frame,
      paint: (canvas) => {
        canvas.rect({ left: 0, top: 0, right: width, bottom: height }, palette.scrim);
        canvas.rect(frame, palette.surface, ui.dp(28));
      },
      children: [title, ...options],
    },
  };
}

/** Builds the lock screen: an upward swipe opens it or asks for the PIN. */
export function keyguardWindow(android: SystemHost, ui: Ui): Window {
  const { width, height } = android.display;
  const frame = { left: 0, top: 0, right: width, bottom: height };
  const line = (topDp: number, heightDp: number) => ({
    ...frame,
    top: ui.dp(topDp),
    bottom: ui.dp(topDp + heightDp),
  });
  const hint = { ...frame, top: height - ui.dp(96), bottom: height - ui.dp(64) };
  return {
    title: 'NotificationShade',
    focusable: true,
    modal: true,
    root: {
      className: 'android.widget.FrameLayout',
      packageName: ui.packageName,
      resourceId: 'com.android.systemui:id/keyguard_root_view',
      frame,
      paint: (canvas) => canvas.rect(frame, '#1b2a41'),
      children: [
        textLine(ui, line(180, 96), {
          text: android.clock(),
          id: 'lockscreen_clock_view',
          size: 80,
          color: palette.onPrimary,
          align: 'center',
        }),
        textLine(ui, hint, {
          text: android.lockScreen.hint,
          id: 'keyguard_indication_text',
          size: 15,
          color: palette.onPrimary,
          align: 'center',
        }),
      ],
    },
  };
}

import type { SystemHost } from '../system-host.ts';
import { palette } from '../../view/palette.ts';
import type { Window } from '../../view/view.ts';
import type { Ui } from '../../view/widget.ts';
import { textLine } from '../../widgets/text.ts';

/** The lock screen: a swipe upwards opens it, or asks for the PIN. */
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

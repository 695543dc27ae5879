import { statusBarHeightDp } from '../display/display.ts';
import type { SystemHost } from '../system-host.ts';
import { palette } from '../../view/palette.ts';
import type { Window } from '../../view/view.ts';
import type { Ui } from '../../view/widget.ts';
import { icons } from '../../widgets/icons.ts';

/** Clock and signal icons. Drawn above apps, never dumped. */
export function statusBarWindow(android: SystemHost, ui: Ui): Window {
  const { width } = android.display;
  const height = ui.dp(statusBarHeightDp);
  const size = ui.dp(16);
  const color = android.overlay === 'shade' ? palette.onPrimary : palette.onSurface;
  return {
    title: 'StatusBar',
    focusable: false,
    root: {
      className: 'android.widget.FrameLayout',
      packageName: 'com.android.systemui',
      frame: { left: 0, top: 0, right: width, bottom: height },
      paint: (canvas) => {
        const baseline = height / 2 + ui.dp(14) * 0.4;
        canvas.text(
          android.clock(),
          { x: ui.dp(24), baseline },
          { size: ui.dp(14), weight: 'medium', color },
        );
        const top = (height - size) / 2 + ui.dp(1);
        canvas.icon(icons.battery, { left: width - ui.dp(24) - size, top, size }, color);
        canvas.icon(icons.wifi, { left: width - ui.dp(48) - size, top, size }, color);
      },
    },
  };
}

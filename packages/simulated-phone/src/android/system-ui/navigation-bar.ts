import { navigationBarHeightDp, statusBarHeightDp } from '../display/display.ts';
import { pressBack } from '../input/press-back.ts';
import type { SystemHost } from '../system-host.ts';
import { palette } from '../../view/palette.ts';
import type { View, Window } from '../../view/view.ts';
import type { Ui } from '../../view/widget.ts';
import { icons } from '../../widgets/icons.ts';

type Shape = 'back' | 'home' | 'recents';

function navigationButton(
  android: SystemHost,
  ui: Ui,
  options: { index: number; shape: Shape; onTap: () => void },
): View {
  const { width, height } = android.display;
  const buttonWidth = Math.floor(width / 3);
  const left = buttonWidth * options.index;
  const frame = {
    left,
    right: left + buttonWidth,
    top: height - ui.dp(navigationBarHeightDp),
    bottom: height,
  };
  const x = left + buttonWidth / 2;
  const y = (frame.top + frame.bottom) / 2;
  const half = ui.dp(8);
  return {
    className: 'android.widget.ImageView',
    packageName: ui.packageName,
    resourceId: `com.android.systemui:id/${options.shape === 'recents' ? 'recent_apps' : options.shape}`,
    frame,
    onTap: options.onTap,
    paint: (canvas) => {
      const color = palette.secondaryText;
      if (options.shape === 'home') canvas.circle(x, y, { radius: half, fill: color });
      else if (options.shape === 'recents') {
        const square = { left: x - half, right: x + half, top: y - half, bottom: y + half };
        canvas.outline(square, color, { width: ui.dp(2), radius: ui.dp(2) });
      } else
        canvas.icon('M17 4v16L5 12z', { left: x - half * 1.4, top: y - half * 1.4, size: half * 2.8 }, color);
    },
  };
}

/** Three-button navigation. Drawn above apps, never dumped. */
export function navigationBarWindow(android: SystemHost, ui: Ui): Window {
  const { width, height } = android.display;
  const frame = { left: 0, right: width, top: height - ui.dp(navigationBarHeightDp), bottom: height };
  const toggleRecents = () => android.setOverlay(android.overlay === 'recents' ? undefined : 'recents');
  return {
    title: 'NavigationBar0',
    focusable: false,
    root: {
      className: 'android.widget.FrameLayout',
      packageName: ui.packageName,
      frame,
      paint: (canvas) => canvas.rect(frame, palette.surface),
      children: [
        navigationButton(android, ui, { index: 0, shape: 'back', onTap: () => pressBack(android) }),
        navigationButton(android, ui, { index: 1, shape: 'home', onTap: () => android.goHome() }),
        navigationButton(android, ui, { index: 2, shape: 'recents', onTap: toggleRecents }),
      ],
    },
  };
}

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

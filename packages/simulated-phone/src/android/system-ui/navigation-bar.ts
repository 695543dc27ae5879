import { navigationBarHeightDp } from '../display/display.ts';
import { pressBack } from '../input/press-back.ts';
import type { SystemHost } from '../system-host.ts';
import { palette } from '../../view/palette.ts';
import type { View, Window } from '../../view/view.ts';
import type { Ui } from '../../view/widget.ts';

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

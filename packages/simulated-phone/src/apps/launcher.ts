import { icons } from '../widgets/icons.ts';
import { palette } from '../view/palette.ts';
import type { View } from '../view/view.ts';
import type { Area, Ui } from '../view/widget.ts';
import { textLine } from '../widgets/text.ts';
import { defineApp, type LaunchableApp } from '../view/app.ts';

const packageName = 'dev.phalanx.sample.launcher';
const columns = 4;

function appIcon(ui: Ui, cell: Area, app: LaunchableApp & { onTap: () => void }): View {
  const size = ui.dp(60);
  const middle = (cell.left + cell.right) >> 1;
  const tile = {
    left: middle - (size >> 1),
    right: middle + (size >> 1),
    top: cell.top + ui.dp(8),
    bottom: cell.top + ui.dp(8) + size,
  };
  const label = { ...cell, top: tile.bottom + ui.dp(4), bottom: tile.bottom + ui.dp(24) };
  const drawn = textLine(ui, label, { text: app.label, size: 13, align: 'center', color: palette.onPrimary });
  return {
    ...drawn,
    frame: cell,
    description: app.label,
    onTap: app.onTap,
    paint: (canvas) => {
      canvas.rect(tile, '#ffffff', ui.dp(18));
      const inner = ui.dp(34);
      const at = { left: middle - inner / 2, top: tile.top + (size - inner) / 2, size: inner };
      canvas.icon(app.icon, at, app.color);
      drawn.paint?.(canvas);
    },
  };
}

/** The home screen: a grid of the installed apps. */
export const launcherApp = defineApp({
  packageName,
  label: 'Launcher',
  icon: icons.apps,
  color: palette.primary,
  isHome: true,
  state: () => ({}),
  activities: {
    '.Launcher': (app) => (ui, area) => {
      const width = Math.floor((area.right - area.left) / columns);
      const top = area.top + ui.dp(160);
      const cells = app.listLaunchable().map((other, index) => {
        const left = area.left + (index % columns) * width;
        const cellTop = top + Math.floor(index / columns) * ui.dp(112);
        const cell = { left, right: left + width, top: cellTop, bottom: cellTop + ui.dp(104) };
        return appIcon(ui, cell, { ...other, onTap: () => app.startApp(other.packageName) });
      });
      const date = {
        left: area.left + ui.dp(28),
        right: area.right,
        top: area.top + ui.dp(48),
        bottom: area.top + ui.dp(96),
      };
      return {
        className: 'android.view.ViewGroup',
        packageName,
        resourceId: `${packageName}:id/workspace`,
        frame: area,
        paint: (canvas) => {
          canvas.rect({ left: 0, right: 1e5, top: 0, bottom: 1e5 }, '#4a6a8f');
          canvas.rect({ left: 0, right: 1e5, top: area.bottom * 0.66, bottom: 1e5 }, '#3b5878');
        },
        children: [
          textLine(ui, date, { text: app.phone.model, id: 'date', size: 26, color: palette.onPrimary }),
          ...cells,
        ],
      };
    },
  },
});

import { statusBarHeightDp } from '../display/display.ts';
import type { SystemHost } from '../system-host.ts';
import { palette } from '../../view/palette.ts';
import type { View, Window } from '../../view/view.ts';
import type { Ui } from '../../view/widget.ts';
import { textLine } from '../../widgets/text.ts';

const packageName = 'dev.phalanx.sample.launcher';
const maxCards = 6;

/** The recent apps as a list of cards; a tap brings one to front. */
export function recentsWindow(android: SystemHost, systemUi: Ui): Window {
  const ui = { ...systemUi, packageName };
  const { width, height } = android.display;
  const frame = { left: 0, top: 0, right: width, bottom: height };
  const top = ui.dp(statusBarHeightDp + 24);
  const cards = android.stack
    .listRecent()
    .slice(0, maxCards)
    .map((task, index): View => {
      const card = {
        left: ui.dp(24),
        right: width - ui.dp(24),
        top: top + index * ui.dp(108),
        bottom: top + index * ui.dp(108) + ui.dp(96),
      };
      return {
        className: 'android.widget.FrameLayout',
        packageName,
        resourceId: `${packageName}:id/task`,
        description: task.app.label,
        frame: card,
        onTap: () => void android.startActivity(task.app.packageName),
        paint: (canvas) => {
          canvas.rect(card, palette.background, ui.dp(20));
          const size = ui.dp(28);
          canvas.icon(
            task.app.icon,
            { left: card.left + ui.dp(20), top: card.top + ui.dp(34), size },
            task.app.color,
          );
        },
        children: [
          textLine(
            ui,
            { ...card, left: card.left + ui.dp(68) },
            { text: task.app.label, size: 18, weight: 'medium' },
          ),
        ],
      };
    });
  const empty = textLine(
    ui,
    { ...frame, top: height / 2, bottom: height / 2 + ui.dp(32) },
    { text: 'No recent items', align: 'center', color: palette.onPrimary },
  );
  return {
    title: `${packageName}/com.android.quickstep.RecentsActivity`,
    focusable: true,
    modal: true,
    root: {
      className: 'android.widget.FrameLayout',
      packageName,
      resourceId: `${packageName}:id/overview_panel`,
      frame,
      paint: (canvas) => canvas.rect(frame, '#39455c'),
      children: cards.length > 0 ? cards : [empty],
    },
  };
}

import type { Notification } from '../notices.ts';
import type { SystemHost } from '../system-host.ts';
import { palette } from '../../view/palette.ts';
import type { Rect } from '../../view/rect.ts';
import type { View, Window, Ui } from '../../view/view.ts';
import { textLine } from '../../widgets/text.ts';
import { statusBarHeightDp } from '../display/display.ts';

const tiles = [
  ['Wi-Fi', 'wifi'],
  ['Bluetooth', 'bluetooth'],
  ['Do Not Disturb', 'dnd'],
  ['Flashlight', 'flashlight'],
] as const;

function tile(android: SystemHost, ui: Ui, options: { frame: Rect; label: string; key: string }): View {
  const { frame, label, key } = options;
  const table = android.settings.findTable('global');
  const isOn = table?.get(`tile_${key}`) === '1';
  return {
    className: 'android.widget.Switch',
    packageName: ui.packageName,
    frame,
    description: label,
    text: isOn ? 'On' : 'Off',
    checkable: true,
    checked: isOn,
    onTap: () => {
      table?.set(`tile_${key}`, isOn ? '0' : '1');
      android.redraw();
    },
    paint: (canvas) => {
      canvas.rect(frame, isOn ? palette.primaryContainer : '#3a4250', ui.dp(24));
      const at = { x: frame.left + ui.dp(20), baseline: (frame.top + frame.bottom) / 2 + ui.dp(6) };
      canvas.text(label, at, { size: ui.dp(15), color: isOn ? palette.onSurface : palette.onPrimary });
    },
  };
}

function notification(ui: Ui, frame: Rect, { title, text }: Notification): View {
  const inner = {
    left: frame.left + ui.dp(20),
    right: frame.right - ui.dp(20),
    top: frame.top,
    bottom: frame.bottom,
  };
  const middle = (frame.top + frame.bottom) >> 1;
  return {
    className: 'android.widget.FrameLayout',
    packageName: ui.packageName,
    resourceId: 'com.android.systemui:id/expandableNotificationRow',
    frame,
    paint: (canvas) => canvas.rect(frame, palette.surface, ui.dp(24)),
    children: [
      textLine(
        ui,
        { ...inner, top: middle - ui.dp(24), bottom: middle },
        { text: title, id: 'android:id/title', size: 16 },
      ),
      textLine(
        ui,
        { ...inner, top: middle, bottom: middle + ui.dp(24) },
        {
          text,
          id: 'android:id/text',
          size: 14,
          color: palette.secondaryText,
        },
      ),
    ],
  };
}

const maxShown = 12;

/** Builds the open notification shade: four quick settings and the notifications. */
export function shadeWindow(android: SystemHost, ui: Ui): Window {
  const { width, height } = android.display;
  const frame = { left: 0, top: 0, right: width, bottom: height };
  const margin = ui.dp(16);
  const tileWidth = Math.floor((width - margin * 3) / 2);
  const tileViews = tiles.map(([label, key], index) => {
    const left = margin + (index % 2) * (tileWidth + margin);
    const top = ui.dp(64) + Math.floor(index / 2) * ui.dp(76);
    return tile(android, ui, {
      label,
      key,
      frame: { left, right: left + tileWidth, top, bottom: top + ui.dp(64) },
    });
  });
  const notifications = android.notices.notifications.slice(-maxShown).map((shown, index) => {
    const top = ui.dp(236 + index * 92);
    return notification(ui, { left: margin, right: width - margin, top, bottom: top + ui.dp(84) }, shown);
  });
  return {
    title: 'NotificationShade',
    focusable: true,
    modal: true,
    root: {
      className: 'android.widget.FrameLayout',
      packageName: ui.packageName,
      resourceId: 'com.android.systemui:id/notification_panel',
      frame,
      paint: (canvas) => canvas.rect(frame, 'rgba(20,24,32,0.92)'),
      children: [...tileViews, ...notifications],
    },
  };
}

const headsUpHeightDp = 84;

/**
 * Builds a heads-up notification over the top of the screen. Its window covers the display, has no focus, and takes
 * touches only on the notification (SystemUI's StatusBarTouchableRegionManager). A tap opens the app of the
 * notification.
 */
export function headsUpWindow(android: SystemHost, ui: Ui, shown: Notification): Window {
  const { width, height } = android.display;
  const top = ui.dp(statusBarHeightDp + 4);
  const row = { left: ui.dp(8), right: width - ui.dp(8), top, bottom: top + ui.dp(headsUpHeightDp) };
  const open = (): void => {
    android.headsUp.hide();
    android.startActivity(shown.packageName);
  };
  return {
    title: 'NotificationShade',
    focusable: false,
    touchable: row,
    root: {
      className: 'android.widget.FrameLayout',
      packageName: ui.packageName,
      frame: { left: 0, top: 0, right: width, bottom: height },
      children: [{ ...notification(ui, row, shown), onTap: open }],
    },
  };
}

const packageName = 'dev.phalanx.sample.launcher';
const maxCards = 6;

/** Builds the recent apps as a list of cards; a tap brings one to front. */
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

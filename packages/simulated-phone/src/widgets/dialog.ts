import type { Dialog } from '../view/app.ts';
import { palette } from '../view/palette.ts';
import type { Rect } from '../view/rect.ts';
import type { View, Area, Ui, Widget } from '../view/view.ts';
import { buttonView } from './button.ts';
import { composeLook } from './compose-look.ts';
import { text, textLine } from './text.ts';

const buttonIds = ['android:id/button3', 'android:id/button2', 'android:id/button1'] as const;

/** Builds a row of buttons from the right end: the confirming one is outermost, as button1. */
function buttonRow(ui: Ui, area: Area, buttons: readonly { label: string; onTap: () => void }[]): View {
  const height = ui.dp(48);
  const width = Math.floor((area.right - area.left - ui.dp(16)) / 3);
  const views = buttons.map((button, index) => {
    const right = area.right - ui.dp(8) - width * (buttons.length - 1 - index);
    const frame = { left: right - width, right, top: area.top, bottom: area.top + height };
    const id = buttonIds[index + buttonIds.length - buttons.length] ?? 'android:id/button3';
    return buttonView(ui, frame, { id, label: button.label, look: 'text', onTap: button.onTap });
  });
  return {
    className: 'android.widget.ScrollView',
    packageName: ui.packageName,
    resourceId: 'android:id/buttonPanel',
    frame: { ...area, bottom: area.top + height },
    children: views,
  };
}

function panel(ui: Ui, frame: Rect, children: readonly View[]): View {
  return {
    className: 'android.widget.FrameLayout',
    packageName: ui.packageName,
    resourceId: 'android:id/content',
    frame,
    paint: (canvas) => {
      canvas.rect({ left: 0, top: 0, right: 1e5, bottom: 1e5 }, palette.scrim);
      canvas.rect(frame, palette.surface, ui.dp(28));
    },
    children: [
      {
        className: 'android.widget.LinearLayout',
        packageName: ui.packageName,
        resourceId: 'android:id/parentPanel',
        frame,
        children,
      },
    ],
  };
}

/** Builds an AlertDialog in the middle of the area. `close` runs before a button's own action. */
export function dialogPanel(dialog: Dialog, close: () => void): Widget {
  return (ui, area) => {
    const side = ui.dp(24);
    const inner = { left: area.left + side, right: area.right - side, top: 0, bottom: area.bottom };
    const buttons = dialog.buttons.slice(-3).map(({ label, onTap }) => ({
      label,
      onTap: () => {
        close();
        onTap?.();
      },
    }));
    const build = (top: number) => {
      const titleFrame = {
        left: inner.left + ui.dp(24),
        right: inner.right - ui.dp(24),
        top: top + ui.dp(24),
        bottom: top + ui.dp(56),
      };
      const title = textLine(ui, titleFrame, {
        text: dialog.title,
        id: 'android:id/alertTitle',
        size: 22,
        weight: 'medium',
      });
      const style = {
        id: 'android:id/message',
        size: 15,
        color: palette.secondaryText,
        padding: { x: 24, y: 8 },
      };
      const message = text(dialog.message, style)(ui, { ...inner, top: title.frame.bottom });
      const row = buttonRow(ui, { ...inner, top: message.frame.bottom + ui.dp(8) }, buttons);
      return { views: [title, message, row], bottom: row.frame.bottom + ui.dp(12) };
    };
    const height = build(0).bottom;
    const top = Math.round((area.top + area.bottom - height) / 2);
    const built = build(top);
    const shown = panel(ui, { ...inner, top, bottom: built.bottom }, built.views);
    return dialog.isCompose === true ? composeLook(shown) : shown;
  };
}

import { navigationBarHeightDp } from '../display/display.ts';
import { pressEnter } from '../input/system-keys.ts';
import type { SystemHost } from '../system-host.ts';
import { palette } from '../../view/palette.ts';
import type { View, Window, Ui } from '../../view/view.ts';
import { icons } from '../../widgets/icons.ts';

export const keyboardHeightDp = 264;

const packageName = 'com.android.inputmethod.latin';
const rows = ['1234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm⌫', ',_ .⏎'];

/** Widths of keys, in units of a letter key. */
const widths: Record<string, number> = { ' ': 5, '⌫': 1.5, '⏎': 1.5 };

function typeKey(android: SystemHost, key: string): void {
  const field = android.focusedField;
  if (key === '⏎') return pressEnter(android);
  if (key === '⌫') field?.deleteBefore();
  else field?.insert(key);
  android.redraw();
}

function keyView(
  android: SystemHost,
  ui: Ui,
  options: { key: string; left: number; top: number; width: number },
): View {
  const { key, left, top, width } = options;
  const gap = ui.dp(3);
  const frame = {
    left: left + gap,
    right: left + width - gap,
    top: top + gap,
    bottom: top + ui.dp(48) - gap,
  };
  const isAction = key === '⌫' || key === '⏎';
  return {
    className: 'android.inputmethodservice.Keyboard$Key',
    packageName,
    frame,
    description: key,
    onTap: () => typeKey(android, key),
    paint: (canvas) => {
      canvas.rect(frame, isAction ? palette.primaryContainer : '#ffffff', ui.dp(8));
      const size = ui.dp(20);
      const middle = { x: (frame.left + frame.right) / 2, y: (frame.top + frame.bottom) / 2 };
      const at = { left: middle.x - size / 2, top: middle.y - size / 2, size };
      if (isAction)
        canvas.icon(
          key === '⏎' ? 'M19 7v4H6.800l3.600-3.600L9 6l-6 6 6 6 1.400-1.400L6.800 13H21V7z' : icons.back,
          at,
          palette.onSurface,
        );
      else
        canvas.text(
          key,
          { x: middle.x, baseline: middle.y + size * 0.35 },
          { size, align: 'center', color: palette.onSurface },
        );
    },
  };
}

/** Builds the soft keyboard. Its keys type; like Android's, it is not part of a dump. */
export function keyboardWindow(android: SystemHost, ui: Ui): Window {
  const { width, height } = android.display;
  const bottom = height - ui.dp(navigationBarHeightDp);
  const top = bottom - ui.dp(keyboardHeightDp);
  const frame = { left: 0, right: width, top, bottom };
  const unit = width / 10;
  const keys = rows.flatMap((row, rowIndex) => {
    const letters = Array.from(row);
    const rowWidth = letters.reduce((sum, key) => sum + (widths[key] ?? 1), 0) * unit;
    let left = (width - rowWidth) / 2;
    return letters.map((key) => {
      const keyWidth = (widths[key] ?? 1) * unit;
      const view = keyView(android, ui, {
        key,
        left: Math.round(left),
        top: top + ui.dp(12 + rowIndex * 50),
        width: Math.round(keyWidth),
      });
      left += keyWidth;
      return view;
    });
  });
  return {
    title: 'InputMethod',
    focusable: false,
    root: {
      className: 'android.widget.FrameLayout',
      packageName,
      frame,
      paint: (canvas) => canvas.rect(frame, palette.switchOff),
      children: keys,
    },
  };
}

import { palette } from '../view/palette.ts';
import type { Rect } from '../view/rect.ts';
import { type View, resourceId, type Ui, type Widget } from '../view/view.ts';

export interface ButtonOptions {
  readonly id: string;
  readonly label: string;
  /** Look of the button: filled for the page's main action, text for dialogs. Default: filled. */
  readonly look?: 'filled' | 'tonal' | 'text' | undefined;
  readonly enabled?: boolean | undefined;
  readonly onTap: () => void;
  readonly onDoubleTap?: (() => void) | undefined;
  readonly onLongPress?: (() => void) | undefined;
}

const looks = {
  filled: { fill: palette.primary, color: palette.onPrimary },
  tonal: { fill: palette.primaryContainer, color: palette.onSurface },
  text: { fill: 'none', color: palette.primary },
} as const;

/** Builds a button in a fixed frame. */
export function buttonView(ui: Ui, frame: Rect, options: ButtonOptions): View {
  const look = looks[options.look ?? 'filled'];
  const isDisabled = options.enabled === false;
  const size = ui.dp(15);
  return {
    className: 'android.widget.Button',
    packageName: ui.packageName,
    resourceId: resourceId(ui, options.id),
    frame,
    text: options.label,
    enabled: options.enabled,
    onTap: options.onTap,
    onDoubleTap: options.onDoubleTap,
    onLongPress: options.onLongPress,
    paint: (canvas) => {
      canvas.rect(frame, isDisabled ? palette.switchOff : look.fill, (frame.bottom - frame.top) / 2);
      const at = {
        x: (frame.left + frame.right) / 2,
        baseline: (frame.top + frame.bottom) / 2 + size * 0.35,
      };
      const color = isDisabled ? palette.outline : look.color;
      canvas.text(options.label, at, { size, weight: 'medium', align: 'center', color });
    },
  };
}

/** Builds a button over the width of its area. */
export function button(options: ButtonOptions): Widget {
  return (ui, area) =>
    buttonView(
      ui,
      {
        left: area.left + ui.dp(16),
        right: area.right - ui.dp(16),
        top: area.top + ui.dp(8),
        bottom: area.top + ui.dp(8 + 48),
      },
      options,
    );
}

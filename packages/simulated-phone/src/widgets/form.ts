import type { Canvas } from '../view/canvas.ts';
import { textWidth } from '../view/glyphs.ts';
import { palette } from '../view/palette.ts';
import { resourceId, type Ui, type Widget } from '../view/widget.ts';
import { icons } from './icons.ts';

export interface FieldOptions {
  readonly id: string;
  readonly hint: string;
  readonly password?: boolean | undefined;
  readonly multiline?: boolean | undefined;
}

/** An outlined EditText. */
export function textField(options: FieldOptions): Widget {
  return (ui, area) => {
    const field = ui.field(options.id, options);
    const focused = ui.isFocused(field);
    const frame = {
      left: area.left + ui.dp(16),
      right: area.right - ui.dp(16),
      top: area.top + ui.dp(8),
      bottom: area.top + ui.dp(8 + 56),
    };
    const isEmpty = field.text === '';
    const shown = isEmpty ? options.hint : field.shownText;
    const size = ui.dp(16);
    const x = frame.left + ui.dp(16);
    return {
      className: 'android.widget.EditText',
      packageName: ui.packageName,
      resourceId: resourceId(ui, options.id),
      frame,
      // Android reports the hint as the text of an empty field.
      text: shown,
      hint: options.hint,
      password: options.password,
      focused,
      field,
      onTap: () => ui.focus(field),
      onLongPress: () => ui.focus(field),
      paint: (canvas) => {
        const baseline = (frame.top + frame.bottom) / 2 + size * 0.35;
        const maxWidth = frame.right - x - ui.dp(16);
        canvas.outline(frame, focused ? palette.primary : palette.outline, {
          width: ui.dp(focused ? 2 : 1),
          radius: ui.dp(6),
        });
        canvas.text(
          shown,
          { x, baseline },
          { size, maxWidth, color: isEmpty ? palette.outline : palette.onSurface },
        );
        if (!focused) return;
        const before = Array.from(field.shownText).slice(0, field.caret).join('');
        const caretX = x + Math.min(textWidth(before, { size }), maxWidth);
        const [top, bottom] = [baseline - size * 0.95, baseline + size * 0.25];
        canvas.rect({ left: caretX, right: caretX + ui.dp(2), top, bottom }, palette.primary);
      },
    };
  };
}

export interface ChoiceOptions {
  readonly id: string;
  readonly label: string;
  readonly checked: boolean;
  readonly enabled?: boolean | undefined;
  readonly onTap: () => void;
}

function choice(
  ui: Ui,
  area: { left: number; top: number; right: number },
  options: ChoiceOptions & { round: boolean },
) {
  const frame = {
    left: area.left + ui.dp(16),
    right: area.right - ui.dp(16),
    top: area.top,
    bottom: area.top + ui.dp(48),
  };
  const size = ui.dp(24);
  const at = { left: frame.left + ui.dp(4), top: ((frame.top + frame.bottom) >> 1) - (size >> 1), size };
  const path = options.round
    ? options.checked
      ? icons.radioOn
      : icons.radioOff
    : options.checked
      ? icons.boxChecked
      : icons.box;
  return {
    className: options.round ? 'android.widget.RadioButton' : 'android.widget.CheckBox',
    packageName: ui.packageName,
    resourceId: resourceId(ui, options.id),
    frame,
    text: options.label,
    checkable: true,
    checked: options.checked,
    enabled: options.enabled,
    onTap: options.onTap,
    paint: (canvas: Canvas) => {
      canvas.icon(path, at, options.checked ? palette.primary : palette.secondaryText);
      const textSize = ui.dp(16);
      const baseline = (frame.top + frame.bottom) / 2 + textSize * 0.35;
      canvas.text(
        options.label,
        { x: at.left + size + ui.dp(16), baseline },
        { size: textSize, color: palette.onSurface },
      );
    },
  };
}

export function checkBox(options: ChoiceOptions): Widget {
  return (ui, area) => choice(ui, area, { ...options, round: false });
}

export function radioButton(options: ChoiceOptions): Widget {
  return (ui, area) => choice(ui, area, { ...options, round: true });
}

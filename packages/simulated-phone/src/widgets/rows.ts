import type { Canvas } from '../view/canvas.ts';
import { palette } from '../view/palette.ts';
import { type Rect, inset, rectHeight } from '../view/rect.ts';
import type { View, Area, Ui, Widget } from '../view/view.ts';
import { textLine } from './text.ts';

export interface RowOptions {
  readonly title: string;
  readonly summary?: string | undefined;
  /** Path of an icon on a 24-unit grid. */
  readonly icon?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly onTap?: (() => void) | undefined;
  readonly onLongPress?: (() => void) | undefined;
}

function rowTexts(ui: Ui, frame: Rect, options: RowOptions): View[] {
  const { title, summary } = options;
  const middle = (frame.top + frame.bottom) >> 1;
  const color = options.enabled === false ? palette.outline : palette.onSurface;
  const titleFrame = summary
    ? { ...frame, top: middle - ui.dp(23), bottom: middle + ui.dp(2) }
    : { ...frame, top: middle - ui.dp(12), bottom: middle + ui.dp(12) };
  const titleView = textLine(ui, titleFrame, { text: title, id: 'android:id/title', size: 17, color });
  if (!summary) return [titleView];
  const summaryFrame = { ...frame, top: middle + ui.dp(2), bottom: middle + ui.dp(22) };
  const style = { id: 'android:id/summary', size: 14, color: palette.secondaryText };
  return [titleView, textLine(ui, summaryFrame, { text: summary, ...style })];
}

function rowIcon(ui: Ui, frame: Rect, path: string): View {
  const size = ui.dp(24);
  const left = frame.left + ui.dp(20);
  const top = ((frame.top + frame.bottom) >> 1) - (size >> 1);
  return {
    className: 'android.widget.ImageView',
    packageName: ui.packageName,
    resourceId: 'android:id/icon',
    frame: { left, top, right: left + size, bottom: top + size },
    paint: (canvas) => canvas.icon(path, { left, top, size }, palette.secondaryText),
  };
}

function rowFrame(ui: Ui, area: Area, options: RowOptions): Rect {
  return { ...area, bottom: area.top + ui.dp(options.summary ? 72 : 56) };
}

function row(ui: Ui, frame: Rect, options: RowOptions & { widget?: View; endWidth?: number }): View {
  const textFrame = {
    ...frame,
    left: frame.left + ui.dp(options.icon ? 64 : 24),
    right: frame.right - ui.dp(options.endWidth ?? 24),
  };
  const icon = options.icon ? [rowIcon(ui, frame, options.icon)] : [];
  return {
    className: 'android.widget.LinearLayout',
    packageName: ui.packageName,
    frame,
    enabled: options.enabled,
    onTap: options.onTap,
    onLongPress: options.onLongPress,
    children: [
      ...icon,
      {
        className: 'android.widget.RelativeLayout',
        packageName: ui.packageName,
        frame: textFrame,
        children: rowTexts(ui, textFrame, options),
      },
      ...(options.widget ? [options.widget] : []),
    ],
  };
}

/** Builds a row of a settings list: title, summary, and optionally an icon. */
export function listRow(options: RowOptions): Widget {
  return (ui, area) => row(ui, rowFrame(ui, area, options), options);
}

/** Builds a row that ends in a switch; a tap anywhere on it toggles. */
export function switchRow(options: RowOptions & { checked: boolean; onToggle: () => void }): Widget {
  return (ui, area) => {
    const frame = rowFrame(ui, area, options);
    const middle = (frame.top + frame.bottom) >> 1;
    const right = frame.right - ui.dp(24);
    const switchFrame = {
      left: right - ui.dp(52),
      right,
      top: middle - ui.dp(16),
      bottom: middle + ui.dp(16),
    };
    const widget: View = {
      className: 'android.widget.Switch',
      packageName: ui.packageName,
      resourceId: 'android:id/switch_widget',
      frame: switchFrame,
      text: options.checked ? 'On' : 'Off',
      checkable: true,
      checked: options.checked,
      enabled: options.enabled,
      paint: (canvas) => paintSwitch(canvas, switchFrame, options.checked),
    };
    return row(ui, frame, { ...options, onTap: options.onToggle, widget, endWidth: 88 });
  };
}

/** Builds the small colored line above a group of rows. */
export function category(title: string): Widget {
  return (ui, area) => {
    const frame = { ...area, bottom: area.top + ui.dp(44) };
    const textFrame = {
      ...frame,
      left: frame.left + ui.dp(24),
      right: frame.right - ui.dp(24),
      top: frame.top + ui.dp(16),
    };
    return {
      className: 'android.widget.LinearLayout',
      packageName: ui.packageName,
      frame,
      children: [
        textLine(ui, textFrame, {
          text: title,
          id: 'android:id/title',
          size: 14,
          weight: 'medium',
          color: palette.primary,
        }),
      ],
    };
  };
}

/** Paints a Material 3 switch: a filled track if it is on, an outlined one if it is off. */
function paintSwitch(canvas: Canvas, frame: Rect, checked: boolean): void {
  const height = rectHeight(frame);
  const middle = (frame.top + frame.bottom) / 2;
  canvas.rect(frame, checked ? palette.primary : palette.switchOff, height / 2);
  if (!checked) canvas.outline(inset(frame, 2), palette.outline, { width: 4, radius: height / 2 });
  const x = checked ? frame.right - height / 2 : frame.left + height / 2;
  const radius = checked ? height * 0.375 : height * 0.25;
  canvas.circle(x, middle, { radius, fill: checked ? palette.onPrimary : palette.outline });
}

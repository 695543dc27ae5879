import { textWidth, type FontWeight } from '../view/canvas.ts';
import { palette } from '../view/palette.ts';
import type { Rect } from '../view/rect.ts';
import { type View, resourceId, type Ui, type Widget } from '../view/view.ts';

export interface TextOptions {
  readonly id?: string | undefined;
  /** Font size in dp. Default: 16. */
  readonly size?: number | undefined;
  readonly color?: string | undefined;
  readonly weight?: FontWeight | undefined;
  readonly align?: 'start' | 'center' | undefined;
  /** Padding in dp. Default: 16 at the sides, 4 above and below. */
  readonly padding?: { readonly x: number; readonly y: number } | undefined;
}

const lineFactor = 1.4;

/** Builds a TextView in a fixed frame: one line, cut if it is too long. */
export function textLine(
  ui: Ui,
  frame: Rect,
  { text: content, ...options }: TextOptions & { text: string },
): View {
  const size = ui.dp(options.size ?? 16);
  const isCentered = options.align === 'center';
  return {
    className: 'android.widget.TextView',
    packageName: ui.packageName,
    frame,
    text: content,
    resourceId: resourceId(ui, options.id),
    paint: (canvas) =>
      canvas.text(
        content,
        {
          x: isCentered ? (frame.left + frame.right) / 2 : frame.left,
          baseline: (frame.top + frame.bottom) / 2 + size * 0.35,
        },
        {
          size,
          color: options.color ?? palette.onSurface,
          weight: options.weight,
          align: options.align,
          maxWidth: frame.right - frame.left,
        },
      ),
  };
}

/** Wraps at spaces; a word wider than the line gets its own line and is cut there. */
function wrap(
  content: string,
  style: { size: number; weight?: FontWeight | undefined },
  maxWidth: number,
): string[] {
  const lines: string[] = [];
  for (const paragraph of content.split('\n')) {
    let line = '';
    for (const word of paragraph.split(' ')) {
      const longer = line === '' ? word : `${line} ${word}`;
      if (line !== '' && textWidth(longer, style) > maxWidth) {
        lines.push(line);
        line = word;
      } else line = longer;
    }
    lines.push(line);
  }
  return lines;
}

/** Builds text over the width of its area, in as many lines as it needs. */
export function text(content: string, options: TextOptions = {}): Widget {
  return (ui, area) => {
    const size = ui.dp(options.size ?? 16);
    const padding = { x: ui.dp(options.padding?.x ?? 16), y: ui.dp(options.padding?.y ?? 4) };
    const left = area.left + padding.x;
    const maxWidth = area.right - padding.x - left;
    const lines = wrap(content, { size, weight: options.weight }, maxWidth);
    const lineHeight = Math.round(size * lineFactor);
    const top = area.top + padding.y;
    const isCentered = options.align === 'center';
    const x = isCentered ? (left + area.right - padding.x) / 2 : left;
    const style = {
      size,
      color: options.color ?? palette.onSurface,
      weight: options.weight,
      align: options.align,
      maxWidth,
    };
    return {
      className: 'android.widget.TextView',
      packageName: ui.packageName,
      frame: {
        left: area.left,
        right: area.right,
        top: area.top,
        bottom: top + lineHeight * lines.length + padding.y,
      },
      text: content,
      resourceId: resourceId(ui, options.id),
      paint: (canvas) => {
        for (const [index, line] of lines.entries()) {
          canvas.text(line, { x, baseline: top + lineHeight * (index + 0.5) + size * 0.35 }, style);
        }
      },
    };
  };
}

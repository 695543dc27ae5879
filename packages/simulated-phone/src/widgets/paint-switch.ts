import type { Canvas } from '../screen/canvas.ts';
import { palette } from '../view/palette.ts';
import { inset, type Rect, rectHeight } from '../view/rect.ts';

/** A Material 3 switch: a filled track when it is on, an outlined one when it is off. */
export function paintSwitch(canvas: Canvas, frame: Rect, checked: boolean): void {
  const height = rectHeight(frame);
  const middle = (frame.top + frame.bottom) / 2;
  canvas.rect(frame, checked ? palette.primary : palette.switchOff, height / 2);
  if (!checked) canvas.outline(inset(frame, 2), palette.outline, { width: 4, radius: height / 2 });
  const x = checked ? frame.right - height / 2 : frame.left + height / 2;
  const radius = checked ? height * 0.375 : height * 0.25;
  canvas.circle(x, middle, { radius, fill: checked ? palette.onPrimary : palette.outline });
}

import type { Gesture } from '../android/input/input-log.ts';
import { center, rectHeight } from '../view/rect.ts';
import { bodies, parseBody } from './bodies.ts';
import { type Handler, requireInjection } from './command.ts';
import { gestureArea } from './gesture-handlers.ts';

const pinchMs = 400;

/** Two fingers that part along the height of the area, or meet in its middle; they are noted, and no app of this phone heeds them. */
const pinching =
  (isOpening: boolean): Handler =>
  (command) => {
    requireInjection(command.phone, 'gesture');
    const { origin, area, percent } = parseBody(bodies.pinch, command.body);
    const rect = gestureArea(command, origin, area);
    const { x, y } = center(rect);
    const way = Math.round((rectHeight(rect) * percent) / 2);
    const gestures = [-way, way].map((dy): Gesture => {
      const [near, far] = [
        { x, y: y + Math.sign(dy) },
        { x, y: y + dy },
      ];
      return isOpening
        ? { from: near, to: far, durationMs: pinchMs }
        : { from: far, to: near, durationMs: pinchMs };
    });
    command.phone.android.inputs.add({ kind: 'fingers', gestures });
  };

export const pinchOpen = pinching(true);
export const pinchClose = pinching(false);

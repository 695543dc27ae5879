import type { Android } from '../android/android.ts';
import { doubleTap, longPress, tap } from '../android/input/touch.ts';
import { pause } from '../pause.ts';
import type { Point } from '../view/rect.ts';
import { bodies, parseBody } from './bodies.ts';
import { type Command, type Handler, requireInjection } from './command.ts';

/** Android's own time-out of a long press, in ms. */
const defaultHoldMs = 500;

function pressed({ body }: Command): { at: Point; duration: number } {
  const { offset, duration = defaultHoldMs } = parseBody(bodies.press, body);
  return { at: { x: Math.trunc(offset.x), y: Math.trunc(offset.y) }, duration };
}

const clicking =
  (press: (android: Android, at: Point) => void): Handler =>
  (command) => {
    requireInjection(command.phone, 'gesture');
    press(command.phone.android, pressed(command).at);
  };

export const click = clicking(tap);
export const doubleClick = clicking(doubleTap);

/** Presses for the full time before replying, even if the client has stopped waiting. */
export const longClick: Handler = async (command) => {
  const { phone } = command;
  requireInjection(phone, 'gesture');
  const { at, duration } = pressed(command);
  const { signal } = phone.power;
  await pause(signal, duration);
  if (!signal.aborted) longPress(phone.android, at);
};

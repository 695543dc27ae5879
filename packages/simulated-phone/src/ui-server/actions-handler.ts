import type { Gesture } from '../android/input/input-log.ts';
import { Finger } from '../android/input/touch.ts';
import type { Point } from '../view/rect.ts';
import { pause } from '../pause.ts';
import { type ActionSource, bodies, parseBody } from './bodies.ts';
import { type Command, type Handler, requireInjection } from './command.ts';
import { WebDriverError } from './web-driver-error.ts';

type Item = ActionSource['actions'][number];

const maxTotalMs = 60_000;

function moveTarget({ x = 0, y = 0, origin }: Item, current: Point): Point {
  return origin === 'pointer' ? { x: current.x + x, y: current.y + y } : { x, y };
}

interface Pointer {
  readonly from: Point;
  /** Finger; undefined for one of several. */
  readonly finger: Finger | undefined;
  pressedMs: number;
}

/** Performs the gestures of one finger; those of several fingers are collected in `together`. */
async function runPointer(
  command: Command,
  items: readonly Item[],
  together: ((gesture: Gesture) => void) | undefined,
): Promise<void> {
  const { android } = command.phone;
  const signal = AbortSignal.timeout(maxTotalMs);
  let at: Point = { x: 0, y: 0 };
  let down: Pointer | undefined;
  for (const item of items) {
    const durationMs = item.duration ?? 0;
    const to: Point = item.type === 'pointerMove' ? moveTarget(item, at) : at;
    if (down?.finger && item.type === 'pointerMove') await down.finger.moveTo(to, durationMs, signal);
    else await pause(signal, durationMs);
    at = to;
    if (down) down.pressedMs += durationMs;
    if (item.type === 'pointerDown')
      down = { from: at, finger: together ? undefined : new Finger(android, at), pressedMs: 0 };
    else if (item.type === 'pointerCancel') down = undefined;
    else if (item.type === 'pointerUp' && down) {
      const { from, finger, pressedMs } = down;
      if (finger) finger.lift(pressedMs);
      else together?.({ from, to: at, durationMs: pressedMs });
      down = undefined;
    } else if (!['pause', 'pointerUp', 'pointerMove'].includes(item.type)) throw unknownType(item.type);
  }
}

const unknownType = (type: string) => new WebDriverError('invalid argument', `Unknown action type '${type}'`);

/** Rejects the actions that the real server rejects (ActionsPreprocessor.java, ActionsTokenizer.java). */
function check(actions: readonly ActionSource[]): void {
  const ids = new Set(actions.map(({ id }) => id));
  if (ids.size < actions.length) throw new WebDriverError('invalid argument', 'Two actions have the same id');
  const isUnnumbered = (item: Item) => item.type === 'pause' && item.duration === undefined;
  if (actions.some((source) => source.actions.some(isUnnumbered)))
    throw new WebDriverError('invalid argument', 'Missing duration of a pause');
}

/**
 * Performs W3C actions. All sources run in parallel; gestures of several fingers are recorded, but no app of this
 * phone handles them.
 */
export const performActions: Handler = async (command) => {
  requireInjection(command.phone, 'actions');
  const { actions } = parseBody(bodies.actions, command.body);
  check(actions);
  const totalMs = actions
    .flatMap((source) => source.actions)
    .reduce((sum, item) => sum + (item.duration ?? 0), 0);
  if (totalMs > maxTotalMs)
    throw new WebDriverError('invalid argument', 'The actions take longer than a minute.');
  const { android } = command.phone;
  const together: Gesture[] = [];
  const gather = actions.length > 1 ? (gesture: Gesture) => void together.push(gesture) : undefined;
  await Promise.all(
    actions.map(async (source) => {
      if (source.type !== 'pointer') throw unknownType(source.type);
      await runPointer(command, source.actions, gather);
    }),
  );
  if (together.length > 0) android.inputs.add({ kind: 'fingers', gestures: together });
};

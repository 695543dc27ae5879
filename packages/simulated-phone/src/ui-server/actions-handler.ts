import type { Android } from '../android/android.ts';
import { pressKey, typeText } from '../android/input/press-key.ts';
import type { Gesture } from '../android/input/input-log.ts';
import { Finger } from '../android/input/touch.ts';
import { center, type Point } from '../view/rect.ts';
import { pause } from '../pause.ts';
import { type ActionSource, bodies, findElementId, parseBody } from './bodies.ts';
import { type Command, type Handler, requireInjection } from './command.ts';
import { WebDriverError } from './web-driver-error.ts';

type Item = ActionSource['actions'][number];

const maxTotalMs = 60_000;

/** Keys of the W3C table that this phone has, as Android key codes. */
const specialKeys: ReadonlyMap<string, number> = new Map([
  ['\uE003', 67],
  ['\uE004', 61],
  ['\uE006', 66],
  ['\uE007', 66],
  ['\uE00C', 111],
  ['\uE010', 123],
  ['\uE011', 122],
  ['\uE012', 21],
  ['\uE014', 22],
  ['\uE017', 112],
]);

function moveTarget(command: Command, item: Item, current: Point): Point {
  const offset = { x: item.x ?? 0, y: item.y ?? 0 };
  if (item.origin === 'pointer') return { x: current.x + offset.x, y: current.y + offset.y };
  if (item.origin === undefined || item.origin === 'viewport' || typeof item.origin === 'string')
    return offset;
  const middle = center(command.session.getElement(findElementId(item.origin) ?? '').bounds);
  return { x: middle.x + offset.x, y: middle.y + offset.y };
}

interface Pointer {
  readonly from: Point;
  /** Undefined for one of several fingers. */
  readonly finger: Finger | undefined;
  pressedMs: number;
}

/** The gestures of one finger; those of several together are given to `together`. */
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
    const to: Point = item.type === 'pointerMove' ? moveTarget(command, item, at) : at;
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

function pressW3cKey(android: Android, value: string): void {
  const code = specialKeys.get(value);
  if (code === undefined) typeText(android, value);
  else pressKey(android, code);
}

async function runKeys(command: Command, items: readonly Item[]): Promise<void> {
  for (const item of items) {
    if (item.type === 'pause') await pause(AbortSignal.timeout(maxTotalMs), item.duration ?? 0);
    else if (item.type === 'keyDown') pressW3cKey(command.phone.android, item.value ?? '');
    else if (item.type !== 'keyUp') throw unknownType(item.type);
  }
}

const unknownType = (type: string) => new WebDriverError('invalid argument', `Unknown action type '${type}'`);

/** Refuses the actions that the real server refuses (ActionsPreprocessor.java, ActionsTokenizer.java). */
function check(actions: readonly ActionSource[]): void {
  const ids = new Set(actions.map(({ id }) => id));
  if (ids.size < actions.length) throw new WebDriverError('invalid argument', 'Two actions have the same id');
  const isUnnumbered = (item: Item) => item.type === 'pause' && item.duration === undefined;
  if (actions.some((source) => source.actions.some(isUnnumbered)))
    throw new WebDriverError('invalid argument', 'Missing duration of a pause');
}

/** W3C actions. All sources run at once; several fingers together are noted, and no app of this phone heeds them. */
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
  const fingers = actions.filter(({ type }) => type === 'pointer').length;
  const together: Gesture[] = [];
  const gather = fingers > 1 ? (gesture: Gesture) => void together.push(gesture) : undefined;
  await Promise.all(
    actions.map(async (source) => {
      if (source.type === 'pointer') await runPointer(command, source.actions, gather);
      else if (source.type === 'key') await runKeys(command, source.actions);
      else if (source.type !== 'none') throw unknownType(source.type);
    }),
  );
  if (together.length > 0) android.inputs.add({ kind: 'fingers', gestures: together });
};

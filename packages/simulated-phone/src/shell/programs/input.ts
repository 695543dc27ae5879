import { applyGesture, Finger } from '../../android/input/touch.ts';
import { keyCodeOf, pressKey, typeText } from '../../android/input/press-key.ts';
import type { Point } from '../../view/rect.ts';
import type { Process, Program } from '../program.ts';

const sources = new Set([
  'dpad',
  'keyboard',
  'mouse',
  'touchpad',
  'gamepad',
  'touchnavigation',
  'joystick',
  'touchscreen',
  'stylus',
  'trackball',
]);
const forbidden =
  'java.lang.SecurityException: Injecting input events requires the caller (or the source of the instrumentation, if any) ' +
  'to have the INJECT_EVENTS permission.\n\tat com.android.server.input.InputManagerService.injectInputEvent\n';
const maxDurationMs = 60_000;

class InvalidArguments extends Error {}

function toPoint(x: string | undefined, y: string | undefined): Point {
  const point = { x: Number(x), y: Number(y) };
  if (x === undefined || y === undefined)
    throw new InvalidArguments(`Argument expected after "${x ?? 'tap'}"`);
  if (!Number.isFinite(point.x) || !Number.isFinite(point.y))
    throw new InvalidArguments(`For input string: "${x}"`);
  return point;
}

async function swipe({ phone, signal }: Process, args: readonly string[]): Promise<void> {
  const [x1, y1, x2, y2, duration] = args;
  const from = toPoint(x1, y1);
  const to = toPoint(x2, y2);
  const durationMs =
    duration === undefined ? 300 : Math.min(Math.max(Number(duration) || 0, 0), maxDurationMs);
  const finger = new Finger(phone.android, from);
  await finger.moveTo(to, durationMs, signal);
  finger.lift(durationMs);
}

async function text({ phone, stderr }: Process, args: readonly string[]): Promise<number> {
  const [content] = args;
  if (content === undefined) throw new InvalidArguments('Argument expected after "text"');
  if (/[^\x20-\x7e\n\t]/.test(content)) {
    await stderr.write(
      "\nException occurred while executing 'text':\njava.lang.NullPointerException: Attempt to get length of null array\n" +
        '\tat com.android.server.input.InputShellCommand.sendText(InputShellCommand.java:312)\n' +
        '\tat com.android.server.input.InputShellCommand.runText(InputShellCommand.java:297)\n' +
        '\tat android.os.BasicShellCommandHandler.exec(BasicShellCommandHandler.java:97)\n',
    );
    return 255;
  }
  typeText(phone.android, content.replaceAll('%s', ' '));
  return 0;
}

function keyEvent({ phone }: Process, args: readonly string[]): void {
  const names = args.filter((arg) => !arg.startsWith('--'));
  if (names.length === 0) throw new InvalidArguments('Argument expected after "keyevent"');
  for (const name of names) pressKey(phone.android, keyCodeOf(name));
}

const fingers = new WeakMap<Process['phone'], Finger>();

async function motionEvent({ phone, signal }: Process, args: readonly string[]): Promise<void> {
  const [action = '', x, y] = args;
  const at = toPoint(x, y);
  const kind = action.toUpperCase();
  if (kind === 'DOWN') fingers.set(phone, new Finger(phone.android, at));
  if (kind === 'CANCEL') fingers.delete(phone);
  const finger = fingers.get(phone);
  await finger?.moveTo(at, 0, signal);
  if (kind !== 'UP') return;
  fingers.delete(phone);
  finger?.lift();
}

async function run(process: Process, command: string | undefined, args: readonly string[]): Promise<number> {
  const { phone } = process;
  if (command === 'tap')
    applyGesture(phone.android, {
      from: toPoint(args[0], args[1]),
      to: toPoint(args[0], args[1]),
      durationMs: 0,
    });
  else if (command === 'swipe' || command === 'draganddrop') await swipe(process, args);
  else if (command === 'text') return text(process, args);
  else if (command === 'keyevent') keyEvent(process, args);
  else if (command === 'motionevent') await motionEvent(process, args);
  else
    throw new InvalidArguments(
      command === undefined
        ? 'Usage: input [<source>] [-d DISPLAY_ID] <command> [<arg>...]'
        : `Unknown command: ${command}`,
    );
  return 0;
}

/** Drops the source and the display, which make no difference here. */
function withoutPrefix(args: readonly string[]): readonly string[] {
  const rest = sources.has(args[0] ?? '') ? args.slice(1) : args;
  return rest[0] === '-d' ? rest.slice(2) : rest;
}

export const input: Program = async (process) => {
  const [command, ...args] = withoutPrefix(process.args);
  if (process.phone.faults.restrictedDebugging) {
    await process.stderr.write(forbidden);
    return 255;
  }
  try {
    return await run(process, command, args);
  } catch (error) {
    if (!(error instanceof InvalidArguments)) throw error;
    await process.stderr.write(`Error: ${error.message}\n`);
    return 255;
  }
};

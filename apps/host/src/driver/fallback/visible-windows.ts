import type { Bounds } from '@phalanx/protocol';
import type { PhoneShell } from '../shell/phone-shell.ts';
import type { TouchWindow } from '../touch/touch-look.ts';

/**
 * Command for lines of WindowManagerService.dumpWindows and WindowState.dump
 * (frameworks/base/services/core/java/com/android/server/wm). `visible` omits windows that are not shown, and lists
 * from front to back.
 */
const command =
  "dumpsys window visible | grep -E 'WINDOW MANAGER WINDOWS|^ *Window #|mDisplayId=|package=| ty=| fl=|touchable region=|rame='";

/** Lists the windows that accept touches, front to back. Undefined for an answer that Android never gives. */
export async function listVisibleWindows(
  shell: PhoneShell,
  signal: AbortSignal,
): Promise<TouchWindow[] | undefined> {
  return readVisibleWindows((await shell.run(command, signal)).stdout);
}

export function readVisibleWindows(printed: string): TouchWindow[] | undefined {
  if (!printed.includes('WINDOW MANAGER WINDOWS')) return undefined;
  const blocks = printed.split(/^ *Window #(?=\d)/m).slice(1);
  // A window title may contain line ends, and so a forged window heading. The numbers of the other windows reveal it.
  if (!blocks.every((block, index) => block.startsWith(`${index} `))) return undefined;
  // Android's own lines follow the title.
  return blocks.flatMap((block) => windowOf(block.slice(Math.max(0, block.lastIndexOf('mDisplayId=')))));
}

function windowOf(block: string): TouchWindow[] {
  const last = (form: RegExp): string | undefined => [...block.matchAll(form)].at(-1)?.[1];
  const has = flagsOf(last(/ fl=([^}\n]*)/g) ?? '');
  if ((last(/mDisplayId=(\d{1,9})/g) ?? '0') !== '0' || has('NOT_TOUCHABLE')) return [];
  return [
    {
      packageName: last(/ package=(\S{1,255})/g) ?? '',
      areas: areasOf(block, !has('NOT_FOCUSABLE') && !has('NOT_TOUCH_MODAL')),
      isKeyboard: inputMethodTypes.has(last(/ ty=(\w{1,60})/g) ?? ''),
    },
  ];
}

/** Window type of keyboards: its name since Android 9, its number before. */
const inputMethodTypes: ReadonlySet<string> = new Set(['INPUT_METHOD', '2011']);

/** Flags of WindowManager.LayoutParams: their names since Android 9, one hexadecimal number before. */
const flags = { NOT_FOCUSABLE: 0x8, NOT_TOUCHABLE: 0x10, NOT_TOUCH_MODAL: 0x20 } as const;

function flagsOf(told: string): (name: keyof typeof flags) => boolean {
  const number = /^#([0-9a-f]{1,8})/.exec(told)?.[1];
  if (number !== undefined) return (name) => (Number.parseInt(number, 16) & flags[name]) !== 0;
  const names = new Set(told.split(' '));
  return (name) => names.has(name);
}

const everywhere: Bounds = { left: -1_000_000, top: -1_000_000, right: 1_000_000, bottom: 1_000_000 };

/**
 * Returns the areas that accept touches. A dialog takes the touches beside it as well. Android prints a region when the
 * window has set one.
 */
function areasOf(block: string, isModal: boolean): Bounds[] {
  const region = [...block.matchAll(/touchable region=SkRegion\(((?:\([-\d,]{7,60}\)){0,100})\)/g)].at(
    -1,
  )?.[1];
  if (region !== undefined)
    return [...region.matchAll(/\(([-\d,]+)\)/g)].flatMap(([, sides = '']) => boundsIn(sides));
  if (isModal) return [everywhere];
  const frame = [...block.matchAll(/(?: |m)[fF]rame=\[(-?\d+,-?\d+)\]\[(-?\d+,-?\d+)\]/g)].at(-1);
  return frame === undefined ? [] : boundsIn(`${frame[1]},${frame[2]}`);
}

function boundsIn(sides: string): Bounds[] {
  const [left = 0, top = 0, right = 0, bottom = 0] = sides.split(',').map(Number);
  return [{ left, top, right, bottom }];
}

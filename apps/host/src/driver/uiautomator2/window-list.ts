import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Bounds } from '@phalanx/protocol';
import type { TouchWindow } from '../touch/touch-look.ts';

const optional = { displayId: Type.Optional(Type.Integer()) };
const side = Type.Integer({ minimum: -1_000_000, maximum: 1_000_000 });

/**
 * Schema of WindowModel of appium-uiautomator2-server. Its rectangle is that of
 * AccessibilityWindowInfo.getBoundsInScreen, which Android derives from the touchable region. ListWindows.java lists
 * the windows of all displays.
 */
const WindowModel = Type.Object({
  ...optional,
  packageName: Type.Optional(Type.Union([Type.String({ maxLength: 300 }), Type.Null()])),
  rect: Type.Object({ x: side, y: side, width: side, height: side }),
});
type WindowModel = Static<typeof WindowModel>;

const check = Compile(Type.Array(WindowModel, { maxItems: 1000 }));
const mainDisplay = 0;

/** Parses a list of windows; undefined for anything else. */
export function readWindowList(value: unknown): TouchWindow[] | undefined {
  if (!check.Check(value)) return undefined;
  return value
    .filter(({ displayId = mainDisplay }) => displayId === mainDisplay)
    .map(({ packageName, rect }) => ({ packageName: packageName ?? '', areas: [boundsOf(rect)] }));
}

const boundsOf = ({ x, y, width, height }: WindowModel['rect']): Bounds => ({
  left: x,
  top: y,
  right: x + width,
  bottom: y + height,
});

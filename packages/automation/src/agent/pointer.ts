import type { AgentBridge } from './agent-bridge.ts';

const defaultHoldMs = 1000;
const defaultSwipeMs = 300;

const defaultDragMs = 500;
const defaultPinchMs = 400;

type Pointer = Pick<AgentActions, 'tap' | 'doubleTap' | 'longPress' | 'swipe' | 'drag' | 'pinch'>;

/** Touches of the screen by coordinates. Fractions are rounded to the nearest pixel. */
export function createPointer(bridge: AgentBridge): Pointer {
  return {
    tap: async (x, y) => bridge.call('input.tap', pointOf(x, y)),
    doubleTap: async (x, y) => bridge.call('input.doubleTap', pointOf(x, y)),
    // oxlint-disable-next-line max-params -- the published signature of the agent API, and its options
    longPress: async (x, y, durationMs = defaultHoldMs, { signal } = {}) =>
      bridge.call(
        'input.longPress',
        { ...pointOf(x, y), durationMs: whole('durationMs', durationMs) },
        signal,
      ),
    // oxlint-disable-next-line max-params -- the published signature of the agent API
    swipe: async (fromX, fromY, toX, toY, durationMs = defaultSwipeMs, { signal } = {}) =>
      bridge.call('input.swipe', wayOf({ fromX, fromY, toX, toY, durationMs }), signal),
    // oxlint-disable-next-line max-params -- the same as of `swipe`
    drag: async (fromX, fromY, toX, toY, durationMs = defaultDragMs, { signal } = {}) =>
      bridge.call('input.drag', wayOf({ fromX, fromY, toX, toY, durationMs }), signal),
    // oxlint-disable-next-line max-params -- a point and two distances
    pinch: async (x, y, fromDistance, toDistance, durationMs = defaultPinchMs, { signal } = {}) => {
      const way = (side: number): { fromX: number; fromY: number; toX: number; toY: number } => ({
        fromX: whole('x', x),
        fromY: Math.max(0, whole('fromDistance', y + (side * fromDistance) / 2)),
        toX: whole('x', x),
        toY: Math.max(0, whole('toDistance', y + (side * toDistance) / 2)),
      });
      const order = { ways: [way(-1), way(1)], durationMs: whole('durationMs', durationMs) };
      return bridge.call('input.fingers', order, signal);
    },
  };
}

type Way = Record<'fromX' | 'fromY' | 'toX' | 'toY' | 'durationMs', number>;

function wayOf({ fromX, fromY, toX, toY, durationMs }: Way): Way {
  return {
    fromX: whole('fromX', fromX),
    fromY: whole('fromY', fromY),
    toX: whole('toX', toX),
    toY: whole('toY', toY),
    durationMs: whole('durationMs', durationMs),
  };
}

function pointOf(x: number, y: number): { x: number; y: number } {
  return { x: whole('x', x), y: whole('y', y) };
}

function whole(name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return Math.round(value);
  throw new TypeError(`${name} must be a number, but it is ${value === null ? 'null' : typeof value}.`);
}

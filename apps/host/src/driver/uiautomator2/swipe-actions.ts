import type { AgentCallParams } from '@phalanx/protocol';

interface Way {
  readonly fromX: number;
  readonly fromY: number;
  readonly toX: number;
  readonly toY: number;
}

/** Android takes a finger that rests for longer than 500 ms for one that wants to move what is below it. */
const grabMs = 700;

/** One finger's way across the screen, as W3C WebDriver actions. The move's duration is the swipe's. */
export function swipeActions({ durationMs, ...way }: AgentCallParams<'input.swipe'>): unknown[] {
  return [finger('finger', way, { holdMs: 0, durationMs })];
}

export function dragActions({ durationMs, ...way }: AgentCallParams<'input.drag'>): unknown[] {
  return [finger('finger', way, { holdMs: grabMs, durationMs })];
}

export function fingersActions({ ways, durationMs }: AgentCallParams<'input.fingers'>): unknown[] {
  return ways.map((way, index) => finger(`finger${index}`, way, { holdMs: 0, durationMs }));
}

function finger(
  id: string,
  { fromX, fromY, toX, toY }: Way,
  { holdMs, durationMs }: { holdMs: number; durationMs: number },
): unknown {
  const move = (duration: number, x: number, y: number): unknown => ({
    type: 'pointerMove',
    duration,
    x,
    y,
    origin: 'viewport',
  });
  return {
    type: 'pointer',
    id,
    parameters: { pointerType: 'touch' },
    actions: [
      move(0, fromX, fromY),
      { type: 'pointerDown', button: 0 },
      ...(holdMs > 0 ? [{ type: 'pause', duration: holdMs }] : []),
      move(durationMs, toX, toY),
      { type: 'pointerUp', button: 0 },
    ],
  };
}

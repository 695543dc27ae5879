import type { AgentCallParams } from '@phalanx/protocol';

/** One finger's way across the screen, as W3C WebDriver actions. The move's duration is the swipe's. */
export function swipeActions({
  fromX,
  fromY,
  toX,
  toY,
  durationMs,
}: AgentCallParams<'input.swipe'>): unknown[] {
  const move = (duration: number, x: number, y: number): unknown => ({
    type: 'pointerMove',
    duration,
    x,
    y,
    origin: 'viewport',
  });
  return [
    {
      type: 'pointer',
      id: 'finger',
      parameters: { pointerType: 'touch' },
      actions: [
        move(0, fromX, fromY),
        { type: 'pointerDown', button: 0 },
        move(durationMs, toX, toY),
        { type: 'pointerUp', button: 0 },
      ],
    },
  ];
}

import type { Point } from '../view/rect.ts';

export type InputEvent =
  | { readonly kind: 'tap' | 'double-tap' | 'long-press'; readonly at: Point }
  | { readonly kind: 'swipe'; readonly from: Point; readonly to: Point; readonly durationMs: number }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'key'; readonly code: number };

const capacity = 200;

/** The last inputs, so that a test can tell what really reached the phone. */
export class InputLog {
  #events: InputEvent[] = [];

  add(event: InputEvent): void {
    this.#events = [...this.#events, event].slice(-capacity);
  }

  get last(): InputEvent | undefined {
    return this.#events.at(-1);
  }

  list(): readonly InputEvent[] {
    return this.#events;
  }

  clear(): void {
    this.#events = [];
  }
}

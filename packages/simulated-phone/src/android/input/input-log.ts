import type { Point } from '../../view/rect.ts';

export interface Gesture {
  readonly from: Point;
  readonly to: Point;
  readonly durationMs: number;
}

export type InputEvent =
  | { readonly kind: 'tap' | 'double-tap' | 'long-press'; readonly at: Point }
  | { readonly kind: 'swipe'; readonly from: Point; readonly to: Point; readonly durationMs: number }
  | { readonly kind: 'fingers'; readonly gestures: readonly Gesture[] }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'key'; readonly code: number };

const capacity = 200;

/** Log of the latest inputs, which lets tests verify what really reached the phone. */
export class InputLog {
  #events: InputEvent[] = [];
  readonly #onInput: () => void;

  constructor(onInput: () => void) {
    this.#onInput = onInput;
  }

  add(event: InputEvent): void {
    this.#onInput();
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

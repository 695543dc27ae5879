import type { Screen } from '../../screen/screen.ts';

/** The screen as it was composed last. The same object until something changes. */
export class ShownScreen {
  readonly #compose: () => Screen;
  /** What changes by itself. */
  readonly #look: () => string;
  #screen: Screen | undefined;
  #composedLook = '';
  #isFrozen = false;
  readonly #listeners = new Set<() => void>();

  constructor(compose: () => Screen, look: () => string) {
    this.#compose = compose;
    this.#look = look;
  }

  get current(): Screen {
    if (this.#isFrozen && this.#screen) return this.#screen;
    const look = this.#look();
    if (!this.#screen || look !== this.#composedLook) this.#screen = this.#compose();
    this.#composedLook = look;
    return this.#screen;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /** Keeps what is shown now, whatever happens. */
  freeze(isFrozen: boolean): void {
    if (isFrozen) void this.current;
    this.#isFrozen = isFrozen;
    this.redraw();
  }

  redraw(): void {
    if (this.#isFrozen) return;
    this.#screen = undefined;
    for (const listener of this.#listeners) listener();
  }

  /** Returns how to be told no more. */
  onRedraw(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

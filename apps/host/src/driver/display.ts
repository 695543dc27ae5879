import { DriverError } from './driver-error.ts';
import type { PhoneShell } from './shell/phone-shell.ts';
import type { ParsedTree } from './tree/parse-tree.ts';

/** Size in pixels, in upright orientation. */
export interface DisplaySize {
  readonly screenWidth: number;
  readonly screenHeight: number;
}

/**
 * Parses the output of `wm size`. Prefers the override, in which the coordinates of input are measured. Throws
 * `phone_answer_unexpected` without a size, because nothing on the screen has a place then.
 */
export function parseDisplaySize(text: string): DisplaySize {
  const match =
    /^Override size: (\d{1,5})x(\d{1,5})/m.exec(text) ?? /^Physical size: (\d{1,5})x(\d{1,5})/m.exec(text);
  const [screenWidth, screenHeight] = [Number(match?.[1]), Number(match?.[2])];
  if (screenWidth > 0 && screenHeight > 0) return { screenWidth, screenHeight };
  throw new DriverError(
    'phone_answer_unexpected',
    'The phone does not tell the size of its screen ("wm size").',
  );
}

/** Maximum number of window sizes that are remembered for one size of the display. */
const maxWindowSizes = 100;

/** The main display of a phone, whose size changes when the phone is folded or unfolded, or by `wm size`. */
export class Display {
  readonly #shell: PhoneShell;
  readonly #onChange: (size: DisplaySize) => void;
  #size: DisplaySize;
  /** Sizes of front windows for which the current size of the display has been confirmed. */
  #windowSizes: Set<string>;

  constructor(shell: PhoneShell, size: DisplaySize, onChange: (size: DisplaySize) => void = () => {}) {
    this.#shell = shell;
    this.#size = size;
    this.#onChange = onChange;
    this.#windowSizes = fullSizesOf(size);
  }

  get size(): DisplaySize {
    return this.#size;
  }

  /**
   * Queries the size again when the front window has a new size. `wm size` takes a real phone a third of a second, too
   * long for each reading.
   */
  async confirm({ root, rotation }: ParsedTree, signal: AbortSignal): Promise<void> {
    const { left, top, right, bottom } = root.boundsInScreen;
    const windowSize = sizeName(right - left, bottom - top, rotation);
    if (this.#windowSizes.has(windowSize)) return;
    const { stdout } = await this.#shell.run('wm size', signal);
    const size = parseDisplaySize(stdout);
    const { screenWidth, screenHeight } = this.#size;
    if (size.screenWidth !== screenWidth || size.screenHeight !== screenHeight) {
      this.#size = size;
      this.#windowSizes = fullSizesOf(size);
      this.#onChange(size);
    } else if (this.#windowSizes.size > maxWindowSizes) this.#windowSizes = fullSizesOf(size);
    this.#windowSizes.add(windowSize);
  }
}

const sizeName = (width: number, height: number, rotation: number): string =>
  `${width}x${height} turned by ${rotation}`;

/** Returns the names of the sizes of a window that fills the display. */
const fullSizesOf = ({ screenWidth, screenHeight }: DisplaySize): Set<string> =>
  new Set(
    [0, 1, 2, 3].map((rotation) =>
      rotation % 2 === 0
        ? sizeName(screenWidth, screenHeight, rotation)
        : sizeName(screenHeight, screenWidth, rotation),
    ),
  );

import { DriverError } from './driver-error.ts';
import type { PhoneShell } from './shell/phone-shell.ts';
import type { ParsedTree } from './tree/parse-tree.ts';

/** Size in pixels, held upright. */
export interface DisplaySize {
  readonly screenWidth: number;
  readonly screenHeight: number;
}

/**
 * Reads the answer to `wm size`. The override, when set, is what coordinates of input use. Throws `phone_answer_unexpected`
 * without a size: nothing on the screen has a place then.
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

/** Sizes of windows that are remembered for a size of the display. */
const maxWindowSizes = 100;

/** The main display of a phone, whose size changes when the phone is folded or unfolded, or by `wm size`. */
export class Display {
  readonly #shell: PhoneShell;
  readonly #onChange: (size: DisplaySize) => void;
  #size: DisplaySize;
  /** Sizes of windows in front that this size of the display has been confirmed with. */
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
   * Asks the phone for the size again when the window in front has a size that it did not have before: `wm size` takes a
   * real phone a third of a second, too long for each reading.
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

/** Names of the sizes that a window has that fills the display. */
const fullSizesOf = ({ screenWidth, screenHeight }: DisplaySize): Set<string> =>
  new Set(
    [0, 1, 2, 3].map((rotation) =>
      rotation % 2 === 0
        ? sizeName(screenWidth, screenHeight, rotation)
        : sizeName(screenHeight, screenWidth, rotation),
    ),
  );

import type { TouchedNode, TouchedWindow, TouchReach } from '@phalanx/protocol';
import { pause } from '../../time/time-limit.ts';
import { findKeyboard } from '../apps/keyboard.ts';
import { DriverError } from '../driver-error.ts';
import type { MaskedScreen } from '../masks/masked-screen.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import type { UiBackend } from '../ui-backend.ts';
import { type Point, pointsIn } from './rectangles.ts';
import { type TouchLook, type TouchWindow, windowAt } from './touch-look.ts';
import { type FoundReach, reachOf, type Unreached } from './touch-reach.ts';
import type { TouchLimit } from './touch-limit.ts';
import { reasonOf } from './touch-reason.ts';

/** Touch as its caller requests it. */
export interface WantedTouch extends Point {
  readonly on?: TouchedNode | undefined;
  readonly closeKeyboard?: boolean | undefined;
}

interface Parts {
  readonly shell: PhoneShell;
  readonly backend: Pick<UiBackend, 'source' | 'readTouchWindows'>;
  readonly screen: Pick<MaskedScreen, 'readForTouch' | 'recent' | 'readWindows' | 'noteInput'>;
  readonly limits: readonly TouchLimit[];
  readonly hideKeyboard: (signal: AbortSignal) => Promise<unknown>;
}

/**
 * Maximum age in ms of a reading that counts as current while nothing was done to the phone: `uiautomator dump` takes
 * two seconds.
 */
const maxDumpAgeMs = 5000;
/** Maximum wait in ms for a closing keyboard, and for the page that grows into its place. */
const maxCloseMs = 2000;
const closeRestMs = 100;

/** Decides which node of which window gets a touch, from a reading of the phone when it is the touch's turn. */
export class TouchFinder {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Returns the point of the touch. Rejects with DriverError when the touch would reach something that is not intended
   * or not allowed.
   */
  async pointOf({ x, y, on, closeKeyboard = false }: WantedTouch, signal: AbortSignal): Promise<Point> {
    if (on === undefined) {
      await this.requireAllowed([{ x, y }], signal);
      return { x, y };
    }
    const look = await this.#look(signal);
    const found = await this.#reach(look, on, signal);
    if (closeKeyboard && (await this.#isUnderKeyboard(found, signal))) {
      const freed = await this.#pointWithoutKeyboard(on, signal);
      await this.requireAllowed([freed], signal);
      return freed;
    }
    const point = await this.#require(found, on, signal);
    await this.#requireAllowedIn(look, [point], signal);
    return point;
  }

  async reach(on: TouchedNode, signal: AbortSignal): Promise<TouchReach> {
    const found = await this.#reach(await this.#look(signal), on, signal);
    return found.state === 'free'
      ? found
      : { state: found.state, reason: await this.#reason(found, on, signal) };
  }

  /** Returns the window that gets a touch at this point now; null when the phone does not report it. */
  async windowAt(point: Point, signal: AbortSignal): Promise<TouchedWindow | null> {
    const windows = await this.#parts.backend.readTouchWindows(signal);
    const window = windows && windowAt(windows, point);
    if (window === undefined) return null;
    return {
      package_name: window.packageName.slice(0, 255),
      is_keyboard: await this.#isKeyboard(window, signal),
    };
  }

  /**
   * Requires that the windows at these points belong to apps that the caller may use. Reads nothing for a caller
   * without limits.
   */
  async requireAllowed(points: readonly Point[], signal: AbortSignal): Promise<void> {
    if (this.#parts.limits.length === 0) return;
    const windows = await this.#parts.backend.readTouchWindows(signal);
    await this.#requireAllowedIn({ windows }, points, signal);
  }

  async #requireAllowedIn(
    { windows }: Pick<TouchLook, 'windows'>,
    points: readonly Point[],
    signal: AbortSignal,
  ): Promise<void> {
    for (const limit of this.#parts.limits) {
      if (windows === undefined) throw untoldWindows();
      for (const point of points) {
        const window = windowAt(windows, point);
        if (window === undefined || limit.isReadable(window.packageName)) continue;
        // Its keys go to the app in front, which is checked separately.
        if (!(await this.#isKeyboard(window, signal))) limit.requireTouched(window.packageName);
      }
    }
  }

  async #look(signal: AbortSignal): Promise<TouchLook> {
    const { backend, screen } = this.#parts;
    const known = backend.source === 'dump' ? screen.recent(maxDumpAgeMs) : undefined;
    const [reading, windows] = await Promise.all([
      known ?? screen.readForTouch(signal),
      backend.readTouchWindows(signal),
    ]);
    return { root: reading.tree.root, windows };
  }

  /** Finds the node, also in windows other than the active one, such as a key or a notification. */
  async #reach({ root, windows }: TouchLook, on: TouchedNode, signal: AbortSignal): Promise<FoundReach> {
    const found = reachOf({ root, windows }, on);
    if (found.state !== 'gone') return found;
    const { backend, screen } = this.#parts;
    const roots = backend.source === 'dump' ? [] : await screen.readWindows(signal);
    const elsewhere = roots.map((other) => reachOf({ root: other, windows }, on));
    return elsewhere.find(({ state }) => state !== 'gone') ?? hiddenBy(windows, on) ?? found;
  }

  async #require(found: FoundReach, on: TouchedNode, signal: AbortSignal): Promise<Point> {
    if (found.state === 'free') return found.point;
    throw new DriverError(found.state, `${await this.#reason(found, on, signal)}.`);
  }

  async #reason(found: Unreached, on: TouchedNode, signal: AbortSignal): Promise<string> {
    return reasonOf(found, on, await this.#isUnderKeyboard(found, signal));
  }

  async #isUnderKeyboard(found: FoundReach, signal: AbortSignal): Promise<boolean> {
    if (found.state !== 'covered' || !('window' in found.cover)) return false;
    return await this.#isKeyboard(found.cover.window, signal);
  }

  async #isKeyboard({ isKeyboard, packageName }: TouchWindow, signal: AbortSignal): Promise<boolean> {
    return isKeyboard ?? packageName === (await findKeyboard(this.#parts.shell, signal));
  }

  /**
   * Closes the keyboard, and returns the point when the page has come to rest: apps grow into the place of the
   * keyboard.
   */
  async #pointWithoutKeyboard(on: TouchedNode, signal: AbortSignal): Promise<Point> {
    await this.#parts.hideKeyboard(signal);
    this.#parts.screen.noteInput();
    const until = performance.now() + maxCloseMs;
    for (let before = ''; ;) {
      const found = await this.#reach(await this.#look(signal), on, signal);
      const now = JSON.stringify(found);
      if (found.state === 'free' && now === before) return found.point;
      if (performance.now() > until) return await this.#require(found, on, signal);
      before = now;
      await pause(closeRestMs, signal);
      signal.throwIfAborted();
    }
  }
}

/** Finds a window that covers the node's window, because Android does not report completely covered windows. */
function hiddenBy(
  windows: readonly TouchWindow[] = [],
  { bounds, packageName }: TouchedNode,
): Unreached | undefined {
  const [middle] = pointsIn(bounds);
  const window = middle && windowAt(windows, middle);
  if (window === undefined || window.packageName === packageName) return undefined;
  return { state: 'covered', cover: { window } };
}

const untoldWindows = (): DriverError =>
  new DriverError('screen_not_readable', 'The phone does not say which window would get the touch.');

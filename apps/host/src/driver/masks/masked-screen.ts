import { hash } from 'node:crypto';
import type { Bounds, PhoneNotification, UiNode } from '@phalanx/protocol';

import type { Display } from '../display.ts';
import type { HiddenParts, Size } from '../pictures/encode-picture.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import { hiddenBounds, readingOfWindows, type WindowsReading } from './all-windows.ts';
import type { ParsedTree } from '../tree/parse-tree.ts';
import type { ScreenSnapshot, UiBackend } from '../ui-backend.ts';
import type { HeldMask } from './typed-secrets.ts';
import { areasOf, hideMasked, isAreaMask, isHidden } from './hide-masked.ts';

const command = "dumpsys window visible-apps | grep -E 'WINDOW MANAGER WINDOWS|mDisplayId=|mOwnerUid='";

/** Time in ms after a change within which the screen may change back at any moment. */
const afterChangeMs = 250;

/** Maximum delay in ms of a change that an input causes. A later change is spontaneous, and may recur at any moment. */
const afterInputMs = 3000;

const keptMs = 60_000;
const maxScreens = 64;

/** Parts that must not be seen on the screens that a phone has shown within the last minute. */
class HiddenLately {
  readonly #screens = new Map<string, { readonly at: number; readonly hidden: readonly Bounds[] }>();
  #lastDigest = '';
  #inputAt = -Infinity;
  #unsafeUntil = -Infinity;

  /** Notes an action on the phone that may change its screen. */
  noteInput(): void {
    this.#inputAt = performance.now();
  }

  note(digest: string, hidden: readonly Bounds[]): void {
    const at = performance.now();
    if (digest !== this.#lastDigest) this.#changed(at);
    this.#lastDigest = digest;
    this.#screens.delete(digest);
    if (hidden.length > 0) this.#screens.set(digest, { at, hidden });
    for (const [known, screen] of this.#screens)
      if (this.#screens.size > maxScreens || at - screen.at > keptMs) this.#screens.delete(known);
  }

  get isEmpty(): boolean {
    return this.#screens.size === 0;
  }

  /** Returns the hidden parts of all those screens while the phone may show any of them; none when its screen rests. */
  list(): Bounds[] {
    if (performance.now() > this.#unsafeUntil) return [];
    return [...this.#screens.values()].flatMap(({ hidden }) => hidden);
  }

  #changed(at: number): void {
    const isOwn = this.#lastDigest !== '' && at - this.#inputAt > afterInputMs;
    this.#unsafeUntil = Math.max(this.#unsafeUntil, at + (isOwn ? keptMs : afterChangeMs));
  }
}

/** Screen of a phone at one moment. */
export interface ScreenReading {
  /** Tree without the texts of masked nodes. */
  readonly tree: ParsedTree;
  /** Returns the parts that a picture of that moment must not show, as far as known now. */
  hideAll(): HiddenParts;
  /** Whether a picture of another moment could show what must not be seen. */
  readonly isGuarded: boolean;
  /** Whether the window in front leaves room, so that other windows are visible for certain. */
  readonly leavesRoom: boolean;
  /** Bounds of nodes that must not be seen. */
  readonly bounds: readonly Bounds[];
  /** Everything that the phone reported, masked or not. */
  readonly snapshot: ScreenSnapshot;
  readonly digest: string;
  readonly masks: readonly HeldMask[];
}

export interface MaskedScreen {
  /** Whether a picture needs a tree to locate masked nodes. */
  readonly hasNodeMasks: boolean;
  /** Areas that are hidden independently of nodes. */
  readonly areas: HiddenParts;
  /** Notes an input; call it after anything that may have changed the screen. */
  noteInput(): void;
  read(signal: AbortSignal): Promise<ScreenReading>;
  /** Returns the last reading unless an action on the phone followed it, or it is older than `maxAgeMs`. */
  recent(maxAgeMs: number): ScreenReading | undefined;
  /** Same as `read`, but cheaper when the phone shows what it showed at the last reading. */
  readForTouch(signal: AbortSignal): Promise<ScreenReading>;
  /** Reads the screen. Returns `before` itself when the phone still shows the same. */
  readAgain(before: ScreenReading, signal: AbortSignal): Promise<ScreenReading>;
  /** Returns the reading of a tree from this phone. */
  readingOf(root: UiNode): ScreenReading | undefined;
  /**
   * Returns the parts of a tree that must not be seen: masked nodes, password fields and areas. Undefined for a tree
   * that is not from this phone.
   */
  hiddenIn(root: UiNode): readonly Bounds[] | undefined;
  /**
   * Returns a digest of a tree without the texts of masked nodes: equal trees have the same. Undefined for a tree that is
   * not from this phone.
   */
  digestOf(root: UiNode): string | undefined;
  /** Reads the windows, without the texts of masked nodes. */
  readWindows(signal: AbortSignal): Promise<UiNode[]>;
  /** Reads which parts of all windows must not be seen. */
  readAllHidden(front: ScreenReading, signal: AbortSignal): Promise<WindowsReading>;
  hideNotifications(notifications: PhoneNotification[]): PhoneNotification[];
}

interface Options {
  readonly backend: Pick<UiBackend, 'source' | 'readSource' | 'readWindows'>;
  readonly shell: PhoneShell;
  readonly masks: () => readonly HeldMask[];
  /** Called with each tree, with unmasked texts. */
  readonly onTree?: ((root: UiNode) => void) | undefined;
  readonly display: Display;
}

/** Creates the masked view of a phone's screen, which may leave the host. */
export function createMaskedScreen({ backend, shell, masks, display, onTree }: Options): MaskedScreen {
  const readings = new WeakMap<UiNode, ScreenReading>();
  const lately = new HiddenLately();
  let last: { readonly reading: ScreenReading; readonly beganAt: number } | undefined;
  let touchedAt = -Infinity;
  const displayOf = (rotation: number): Size => {
    const { screenWidth, screenHeight } = display.size;
    const [width, height] = rotation % 2 === 0 ? [screenWidth, screenHeight] : [screenHeight, screenWidth];
    return { width, height };
  };
  const hide = (root: UiNode, rotation: number, held: readonly HeldMask[]): Bounds[] =>
    held.length === 0 ? [] : hideMasked(root, held, displayOf(rotation));
  /** Reports the window to `onTree` first: a window behind the one in front may have moved since it was read. */
  const hideWindow: typeof hide = (root, rotation, held) => {
    onTree?.(root);
    return hide(root, rotation, held);
  };
  const readingOf = async (snapshot: ScreenSnapshot, signal: AbortSignal): Promise<ScreenReading> => {
    const tree = snapshot.tree();
    // Mask areas are fractions of the display.
    await display.confirm(tree, signal);
    const { digest } = snapshot;
    // Runs before the masks are queried, because it may end some.
    onTree?.(tree.root);
    const held = masks();
    const bounds = [...hiddenBounds(tree.root), ...hide(tree.root, tree.rotation, held)];
    lately.note(digest, bounds);
    const announced = tree.announced?.filter((text) => !isHidden(textOf(undefined, text), held));
    const reading: ScreenReading = {
      tree: announced === undefined ? tree : { ...tree, announced },
      hideAll: () => {
        const hidden = [...bounds, ...lately.list()];
        return (size) => [...hidden, ...areasOf(held, size)];
      },
      bounds,
      isGuarded: !held.every(isAreaMask) || !lately.isEmpty,
      leavesRoom: !fills(tree.root.boundsInScreen, displayOf(tree.rotation)),
      snapshot,
      digest,
      masks: held,
    };
    readings.set(tree.root, reading);
    return reading;
  };
  const read = async (signal: AbortSignal): Promise<ScreenReading> => {
    const beganAt = performance.now();
    const reading = await readingOf(await backend.readSource(signal), signal);
    last = { reading, beganAt };
    return reading;
  };
  const readAgain = async (before: ScreenReading, signal: AbortSignal): Promise<ScreenReading> => {
    const snapshot = await backend.readSource(signal, before.snapshot);
    const isSame = snapshot === before.snapshot || snapshot.digest === before.digest;
    if (!isSame || !areSame(before.masks, masks())) return readingOf(snapshot, signal);
    lately.note(before.digest, before.bounds);
    return before;
  };
  return {
    get hasNodeMasks() {
      return !masks().every(isAreaMask);
    },
    areas: (size) => areasOf(masks(), size),
    noteInput() {
      lately.noteInput();
      touchedAt = performance.now();
    },
    read,
    recent(maxAgeMs) {
      const isFresh =
        last !== undefined && last.beganAt > touchedAt && performance.now() - last.beganAt <= maxAgeMs;
      return isFresh && last !== undefined && areSame(last.reading.masks, masks()) ? last.reading : undefined;
    },
    async readForTouch(signal) {
      if (last === undefined) return read(signal);
      const beganAt = performance.now();
      last = { reading: await readAgain(last.reading, signal), beganAt };
      return last.reading;
    },
    readAgain,
    readingOf: (root) => readings.get(root),
    hiddenIn(root) {
      const reading = readings.get(root);
      if (reading === undefined) return undefined;
      return [...reading.bounds, ...areasOf(reading.masks, displayOf(reading.tree.rotation))];
    },
    digestOf(root) {
      const reading = readings.get(root);
      if (reading === undefined || reading.masks.length === 0) return reading?.digest;
      // Masked content may change without being seen.
      return hash('sha256', JSON.stringify(root), 'base64');
    },
    async readWindows(signal) {
      const roots = await backend.readWindows(signal);
      // The phone reports the rotation of the screen only with the tree.
      const held = masks();
      const { rotation } = held.some(isAreaMask)
        ? (await backend.readSource(signal)).tree()
        : { rotation: 0 };
      for (const root of roots) hideWindow(root, rotation, held);
      return roots;
    },
    async readAllHidden({ tree, masks: held }, signal) {
      const roots = backend.source === 'dump' ? [tree.root] : await backend.readWindows(signal);
      const masked = roots.flatMap((root) => hideWindow(root, tree.rotation, held));
      return readingOfWindows(roots, masked, await listVisibleApps(shell, signal));
    },
    hideNotifications: (notifications) =>
      notifications.map((one) => {
        const isMasked = [one.title, one.text].some((text) =>
          isHidden(textOf(one.packageName, text), masks()),
        );
        return isMasked ? { ...one, title: null, text: null } : one;
      }),
  };
}

/** Minimum share of the display that a full-screen window covers. System bars take less than the rest. */
const filledShare = 0.85;

function fills({ left, top, right, bottom }: Bounds, { width, height }: Size): boolean {
  return (right - left) * (bottom - top) >= filledShare * width * height;
}

const areSame = (some: readonly HeldMask[], others: readonly HeldMask[]): boolean =>
  some.length === others.length && some.every((mask, index) => mask === others[index]);

/** Returns the properties of a text without a node. The app is unknown for announced toasts and notifications. */
const textOf = (packageName: string | undefined, text: string | null): Parameters<typeof isHidden>[0] => ({
  packageName,
  text,
  description: null,
  className: null,
  viewId: null,
});

/**
 * Lists the packages of all app windows that can be seen on the main display, one for each window. The accessibility
 * service does not know the windows that a dialog keeps from being touched. Undefined for an answer that Android never
 * gives.
 */
async function listVisibleApps(shell: PhoneShell, signal: AbortSignal): Promise<string[] | undefined> {
  const { stdout } = await shell.run(command, signal);
  if (!stdout.includes('WINDOW MANAGER WINDOWS')) return undefined;
  // The display ID of a window precedes its package.
  let displayId = '0';
  return stdout.split('\n').flatMap((line) => {
    displayId = /^[ \t]*mDisplayId=(\d{1,10})\b/.exec(line)?.[1] ?? displayId;
    const packageName = / package=(\S+)/.exec(line)?.[1];
    return packageName === undefined || displayId !== '0' ? [] : [packageName];
  });
}

/** Masks of all runs on a phone: parts of its screen that must not be seen now. */
export class HeldMasks {
  readonly #held = new Set<readonly HeldMask[]>();

  #heldOnce = 0;

  /** Number of times that hiding began. A changed number means that something was hidden in between. */
  get heldOnce(): number {
    return this.#heldOnce;
  }

  list(): readonly HeldMask[] {
    return [...this.#held].flat();
  }

  /** Holds masks. Returns the release. */
  hold(masks: readonly HeldMask[]): () => void {
    const held = [...masks];
    if (held.length > 0) this.#heldOnce += 1;
    this.#held.add(held);
    return () => void this.#held.delete(held);
  }
}

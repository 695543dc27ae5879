import { randomUUID } from 'node:crypto';
import type { Android } from '../android/android.ts';
import { findActiveTree, findActiveWindow } from '../screen/screen.ts';
import { type VisibleView, walk, type View } from '../view/view.ts';
import { NodeCache } from './node-cache.ts';
import { WebDriverError } from './web-driver-error.ts';

/**
 * Maximum number of cached elements; the least recently used ones are evicted (ElementsCache.java of the real
 * server).
 */
const maxElements = 500;

/** Position of a found element. Views are rebuilt at each change, so the position is stored instead of the view. */
interface Place {
  readonly windowTitle: string;
  /** Child index at each level. */
  readonly path: readonly number[];
  readonly className: string;
  readonly resourceId: string | undefined;
}

function findPath(view: View, target: View): number[] | undefined {
  if (view === target) return [];
  for (const [index, child] of (view.children ?? []).entries()) {
    const path = findPath(child, target);
    if (path) return [index, ...path];
  }
  return undefined;
}

/** Session of the UiAutomator2 server: its settings and the elements that it has named. */
export class Session {
  readonly id = randomUUID();
  readonly settings = new HelperSettings();
  readonly nodes = new NodeCache();
  #lastRead: Promise<unknown> = Promise.resolve();
  readonly #android: Android;
  readonly #places = new Map<string, Place>();

  constructor(android: Android) {
    this.#android = android;
  }

  /**
   * Serializes readings, because the real server gets roots under a lock (CACHED_WINDOW_ROOTS of
   * AXWindowHelpers.java).
   */
  readInTurn<T>(read: () => Promise<T>): Promise<T> {
    const reading = this.#lastRead.then(read);
    this.#lastRead = reading.catch(() => {});
    return reading;
  }

  /** Stores an element of the active window. Returns its ID. */
  remember(view: View): string {
    const window = findActiveWindow(this.#android.screen);
    const path = window && findPath(window.root, view);
    if (!path)
      throw new WebDriverError('stale element reference', 'The screen changed while it was searched.');
    const [oldest] = this.#places.keys();
    if (this.#places.size >= maxElements && oldest !== undefined) this.#places.delete(oldest);
    const id = randomUUID();
    this.#places.set(id, {
      windowTitle: window.title,
      path,
      className: view.className,
      resourceId: view.resourceId,
    });
    return id;
  }

  /** Returns the current state of the element. Throws if the ID is unknown or the element no longer exists. */
  getElement(id: string): VisibleView {
    const place = this.#places.get(id);
    if (!place)
      throw new WebDriverError('no such element', `The element '${id}' does not exist in DOM anymore`);
    this.#places.delete(id);
    this.#places.set(id, place);
    const found = this.#findAt(place);
    if (found) return found;
    throw new WebDriverError(
      'stale element reference',
      `The element '${id}' is not linked to the same object in DOM anymore`,
    );
  }

  #findAt(place: Place): VisibleView | undefined {
    const window = findActiveWindow(this.#android.screen);
    const tree = findActiveTree(this.#android.screen);
    if (!tree || window?.title !== place.windowTitle) return undefined;
    let view: View | undefined = window.root;
    for (const index of place.path) view = view?.children?.[index];
    if (view?.className !== place.className || view.resourceId !== place.resourceId) return undefined;
    return walk(tree).find((visible) => visible.view === view);
  }
}

type Value = boolean | number | string;

const dayMs = 24 * 60 * 60_000;

/** Settings of the UiAutomator2 server 10.6 with their defaults (its folder model/settings). */
export const defaultHelperSettings: Readonly<Record<string, Value>> = {
  actionAcknowledgmentTimeout: 3000,
  allowInvisibleElements: false,
  alwaysTraversableViewClasses: '',
  currentDisplayId: 0,
  deferAccessibilityCacheReset: false,
  disableIdLocatorAutocompletion: false,
  elementResponseAttributes: 'name,text',
  enableMultiWindows: false,
  enableNotificationListener: true,
  enableTopmostWindowFromActivePackage: false,
  enforceXPath1: false,
  ignoreUnimportantViews: false,
  includeA11yActionsInPageSource: false,
  includeExtraRenderingInfo: false,
  includeExtrasInPageSource: false,
  keyInjectionDelay: 0,
  limitXPathContextScope: true,
  mapTestTagToResourceId: false,
  mjpegBilinearFiltering: false,
  mjpegScalingFactor: 50,
  mjpegServerFramerate: 10,
  mjpegServerPort: 7810,
  mjpegServerScreenshotQuality: 50,
  normalizeTagNames: false,
  scrollAcknowledgmentTimeout: 200,
  serverPort: 6790,
  shouldUseCompactResponses: true,
  shutdownOnPowerDisconnect: true,
  simpleBoundsCalculation: false,
  snapshotMaxDepth: 70,
  trackScrollEvents: true,
  useResourcesForOrientationDetection: false,
  waitForIdleTimeout: 10_000,
  waitForSelectorTimeout: 10_000,
  wakeLockTimeout: dayMs,
};

/**
 * Settings of one session. `simpleBoundsCalculation` has no effect here: it only matters where Android itself does
 * not clip nodes at a parent's edge.
 */
class HelperSettings {
  readonly #values = new Map(Object.entries(defaultHelperSettings));

  get(name: string): Value | undefined {
    return this.#values.get(name);
  }

  all(): Record<string, Value> {
    return Object.fromEntries(this.#values);
  }

  /** Sets a value like the real server: unknown settings are silently ignored, and numbers lose their fraction. */
  update(name: string, value: unknown): void {
    const before = this.#values.get(name);
    if (before === undefined) return;
    if (typeof value === 'number' && typeof before === 'number') this.#values.set(name, Math.trunc(value));
    else if (isLike(value, before)) this.#values.set(name, value);
    else throw new WebDriverError('invalid argument', `Invalid '${name}' setting value type.`);
  }
}

const isLike = (value: unknown, before: Value): value is Value => typeof value === typeof before;

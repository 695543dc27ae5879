import { WebDriverError } from './web-driver-error.ts';

type Value = boolean | number | string;

const dayMs = 24 * 60 * 60_000;

/** The settings of the UiAutomator2 server 10.6 with its defaults (its folder model/settings). */
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
 * The settings of one session. `simpleBoundsCalculation` changes nothing here: only what Android does not cut at a parent's
 * edge by itself.
 */
export class HelperSettings {
  readonly #values = new Map(Object.entries(defaultHelperSettings));

  get(name: string): Value | undefined {
    return this.#values.get(name);
  }

  all(): Record<string, Value> {
    return Object.fromEntries(this.#values);
  }

  /** As the real server: what it doesn't know it skips without a word, and numbers lose their fraction. */
  update(name: string, value: unknown): void {
    const before = this.#values.get(name);
    if (before === undefined) return;
    if (typeof value === 'number' && typeof before === 'number') this.#values.set(name, Math.trunc(value));
    else if (isLike(value, before)) this.#values.set(name, value);
    else throw new WebDriverError('invalid argument', `Invalid '${name}' setting value type.`);
  }
}

const isLike = (value: unknown, before: Value): value is Value => typeof value === typeof before;

/** Value of the global `ScreenshotRecord`. */
export const screenshotRecord = {
  NONE: 'none',
  LOW_QUALITY: 'low_quality',
  HIGH_QUALITY: 'high_quality',
} as const;

const presets: Record<Exclude<ScreenshotRecord, 'none'>, ScreenshotOptions> = {
  low_quality: { format: 'jpeg', quality: 40, maxWidth: 540 },
  high_quality: { format: 'jpeg', quality: 90 },
};

/** Returns the options of a `ScreenshotRecord` preset; returns options unchanged. */
export function presetOf(
  options: ScreenshotOptions | Exclude<ScreenshotRecord, 'none'> = {},
): ScreenshotOptions {
  if (typeof options !== 'string') return options;
  if (!Object.hasOwn(presets, options))
    throw new TypeError(`There is no screenshot quality ${String(options)}.`);
  return presets[options];
}

/** The global of that name. */
export const screenshotRecord = {
  NONE: 'none',
  LOW_QUALITY: 'low_quality',
  HIGH_QUALITY: 'high_quality',
} as const;

const presets: Record<Exclude<ScreenshotRecord, 'none'>, ScreenshotOptions> = {
  low_quality: { format: 'jpeg', quality: 40, maxWidth: 540 },
  high_quality: { format: 'jpeg', quality: 90 },
};

/** The options that a `ScreenshotRecord` stands for; options stay as they are. */
export function presetOf(
  options: ScreenshotOptions | Exclude<ScreenshotRecord, 'none'> = {},
): ScreenshotOptions {
  if (typeof options !== 'string') return options;
  if (!Object.hasOwn(presets, options))
    throw new TypeError(`There is no screenshot quality ${String(options)}.`);
  return presets[options];
}

/** The global of that name. */
export const screenshotRecord = { LOW_QUALITY: 'low_quality', HIGH_QUALITY: 'high_quality' } as const;

const presets: Record<ScreenshotRecord, ScreenshotOptions> = {
  low_quality: { format: 'jpeg', quality: 40, maxWidth: 540 },
  high_quality: { format: 'jpeg', quality: 90 },
};

/** The options that a `ScreenshotRecord` stands for; options stay as they are. */
export function presetOf(options: ScreenshotOptions | ScreenshotRecord = {}): ScreenshotOptions {
  if (typeof options !== 'string') return options;
  if (!Object.hasOwn(presets, options))
    throw new TypeError(`There is no screenshot quality ${String(options)}.`);
  return presets[options];
}

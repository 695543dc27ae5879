import { test } from 'vitest';

import { findChromium } from './browser.ts';

/** Whether Chromium is installed. Stories are skipped without it, and the test report says so. */
export const hasChromium = findChromium() !== undefined;

/** Time limit in ms of a story with all of its pages, on a busy machine. */
const storyTimeoutMs = 300_000;

/** Declares a story of people who use the console, played in Chromium. */
export function story(name: string, play: () => Promise<void>, timeout = storyTimeoutMs): void {
  // oxlint-disable-next-line vitest/expect-expect -- the story expects
  test.skipIf(!hasChromium)(name, { timeout }, play);
}

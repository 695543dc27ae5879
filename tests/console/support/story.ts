import { test } from 'vitest';

import { findChromium } from './browser.ts';

/** Without it the stories are skipped, which the tests say at their end. */
export const hasChromium = findChromium() !== undefined;

/** Time limit of a story with all its pages, on a busy machine. */
const storyTimeoutMs = 300_000;

/** A story of people who use the console, played in Chromium. */
export function story(name: string, play: () => Promise<void>, timeout = storyTimeoutMs): void {
  // oxlint-disable-next-line vitest/expect-expect -- the story expects
  test.skipIf(!hasChromium)(name, { timeout }, play);
}

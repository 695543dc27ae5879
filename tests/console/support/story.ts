import { test } from 'vitest';

import { findChromium } from './browser.ts';

/** Without it the stories are skipped, which the tests say at their end. */
export const hasChromium = findChromium() !== undefined;

/** Of a story with all its pages, on a machine that is busy with other things. */
const storyTimeoutMs = 300_000;

/** What people do in the console, played in Chromium. */
export function story(name: string, play: () => Promise<void>, timeout = storyTimeoutMs): void {
  // oxlint-disable-next-line vitest/expect-expect -- the story expects
  test.skipIf(!hasChromium)(name, { timeout }, play);
}

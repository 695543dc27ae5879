import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';

import { Service } from '../../user-ways/service.ts';
import { closeWindows, sharedBrowser } from './browser.ts';
import { hasChromium } from './story.ts';

interface Stage {
  readonly service: Service;
  readonly browser: Browser;
}

/** Sets up the service with simulated phones, and the browser, shared by all stories of a file. */
export function stage(phones: number, settings: Readonly<Record<string, string>> = {}): Stage {
  let service: Service | undefined;
  let browser: Browser | undefined;
  const whenThere = <Part>(part: Part | undefined): Part => {
    if (part === undefined) throw new Error('It is there in stories alone.');
    return part;
  };
  beforeAll(async () => {
    if (!hasChromium) return;
    service = await Service.start(phones, settings);
    browser = await sharedBrowser();
  });
  afterAll(async () => {
    await closeWindows();
    await service?.stop();
  });
  return {
    get service() {
      return whenThere(service);
    },
    get browser() {
      return whenThere(browser);
    },
  };
}

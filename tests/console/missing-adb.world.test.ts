import { freePort } from '@phalanx/simulated-phone/testing/free-port';
import { expect } from 'vitest';

import { findViolations } from './support/axe.ts';
import { openWindow, signIn } from './support/browser.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const port = await freePort();
const here = stage(0, { PHALANX_ADB_SERVER: `127.0.0.1:${port}` });

story('the first steps and the fleet say that no adb server runs, and how to start it', async () => {
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  for (const path of ['/start', '/devices', '/settings/hosts']) {
    await page.goto(`${here.service.url}${path}`);
    await page
      .getByText(`No adb server answers at 127.0.0.1:${port}. Start it with "adb start-server".`)
      .waitFor();
  }
  await page.goto(`${here.service.url}/start`);
  await page.getByText('phalanx doctor').waitFor();
  expect(await findViolations(page)).toEqual([]);
  expect(problems).toEqual([]);
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { makeScrcpyServer } from '@phalanx/simulated-phone';
import { afterAll, expect } from 'vitest';

import { findViolations } from './support/axe.ts';
import { openWindow, signIn } from './support/browser.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'phalanx-scrcpy-'));
const server = path.join(folder, 'scrcpy-server');
writeFileSync(server, makeScrcpyServer('3.3.3'));
afterAll(() => rmSync(folder, { recursive: true }));

const here = stage(1, { PHALANX_SCRCPY_SERVER: server, PHALANX_RUN_FILM: 'always' });

const code = `await agent.actions.sleep(4000);
await agent.actions.launchApp('dev.phalanx.sample.form');
console.log('the form is there');
await agent.actions.sleep(3000);
await agent.actions.home();
await agent.actions.sleep(9000);`;

/** Returns time and pixels of the video's current picture. */
function look(video: SVGElement | HTMLElement): { time: number; pixels: string; isBright: boolean } {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [27, 60];
  const context = canvas.getContext('2d');
  context?.drawImage(video as HTMLVideoElement, 0, 0, 27, 60);
  const levels = context?.getImageData(0, 0, 27, 60).data ?? new Uint8ClampedArray();
  const isBright = levels.some((level, at) => at % 4 !== 3 && level > 64);
  return { time: (video as HTMLVideoElement).currentTime, pixels: canvas.toDataURL(), isBright };
}

story('the video of a run plays beside its steps and its log, and shows the moment of a step', async () => {
  const [deviceId = ''] = await here.service.readyDevices(1);
  const project = await here.service.createProject('Filmed', { 'main.ts': code });
  const run = await here.service.launch(deviceId, project);
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  await page.goto(`${here.service.url}/runs/${String(run['run_id'])}`);

  const moments = page.getByRole('group', { name: 'Moment' });
  await moments.getByRole('button', { name: 'Film' }).click();
  const film = page.getByRole('region', { name: 'Film' });
  const place = film.getByRole('slider', { name: 'Place in the film' });
  const video = film.locator('video:not([hidden])');
  const steps = page.getByRole('listbox', { name: 'Steps' });
  const chosen = steps.locator('[aria-selected="true"]');

  // Selects a step whose end is in the video.
  await steps.getByText('launchApp').click();
  await moments.getByRole('button', { name: 'Film' }).click();
  await video.waitFor();
  await expect.poll(async () => (await video.evaluate(look)).isBright).toBe(true);
  const opened = await video.evaluate(look);
  await page.getByText('the form is there').first().waitFor();

  // Playing the film selects the following steps.
  await film.getByRole('button', { name: 'Play' }).click();
  await expect.poll(async () => (await video.evaluate(look)).time).toBeGreaterThan(opened.time + 1);
  await expect.poll(() => chosen.innerText(), { timeout: 30_000 }).toContain('9000 ms');
  await film.getByRole('button', { name: 'Pause' }).click();
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await findViolations(page), `at ${width}`).toEqual([]);
  }

  // Selecting the step again shows the same moment and the same picture.
  await steps.getByText('launchApp').click();
  await moments.getByRole('button', { name: 'Film' }).click();
  await expect.poll(async () => (await video.evaluate(look)).pixels).toBe(opened.pixels);
  await place.focus();
  await page.keyboard.press('End');
  await film.getByRole('img').waitFor();
  await film.getByRole('button', { name: 'Play' }).waitFor();
  expect(problems).toEqual([]);
});

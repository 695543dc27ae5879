import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { makeScrcpyServer } from '@phalanx/simulated-phone';
import type { Locator, Page } from 'playwright-core';
import { afterAll, expect } from 'vitest';

import { findViolations } from './support/axe.ts';
import { openWindow, signIn } from './support/browser.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'phalanx-scrcpy-'));
const server = path.join(folder, 'scrcpy-server');
writeFileSync(server, makeScrcpyServer('3.3.3'));
afterAll(() => rmSync(folder, { recursive: true }));

const here = stage(1, { PHALANX_SCRCPY_SERVER: server });

/**
 * Returns the difference between the canvas and a picture of the phone: the mean difference of 32 × 32 gray levels,
 * from 0 to 255.
 */
async function differenceTo(page: Page, deviceId: string): Promise<number> {
  const { screen } = await here.service.call('GET', `/api/v2/devices/${deviceId}/screen?width=360`);
  const { base64 } = (screen as { picture: { base64: string } }).picture;
  return page.locator('canvas').evaluate(async (canvas, picture) => {
    const bytes = Uint8Array.from(atob(picture), (letter) => letter.charCodeAt(0));
    const levelsOf = (image: CanvasImageSource): Uint8ClampedArray => {
      const small = new OffscreenCanvas(32, 32).getContext('2d');
      small?.drawImage(image, 0, 0, 32, 32);
      return small?.getImageData(0, 0, 32, 32).data ?? new Uint8ClampedArray();
    };
    const bitmap = await createImageBitmap(new Blob([bytes]));
    const [shown, taken] = [levelsOf(canvas as HTMLCanvasElement), levelsOf(bitmap)];
    return shown.reduce((sum, level, at) => sum + Math.abs(level - (taken[at] ?? 0)), 0) / shown.length;
  }, base64);
}

const untilLike = (page: Page, deviceId: string): Promise<void> =>
  expect.poll(() => differenceTo(page, deviceId), { timeout: 30_000 }).toBeLessThan(8);

interface Node {
  readonly text: string | null;
  readonly boundsInScreen: { left: number; top: number; right: number; bottom: number };
  readonly children: readonly Node[];
}

/** Returns the position of a text in the picture of the phone. */
async function placeIn(picture: Locator, deviceId: string, text: string): Promise<{ x: number; y: number }> {
  const { screen } = await here.service.call('GET', `/api/v2/devices/${deviceId}/screen?width=200`);
  const { tree, width, height } = screen as { tree: { root: Node }; width: number; height: number };
  const all = (node: Node): Node[] => [node, ...node.children.flatMap(all)];
  const found = all(tree.root).find((node) => node.text === text);
  const box = await picture.boundingBox();
  if (found === undefined || box === null) throw new Error(`the phone does not show ${text}`);
  const { left, right, top, bottom } = found.boundsInScreen;
  return { x: ((left + right) / 2 / width) * box.width, y: ((top + bottom) / 2 / height) * box.height };
}

const ratioOf = (page: Page): Promise<number> =>
  page.locator('canvas').evaluate(({ width, height }: HTMLCanvasElement) => width / height);

story(
  'a phone is watched and touched in H.264, turned, and shown as pictures while something is masked',
  async () => {
    const [deviceId = ''] = await here.service.readyDevices(1);
    const { page, problems } = await openWindow(here.browser);
    await signIn(page, here.service.url, here.service.token);
    await page.goto(`${here.service.url}/devices/${deviceId}?tab=control`);
    await page.getByText('H.264, up to 30/s').waitFor();
    await untilLike(page, deviceId);
    expect(await findViolations(page)).toEqual([]);

    await page.getByRole('button', { name: 'Take control' }).click();
    const phone = page.getByRole('application', { name: 'The phone: touch it, or type' });
    await phone.waitFor();
    const look = (): Promise<string> =>
      page.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
        const small = new OffscreenCanvas(32, 32).getContext('2d');
        small?.drawImage(canvas, 0, 0, 32, 32);
        return String(small?.getImageData(0, 0, 32, 32).data);
      });
    const before = await look();
    await phone.click({ position: await placeIn(phone, deviceId, 'Settings') });
    await expect.poll(look).not.toBe(before);
    await untilLike(page, deviceId);

    expect(await ratioOf(page)).toBeLessThan(1);
    const turning = await here.service.createProject('Turn', {
      'main.ts': "await agent.actions.rotate('landscape');",
    });
    await here.service.launch(deviceId, turning);
    await expect.poll(() => ratioOf(page)).toBeGreaterThan(1);
    await untilLike(page, deviceId);

    // Masks can't be drawn into a video, so there is none while an area is masked.
    const masked = await here.service.createProject('Masked', {
      'main.ts': 'await agent.actions.sleep(600_000);',
      'masks.json': JSON.stringify([{ area: { left: 0, top: 0, right: 1, bottom: 0.1 } }]),
    });
    const run = { automationId: masked, device_ids: [deviceId] };
    await here.service.call('POST', '/api/v2/devices/launchAutomation', { ...run, command: 'start' });
    await page.getByText('JPEG: a mask is active').waitFor();
    await page.locator('img[alt="What the screen shows"]').waitFor();
    await here.service.call('POST', '/api/v2/devices/launchAutomation', { ...run, command: 'stop' });
    await page.getByText('H.264, up to 30/s').waitFor();
    await untilLike(page, deviceId);
    expect(problems).toEqual([]);
  },
);

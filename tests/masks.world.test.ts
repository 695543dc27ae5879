/** What a project declares in masks.json is in nothing that the public API gives, from the phone's screen on. */
import {
  deviceRoutes,
  fileRoutes,
  launchRoutes,
  projectRoutes,
  runRoutes,
  wholeScreen,
} from '@phalanx/protocol';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { Viewer } from '../apps/server/src/live/testing/viewers.ts';
import { Installation } from './support/installation.ts';

const secret = 'balance-of-the-tests';
const masks = [
  { packageName: 'dev.phalanx.sample.form', viewId: 'name' },
  { area: { left: 0, top: 0, right: 1, bottom: 0.1 } },
];
/** Of a screen of 1080 by 2400. */
const area = { left: 0, top: 0, right: 1080, bottom: 240 };
const main = `
  await agent.actions.launchApp('dev.phalanx.sample.form');
  const field = await agent.actions.waitForId('name');
  await field.tap();
  await agent.actions.writeText('${secret}');
  const screen = await agent.actions.screenContent();
  console.log(JSON.stringify(screen.findById('name')), JSON.stringify(await agent.actions.windows()));
  console.log('bounds', JSON.stringify(screen.findById('name')!.boundsInScreen));
  for (const quality of [ScreenshotRecord.LOW_QUALITY, ScreenshotRecord.HIGH_QUALITY])
    await agent.utils.outOfSteps.storeScreen(screen, 's', 'Form', 1, quality);
  await agent.utils.outOfSteps.submit('outOfSteps');
  console.log('picture', (await agent.actions.screenshot({ maxWidth: 360 })).base64);
  console.log('stored');
  await agent.actions.sleep(600_000);`;

interface Rectangle {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

let installation: Installation;
let deviceId: string;

beforeAll(async () => {
  installation = await Installation.start(1);
  deviceId = (await installation.readyDevices())[0]?.device_id ?? '';
});
afterAll(() => installation.stop());

async function createProject(files: Readonly<Record<string, string>>): Promise<string> {
  const { project } = await installation.api.call(projectRoutes.create, {
    body: { name: `masked ${crypto.randomUUID()}` },
  });
  for (const [path, content] of Object.entries(files))
    await installation.api.call(fileRoutes.write, { params: { id: project.id }, body: { path, content } });
  return project.id;
}

const launch = (projectId: string, command: 'start' | 'stop'): Promise<unknown> =>
  installation.api.call(launchRoutes.launch, {
    body: { device_ids: [deviceId], automationId: projectId, command },
  });

/** The brightest level of a part of the screen, of 255, without its edge, into which JPEG lets the colours around it run. */
async function brightest(picture: Buffer, { left, top, right, bottom }: Rectangle): Promise<number> {
  const { width } = await sharp(picture).metadata();
  const at = (value: number): number => Math.floor((value * width) / 1080);
  const part = {
    left: at(left + 20),
    top: at(top + 20),
    width: at(right - left - 40),
    height: at(bottom - top - 40),
  };
  const grey = await sharp(picture).extract(part).greyscale().toBuffer();
  return (await sharp(grey).stats()).channels[0]?.max ?? 255;
}

test('what a project masks is black and empty in records, screens, live pictures and logs', async () => {
  const projectId = await createProject({ 'main.ts': main, 'masks.json': JSON.stringify(masks) });
  await launch(projectId, 'start');
  const [run] = (await installation.api.call(runRoutes.list, { query: { automation_id: projectId } })).runs;
  const readLog = async (): Promise<string[]> =>
    (await installation.api.call(runRoutes.logs, { params: { id: run?.run_id ?? '' }, query: {} })).logs.map(
      ({ message }) => message,
    );
  await expect.poll(readLog).toContain('stored');
  const log = await readLog();
  const bounds: Rectangle = JSON.parse(log.find((line) => line.startsWith('bounds '))?.slice(7) ?? '');
  const taken = Buffer.from(log.find((line) => line.startsWith('picture '))?.slice(8) ?? '', 'base64');

  const reply = await installation.api.call(deviceRoutes.screen, {
    params: { id: deviceId },
    query: {},
  });
  const screen = wholeScreen(reply.screen);
  const viewer = await Viewer.open(`${installation.url}/api/v2/devices/${deviceId}/live`, {
    authorization: `Bearer ${installation.callerSettings['PHALANX_TOKEN']}`,
  });
  const frame = await viewer.next();
  viewer.close();
  const record = await installation.wholeRecord(projectId);
  const captures = record.screens.map(async ({ screenshot, uiUrl }) => ({
    picture: Buffer.from(await (await fetch(screenshot.screenshotUrl ?? '')).arrayBuffer()),
    tree: await (await fetch(uiUrl ?? '')).text(),
  }));
  const recorded = await Promise.all(captures);
  expect(recorded).toHaveLength(2);

  const pictures = [
    taken,
    Buffer.from(screen.picture?.base64 ?? '', 'base64'),
    Buffer.from(frame.jpeg ?? '', 'latin1'),
    ...recorded.map(({ picture }) => picture),
  ];
  for (const picture of pictures) {
    expect(await brightest(picture, bounds)).toBeLessThan(16);
    expect(await brightest(picture, area)).toBeLessThan(16);
  }
  const texts = [
    JSON.stringify(screen),
    ...log,
    ...recorded.map(({ tree }) => tree),
    installation.host.output,
  ];
  expect(texts.filter((text) => text.includes(secret))).toEqual([]);
  // The app's title is in the area.
  expect(texts.filter((text) => text.includes('Registration'))).toEqual([]);
  expect(JSON.stringify(screen)).toContain('Email address');

  await launch(projectId, 'stop');
  const open = await installation.api.call(deviceRoutes.screen, { params: { id: deviceId }, query: {} });
  expect(JSON.stringify(open)).toContain(secret);
}, 150_000);

test('masks that cannot be read keep a project from running, and are told when they are written', async () => {
  const projectId = await createProject({ 'main.ts': `console.log('ran');` });
  const write = (content: string): Promise<{ warnings?: readonly string[] }> =>
    installation.api.call(fileRoutes.write, {
      params: { id: projectId },
      body: { path: 'masks.json', content },
    });
  expect((await write('[{"viewid": "balance"}]')).warnings).toEqual([
    expect.stringContaining('masks.json(1,1): error TS5024: mask 1 is none'),
  ]);
  await expect(launch(projectId, 'start')).rejects.toMatchObject({ code: 'invalid_masks' });
  expect((await write('[]')).warnings ?? []).toEqual([]);
  await launch(projectId, 'start');
});

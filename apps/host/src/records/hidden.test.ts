/** Data that must not leave the host, from the screen to records, screens and logs, with a real sandbox and driver. */
import { randomUUID } from 'node:crypto';

import { DeviceScreen } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import { expect, it } from 'vitest';

import { findNode } from '../driver/find-node.ts';
import { parseTree } from '../driver/tree/parse-tree.ts';
import { brightest } from '../testing/brightest.ts';
import { serial, useTestHost } from '../testing/test-host.ts';

const host = useTestHost();
const screenShape = Compile(DeviceScreen);
const secret = 'hunter2-of-the-tests';

const code = `
  await agent.actions.launchApp('dev.phalanx.sample.form');
  const field = await agent.actions.waitForId('password');
  await field.tap();
  await agent.actions.writeText('${secret}');
  const screen = await agent.actions.screenContent();
  const { boundsInScreen, text } = screen.filterAdvanced((filter) => filter.isPassword())[0];
  console.log(JSON.stringify({ boundsInScreen, text }));
  await agent.utils.outOfSteps.storeScreen(screen, 's', 'Form', 1, ScreenshotRecord.LOW_QUALITY);
  await agent.utils.outOfSteps.storeScreen(screen, 's', 'Form', 1, ScreenshotRecord.HIGH_QUALITY);
  await agent.utils.outOfSteps.submit('outOfSteps');
  throw new Error('the end');`;

it('a password is black in pictures, dots in trees, and in no byte that leaves the host', async () => {
  const runId = host.launch(code);
  await host.service.untilEnded(runId);
  const records = [
    await host.service.untilRecorded(runId, 'outOfSteps'),
    await host.service.untilRecorded(runId, 'crash'),
  ];
  const [told] = host.service.messages(runId);
  const { boundsInScreen, text } = JSON.parse(told ?? '');
  expect(text).toBe('•'.repeat(secret.length));
  // The record of the crash also has screens without a picture.
  const pictured = records.flatMap(({ screens }) => screens).filter(({ screenshot }) => screenshot !== null);
  expect(pictured.length).toBeGreaterThanOrEqual(4);
  for (const { screen_id } of pictured) {
    const picture = host.service.records.captures.get(`${screen_id}/screenshot`)?.body ?? Buffer.alloc(0);
    expect(await brightest(picture, boundsInScreen)).toBeLessThan(16);
  }
  const request_id = randomUUID();
  host.service.send({ type: 'screen', request_id, serial, width: null });
  await host.service.until(() => host.service.arrivals.some(({ kind }) => kind === 'screen'));
  const answer = host.service.arrivals.find((one) => one.kind === 'screen')?.bytes.toString() ?? '';
  const screen: unknown = JSON.parse(answer);
  if (!screenShape.Check(screen)) throw new Error(answer);
  const picture = Buffer.from(screen.picture?.base64 ?? '', 'base64');
  expect(await brightest(picture, boundsInScreen)).toBeLessThan(16);
  const captures = [...host.service.records.captures.values()].map(({ body }) => body.toString('latin1'));
  const left = [answer, JSON.stringify(host.service.arrivals), ...host.service.messages(runId), ...captures];
  expect(left.filter((one) => one.includes(secret))).toEqual([]);
});

it('a password that an app tells in the clear is dots too', () => {
  const field = `<node class="Field" password="true" showing-hint="false" text="${secret}" bounds="[0,0][9,9]"/>`;
  const { root } = parseTree(`<hierarchy rotation="0">${field}</hierarchy>`);
  expect(findNode(root, ({ password }) => password)?.text).toBe('•'.repeat(secret.length));
});

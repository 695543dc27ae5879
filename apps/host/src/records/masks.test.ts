/** Masks of a project, from the phone's screen to everything that leaves the host, with a real sandbox and driver. */
import { randomUUID } from 'node:crypto';
import { gunzipSync } from 'node:zlib';

import type { Bounds, ScreenMask } from '@phalanx/protocol';
import { expect, it } from 'vitest';

import { findNode } from '../driver/find-node.ts';
import { brightest } from '../testing/brightest.ts';
import { difference } from '../testing/watch-screens.ts';
import { serial, useTestHost } from '../testing/test-host.ts';

const host = useTestHost();
const secret = 'balance-of-the-tests';
const masks: ScreenMask[] = [
  { packageName: 'dev.phalanx.sample.form', viewId: 'name' },
  { area: { left: 0, top: 0, right: 1, bottom: 0.1 } },
];
/** Area of a screen of 1080 by 2400. */
const area: Bounds = { left: 0, top: 0, right: 1080, bottom: 240 };

const code = `
  await agent.actions.launchApp('dev.phalanx.sample.form');
  const field = await agent.actions.waitForId('name');
  await field.tap();
  await agent.actions.writeText('${secret}');
  const screen = await agent.actions.screenContent();
  console.log(JSON.stringify(screen.findById('name').boundsInScreen));
  console.log((await agent.actions.screenshot({ maxWidth: 360 })).base64);
  for (const { root } of await agent.actions.windows())
    for (const { text } of root.getAllNodes()) if (text) console.log(text);
  for (const quality of [ScreenshotRecord.LOW_QUALITY, ScreenshotRecord.HIGH_QUALITY])
    await agent.utils.outOfSteps.storeScreen(screen, 's', 'Form', 1, quality);
  await agent.utils.outOfSteps.submit('outOfSteps');
  console.log('recorded');
  await new Promise((resolve) => setTimeout(resolve, 600_000));`;

/** Sends the host a question about the phone. */
async function ask(type: 'screen' | 'live' | 'wall'): Promise<Buffer> {
  const before = host.service.arrivals.length;
  const request = { request_id: randomUUID(), serial };
  host.service.send(
    type === 'screen' ? { type, ...request, width: null } : { type, ...request, known: null },
  );
  const isAnswer = ({ kind }: { kind: string }): boolean => kind === type;
  await host.service.until(() => host.service.arrivals.slice(before).some(isAnswer));
  const answer = host.service.arrivals.slice(before).find(isAnswer);
  return answer !== undefined && 'bytes' in answer ? answer.bytes : Buffer.alloc(0);
}

it('what a project masks is black in pictures, empty in trees, and in no byte that leaves the host while it runs', async () => {
  const runId = host.launch(code, serial, masks);
  const records = [await host.service.untilRecorded(runId, 'outOfSteps')];
  await host.service.until(() => host.service.messages(runId).includes('recorded'));
  const [told = '', taken = ''] = host.service.messages(runId);
  const bounds: Bounds = JSON.parse(told);
  const screen = await ask('screen');
  const live = [await ask('live'), await ask('wall')];
  host.service.send({ type: 'stop', run_ids: [runId] });
  await host.service.untilEnded(runId);
  const captures = records
    .flatMap(({ screens }) => screens)
    .map(({ screen_id }) => host.service.records.captures.get(`${screen_id}/screenshot`)?.body);
  expect(captures).toHaveLength(2);
  const pictures = [
    Buffer.from(taken, 'base64'),
    Buffer.from(JSON.parse(screen.toString()).picture.base64, 'base64'),
    ...live.map((answer) => answer.subarray(answer.indexOf('\n') + 1)),
    ...captures.map((body) => body ?? Buffer.alloc(0)),
  ];
  for (const picture of pictures) {
    expect(await brightest(picture, bounds)).toBeLessThan(16);
    expect(await brightest(picture, area)).toBeLessThan(16);
    expect(await brightest(picture, { left: 0, top: 240, right: 1080, bottom: 2400 })).toBeGreaterThan(200);
  }
  const bodies = [...host.service.records.captures.values()].map(({ body }) =>
    (body[0] === 0x1f ? gunzipSync(body) : body).toString('latin1'),
  );
  expect(bodies.filter((body) => body.includes('Email address'))).toHaveLength(2);
  const left = [screen.toString(), ...host.service.messages(runId), ...bodies];
  // The app's title lies in the masked area.
  for (const hidden of [secret, 'Registration'])
    expect(left.filter((one) => one.includes(hidden))).toEqual([]);
  expect(screen.toString()).toContain('Email address');
  const after = await ask('screen');
  expect(after.toString()).toContain(secret);
});

const wandering = `
  const form = 'dev.phalanx.sample.form';
  const store = async (stage) => agent.utils.outOfSteps.storeScreen(
    await agent.actions.screenContent(), stage, stage, 1, ScreenshotRecord.LOW_QUALITY);
  await agent.actions.launchApp(form);
  await (await agent.actions.waitForId('name')).tap();
  await agent.actions.writeText('TOP SECRET');
  await agent.actions.hideKeyboard();
  for (let n = 0; n < 6; n += 1) {
    await agent.actions.home();
    await agent.actions.waitForIdle({ quietMs: 300 });
    await store('Home');
    await agent.actions.launchApp(form);
    await agent.actions.waitForId('name');
    await store('Form');
  }
  await agent.utils.outOfSteps.submit('debug', 'masks');
  await agent.actions.home();`;

it('what is masked is masked where it is, on each screen that a run leaves at once', async () => {
  const runId = host.launch(wandering, serial, [{ viewId: 'name' }]);
  expect((await host.service.untilEnded(runId)).error).toBeNull();
  const { screens } = await host.service.untilRecorded(runId, 'debug');
  const home = await host.phone.screenshot('png');
  expect(screens.map(({ next_stage, screenshot }) => [next_stage, screenshot?.width])).toEqual(
    Array.from({ length: 12 }, (_, n) => [n % 2 === 0 ? 'Home' : 'Form', 540]),
  );
  for (const { screen_id, next_stage } of screens) {
    const picture = host.service.records.captures.get(`${screen_id}/screenshot`)?.body ?? Buffer.alloc(0);
    if (next_stage === 'Home') expect(await difference(picture, home)).toBeLessThan(2);
    else {
      const { root } = JSON.parse(host.service.records.treeOf(screen_id));
      const name = findNode(root, ({ viewId }) => viewId?.endsWith(':id/name') === true);
      if (name === undefined) throw new Error('the form has a name');
      expect(await brightest(picture, name.boundsInScreen)).toBeLessThan(16);
    }
  }
});

const announcing = `
  const announced = await agent.actions.announcements();
  agent.control.setResult({ announced });`;

it.each<[string, ScreenMask, string[]]>([
  ['its app alone', { packageName: 'com.bank' }, []],
  ['its app and its text', { packageName: 'com.bank', textContains: 'code is' }, []],
  ['its text alone', { textContains: 'code is' }, []],
  ['any app, because nobody tells whose it is', { packageName: 'com.other' }, []],
  [
    'another text of any app',
    { packageName: 'com.bank', textContains: 'balance' },
    ['Bank: Your code\u00A0is 1234'],
  ],
  ['a node of its app', { packageName: 'com.bank', viewId: 'code' }, ['Bank: Your code\u00A0is 1234']],
])('an announcement is hidden by a mask of %s', async (_, mask, announced) => {
  host.phone.android.notices.post({ packageName: 'com.bank', title: 'Bank', text: 'Your code\u00A0is 1234' });
  const { result } = await host.service.untilEnded(host.launch(announcing, serial, [mask]));
  expect(JSON.parse(String(result))).toEqual({ announced });
});

/** Facts of a record besides its screens: the calls between them, and the app that they show. */
import { redactedText } from '@phalanx/protocol';
import { describe, expect, it } from 'vitest';

import { launchOf } from '../testing/launch-of.ts';
import { serial, useTestHost } from '../testing/test-host.ts';

const host = useTestHost();
const form = 'dev.phalanx.sample.form';

const store = `await agent.utils.outOfSteps.storeScreen(
  await agent.actions.screenContent(), 'fill', 'Form', 3, ScreenshotRecord.NONE);`;
const open = `await agent.actions.launchApp('${form}'); await agent.actions.waitForId('name');`;
const submit = `await agent.utils.outOfSteps.submit('outOfSteps');`;
const middleOf = (id: string) => `(({ left, top, right, bottom }) =>
  [Math.round((left + right) / 2), Math.round((top + bottom) / 2)])(screen.findById('${id}').boundsInScreen)`;

async function recordOf(code: string, masks: Parameters<typeof host.launch>[2] = []) {
  const runId = host.launch(code, serial, masks);
  const record = await host.service.untilRecorded(runId, 'outOfSteps');
  return { record, end: await host.service.untilEnded(runId), messages: host.service.messages(runId) };
}

describe('the calls of a record', () => {
  it('are those that change the phone, with places, keys, apps and lengths, on the screen before them', async () => {
    const { record, messages } = await recordOf(`${open} ${store}
      const screen = await agent.actions.screenContent();
      const [x, y] = ${middleOf('city')};
      console.log(JSON.stringify([x, y]));
      await agent.actions.tap(x, y);
      await agent.actions.writeText('Wien');
      await agent.actions.inputKey('ENTER');
      await agent.actions.inputKey(29);
      await agent.actions.screenContent();
      await agent.actions.swipe(500, 1500, 500, 900);
      ${store} await agent.actions.launchApp('${form}'); await agent.actions.back(); ${submit}`);
    const [x, y] = JSON.parse(messages[0] ?? '');
    expect(record.screens.map(({ calls }) => calls)).toEqual([
      [
        { name: 'input.tap', x, y },
        { name: 'input.text', text_length: 4 },
        { name: 'input.key', key: 'ENTER' },
        { name: 'input.key' },
        { name: 'input.swipe', x: 500, y: 1500, to_x: 500, to_y: 900 },
      ],
      [{ name: 'app.launch', package: form }, { name: 'navigate.back' }],
    ]);
  });

  it('say nothing of password fields and masked nodes, whether the screen was read meanwhile or not', async () => {
    const act = (id: string, text: string) => `
      { const [x, y] = ${middleOf(id)}; await agent.actions.tap(x, y); await agent.actions.writeText('${text}'); }`;
    const { record } = await recordOf(
      `${open} ${store} const screen = await agent.actions.screenContent();
       ${act('password', 'hunter2')} await agent.actions.screenContent();
       await agent.actions.writeText('more'); ${act('name', 'Ada')} ${act('email', 'a@b')}
       ${store} ${submit}`,
      [{ viewId: 'name' }],
    );
    const [first] = record.screens;
    expect(first?.calls?.map(({ name, text_length: length }) => [name, length])).toEqual([
      ['input.tap', undefined],
      ['input.text', 3],
    ]);
  });

  it('tell no length of a secret', async () => {
    const runId = crypto.randomUUID();
    const code = `${open} ${store} await (await agent.actions.waitForId('city')).tap();
      await agent.actions.writeText(await agent.secrets.get('CITY')); ${submit}`;
    const message = launchOf(code, [{ run_id: runId, device_id: 'device-1', serial }]);
    host.service.send({ ...message, secrets: { CITY: 'Klosterneuburg-Weidling' } });
    const { screens } = await host.service.untilRecorded(runId, 'outOfSteps');
    expect(screens[0]?.calls?.at(-1)).toEqual({ name: 'input.text', text_length: redactedText.length });
  });

  it('are the first thirty, and outlive a host that ends before the server has them', async () => {
    await host.stop();
    await host.reopen({}, { firstRetryMs: 20, lastRetryMs: 50 });
    const runId = host.launch(`${open} ${store} console.log('stored');
      for (let n = 0; n < 35; n += 1) await agent.actions.tap(n, 5);
      ${submit} console.log('submitted');`);
    await host.service.until(() => host.service.messages(runId).includes('stored'));
    host.service.acknowledgesRecords = false;
    await host.service.until(() => host.service.messages(runId).includes('submitted'));
    await host.stop();
    host.service.acknowledgesRecords = true;
    await host.reopen();
    const { screens, app } = await host.service.untilRecorded(runId, 'outOfSteps');
    expect(screens[0]?.calls?.map(({ x }) => x)).toEqual(Array.from({ length: 30 }, (_, n) => n));
    expect(app?.package).toBe(form);
  });
});

describe('the app of a record', () => {
  it('has its version, the activity in front and the language of the phone; the end of the run has the version', async () => {
    host.phone.android.properties.set('persist.sys.locale', 'de-AT');
    const { record, end } = await recordOf(`${open} ${store} ${submit}`);
    expect(record.app).toEqual({
      package: form,
      activity: `${form}.FormActivity`,
      version: '1.4.0',
      language: 'de-AT',
    });
    expect(end.app).toEqual({ package: form, version: '1.4.0' });
  });

  it('of a crash is the one that the phone shows then', async () => {
    const runId = host.launch(`${open} ${store} await agent.actions.home(); throw new Error('lost');`);
    const { app } = await host.service.untilRecorded(runId, 'crash');
    expect(app).toMatchObject({ package: expect.not.stringContaining('form'), language: 'en-US' });
    expect((await host.service.untilEnded(runId)).app).toEqual({ package: form, version: '1.4.0' });
  });

  it('of a run that only reads, has no screen or is stopped is told at its end, or not at all', async () => {
    const reads = host.launch(`${open} await agent.actions.screenContent();`);
    expect((await host.service.untilEnded(reads)).app).toEqual({ package: form, version: '1.4.0' });
    const blind = host.launch(`await agent.actions.home();`);
    expect((await host.service.untilEnded(blind)).app).toBeUndefined();
  });

  it('is its name alone when the phone says nothing in time', async () => {
    await host.stop();
    await host.reopen({}, { appMs: 50 });
    const runId = host.launch(
      `${open} ${store} console.log('stored'); await agent.actions.sleep(300); ${submit}`,
    );
    await host.service.until(() => host.service.messages(runId).includes('stored'));
    host.phone.faults.slowMs = 2000;
    const { app } = await host.service.untilRecorded(runId, 'outOfSteps');
    host.phone.faults.slowMs = 0;
    expect(app).toEqual({ package: form, activity: null, version: null, language: null });
  });

  it.each(['resident', 'uiautomator2'])('is known by the helper %s as well', async (helper) => {
    await host.stop();
    await host.reopen({ PHALANX_HELPER: helper });
    const { record } = await recordOf(
      `${open} ${store} await (await agent.actions.screenContent()).findById('city').tap(); ${store} ${submit}`,
    );
    expect(record.app).toMatchObject({ activity: `${form}.FormActivity`, version: '1.4.0' });
    expect(record.screens[0]?.calls).toMatchObject([{ name: 'input.tap', x: expect.any(Number) }]);
  });
});

it('a made-up tree brings no command to the phone', async () => {
  const { record } = await recordOf(`
    const real = await agent.actions.screenContent();
    const fake = {}; for (const name in real) fake[name] = real[name];
    fake.children = []; fake.parent = null; fake.packageName = 'a.b; input tap 1 1; echo versionName=9';
    await agent.utils.outOfSteps.storeScreen(fake, 's', 'Home', 1, ScreenshotRecord.NONE); ${submit}`);
  expect(record.app).toMatchObject({ activity: null, version: null, language: null });
});

it('what a hostile phone prints is cut and left out', async () => {
  const { android } = host.phone;
  const known = { name: form, versionCode: 14, isSystem: false };
  android.properties.set('persist.sys.locale', '../../etc; $(reboot)');
  android.packages.add({
    ...known,
    versionName: `${'9'.repeat(200)}\nversionName=\u0007\nversionName= 2.0 `,
  });
  const { record } = await recordOf(`${open} ${store} ${submit}`);
  expect(record.app).toMatchObject({ version: '2.0', language: 'en-US' });
  android.packages.add({ ...known, versionName: 'x'.repeat(100_000) });
  expect((await recordOf(`${open} ${store} ${submit}`)).record.app).toMatchObject({ version: null });
});

/** Films of runs, with a real sandbox and driver, from the phone to the server. */
import { randomUUID } from 'node:crypto';
import type { Bounds, ScreenMask } from '@phalanx/protocol';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { brightest } from '../testing/brightest.ts';
import { launchOf } from '../testing/launch-of.ts';
import { serial, useTestHost } from '../testing/test-host.ts';
import { untilEmpty } from '../testing/until.ts';

const timings = { filmPictureMs: 100, filmAfterCallMs: 50, filmPollMs: 10 };
const host = useTestHost({ timings });

function film(code: string, masks: readonly ScreenMask[] = []): string {
  const runId = randomUUID();
  const launch = launchOf(code, [{ run_id: runId, device_id: 'device-1', serial }], masks);
  host.service.send({ ...launch, film: true });
  return runId;
}

const untilPictures = (runId: string, count: number): Promise<void> =>
  host.service.until(() => host.service.records.filmOf(runId).length >= count);

const form = `await agent.actions.launchApp('dev.phalanx.sample.form');
  const field = await agent.actions.waitForId('name');`;

it('shows the screen as it changes, in order, and each screen once', async () => {
  const runId = film(`for (;;) {
    ${form}
    await agent.actions.sleep(600);
    await agent.actions.home();
    await agent.actions.sleep(600);
  }`);
  await untilPictures(runId, 4);
  host.service.send({ type: 'stop', run_ids: [runId] });
  await host.service.untilEnded(runId);
  // All pictures are stored when the end of the run is reported.
  const pictures = host.service.records.filmOf(runId);
  expect(pictures.map(({ number }) => number)).toEqual(pictures.map((_, index) => index + 1));
  const times = pictures.map(({ takenAt }) => takenAt);
  expect(times).toEqual(times.toSorted((one, other) => one - other));
  for (const [index, { body, width, height }] of pictures.entries()) {
    expect(await sharp(body).metadata()).toMatchObject({ format: 'jpeg', width, height });
    expect(pictures[index]?.noVideo).toBe('no scrcpy server on the host');
    expect(body.equals(pictures[index + 1]?.body ?? Buffer.alloc(0))).toBe(false);
  }
  await untilEmpty(host.pathOf('files'));
});

it('shows nothing that is masked, while the automation works', async () => {
  const masks: ScreenMask[] = [
    { packageName: 'dev.phalanx.sample.form', viewId: 'name' },
    { area: { left: 0, top: 0, right: 1, bottom: 0.1 } },
  ];
  const code = `${form}
    console.log(JSON.stringify(field.boundsInScreen));
    await field.tap();
    await agent.actions.writeText('balance-of-the-tests');
    await (await agent.actions.waitForId('email')).tap();
    for (;;) {
      await agent.actions.writeText('shown ');
      console.log('typed');
      await agent.actions.waitForText('never', { timeoutMs: 2000 }).catch(() => undefined);
    }`;
  const runId = film(code, masks);
  await host.service.until(() => host.service.messages(runId).includes('typed'));
  await untilPictures(runId, 2);
  host.service.send({ type: 'stop', run_ids: [runId] });
  await host.service.untilEnded(runId);
  const bounds: Bounds = JSON.parse(host.service.messages(runId)[0] ?? '');
  const pictures = host.service.records.filmOf(runId);
  for (const { body } of pictures)
    expect(await brightest(body, { left: 0, top: 0, right: 1080, bottom: 240 })).toBeLessThan(16);
  const last = pictures.at(-1)?.body ?? Buffer.alloc(0);
  expect(await brightest(last, bounds)).toBeLessThan(16);
  // The unmasked part below shows content.
  const below = { ...bounds, top: bounds.bottom + 40, bottom: bounds.bottom + 600 };
  expect(await brightest(last, below)).toBeGreaterThan(64);
});

it('shows no field for a password, though nothing is masked', async () => {
  const runId = film(`await agent.actions.launchApp('dev.phalanx.sample.form');
    const field = await agent.actions.waitForId('password');
    console.log(JSON.stringify(field.boundsInScreen));
    await field.tap();
    await agent.actions.writeText('balance-of-the-tests');
    await agent.actions.sleep(500);`);
  await host.service.untilEnded(runId);
  const bounds: Bounds = JSON.parse(host.service.messages(runId)[0] ?? '');
  const last = host.service.records.filmOf(runId).at(-1)?.body ?? Buffer.alloc(0);
  expect(await brightest(last, bounds)).toBeLessThan(16);
});

it('is made of the runs that are to have one, by hosts that make films', async () => {
  await host.stop();
  await host.reopen({ PHALANX_RUN_FILM_MB: '0' });
  for (const none of [film(form), host.launch(form)]) {
    expect(await host.service.untilEnded(none)).toMatchObject({ status: 'completed' });
    expect(host.service.records.filmOf(none)).toEqual([]);
  }
});

it('is the last screen alone of a run without one that ends well, with all that is hidden', async () => {
  const masks: ScreenMask[] = [{ area: { left: 0, top: 0, right: 1, bottom: 0.1 } }];
  const code = `${form}
    console.log(JSON.stringify((await agent.actions.waitForId('password')).boundsInScreen));
    await (await agent.actions.waitForId('password')).writeText('balance-of-the-tests');`;
  const runId = host.launch(code, serial, masks);
  expect(await host.service.untilEnded(runId)).toMatchObject({ status: 'completed' });
  // The film is stored when the end of the run is reported.
  const pictures = host.service.records.filmOf(runId);
  expect(pictures.map(({ number, noVideo }) => [number, noVideo])).toEqual([
    [1, 'the run was launched without a film: this is its last screen'],
  ]);
  const body = pictures[0]?.body ?? Buffer.alloc(0);
  const bounds: Bounds = JSON.parse(host.service.messages(runId)[0] ?? '');
  expect(await brightest(body, bounds)).toBeLessThan(16);
  expect(await brightest(body, { left: 0, top: 0, right: 1080, bottom: 240 })).toBeLessThan(16);
  const below = { ...bounds, top: bounds.bottom + 40, bottom: bounds.bottom + 600 };
  expect(await brightest(body, below)).toBeGreaterThan(64);
  await untilEmpty(host.pathOf('files'));
});

it('is nothing of a run without one that fails, is stopped, or never called its phone', async () => {
  const failing = host.launch(`${form}\nthrow new Error('on purpose');`);
  const calling = host.launch(`console.log('nothing of the phone');`);
  const stopped = host.launch(`${form}\nconsole.log('there');\nawait agent.actions.sleep(60_000);`);
  await host.service.until(() => host.service.messages(stopped).includes('there'));
  host.service.send({ type: 'stop', run_ids: [stopped] });
  for (const [runId, status] of [
    [failing, 'failed'],
    [calling, 'completed'],
    [stopped, 'stopped'],
  ] as const) {
    expect(await host.service.untilEnded(runId)).toMatchObject({ status });
    expect(host.service.records.filmOf(runId), status).toEqual([]);
  }
});

it('of a run that fails ends with the screen of the failure', async () => {
  const runId = film(`await agent.actions.launchApp('com.android.settings');
    await agent.actions.waitForText(/./);
    throw new Error('on purpose');`);
  await host.service.untilEnded(runId);
  const record = await host.service.untilRecorded(runId, 'crash');
  const screen = record.screens.at(-1)?.screen_id ?? '';
  const recorded = host.service.records.captures.get(`${screen}/screenshot`)?.body ?? Buffer.alloc(0);
  const last = host.service.records.filmOf(runId).at(-1)?.body ?? Buffer.alloc(0);
  const small = async (jpeg: Buffer): Promise<Buffer> =>
    sharp(jpeg).resize(54, 120, { fit: 'fill' }).raw().toBuffer();
  const [one, other] = await Promise.all([small(recorded), small(last)]);
  const differing = one.filter((level, at) => Math.abs(level - (other[at] ?? 0)) > 40).length;
  expect(differing).toBeLessThan(one.length / 100);
});

it('that its user has no room for is given up, and does not wait on the host', async () => {
  host.service.records.answer = (path) => (path.includes('/film/') ? 409 : 200);
  const runId = film(form);
  expect(await host.service.untilEnded(runId)).toMatchObject({ status: 'completed' });
  expect(host.service.records.filmOf(runId)).toEqual([]);
  await untilEmpty(host.pathOf('files'));
});

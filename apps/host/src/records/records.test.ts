/** Records from the automation's line to the service's store: real sandbox, real driver, simulated phone. */
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { serial, useTestHost } from '../testing/test-host.ts';
import { untilEmpty } from '../testing/until.ts';

const host = useTestHost();

const store = (stage: string, quality = 'LOW_QUALITY') => `
  await agent.utils.outOfSteps.storeScreen(
    await agent.actions.screenContent(), '${stage}', 'Home', 7, ScreenshotRecord.${quality});`;
const submit = (args: string) => `console.log(JSON.stringify(await agent.utils.outOfSteps.submit(${args})));`;
const endless = `console.log('begun'); await new Promise((resolve) => setTimeout(resolve, 600_000));`;

/** Runs the code to its end, and returns what it logged. */
async function run(code: string): Promise<{ runId: string; messages: string[] }> {
  const runId = host.launch(code);
  await host.service.untilEnded(runId);
  return { runId, messages: host.service.messages(runId) };
}

describe('a record', () => {
  it('tells stage, state, steps, tree and picture of each stored screen, and is forgotten when it is delivered', async () => {
    const { runId, messages } = await run(
      `${store('first')} await agent.actions.launchApp('dev.phalanx.sample.form');
       await agent.actions.waitForText('Registration'); ${store('second')} ${submit("'outOfSteps'")}`,
    );
    const record = await host.service.untilRecorded(runId, 'outOfSteps');
    expect(messages).toEqual([JSON.stringify({ success: true, id: record.record_id })]);
    expect(record).toMatchObject({ run_id: runId, tag: null, is_cut_short: false });
    expect(record.record_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    const [first, second] = record.screens;
    expect(first).toMatchObject({ next_stage: 'first', screen_state: 'Home', max_steps: 7, has_tree: true });
    expect(second).toMatchObject({ next_stage: 'second', screenshot_failed: false });
    expect(second?.screenshot).toMatchObject({ width: 540, original_width: 1080 });
    expect(second?.timestamp).toBeGreaterThanOrEqual(first?.timestamp ?? Infinity);
    const tree: unknown = JSON.parse(host.service.records.treeOf(second?.screen_id ?? ''));
    expect(tree).toMatchObject({ packageName: 'dev.phalanx.sample.form', source: 'uiautomator2' });
    expect(tree).not.toHaveProperty('treeId');
    const picture = host.service.records.captures.get(`${second?.screen_id}/screenshot`);
    expect(picture?.contentType).toBe('image/jpeg');
    expect(await sharp(picture?.body).metadata()).toMatchObject({ format: 'jpeg', width: 540 });
    await untilEmpty(host.pathOf('records'));
  });

  it.each([
    ['NONE', null],
    ['LOW_QUALITY', { width: 540 }],
    ['HIGH_QUALITY', { width: 1080 }],
  ])('has pictures of the quality that was asked for: %s', async (quality, size) => {
    const { runId } = await run(`${store('s', quality)} ${submit("'timeout'")}`);
    const { screens } = await host.service.untilRecorded(runId, 'timeout');
    expect(screens).toHaveLength(1);
    if (size === null) expect(screens[0]?.screenshot).toBeNull();
    else expect(screens[0]?.screenshot).toMatchObject(size);
    expect(screens[0]?.screenshot_failed).toBe(false);
  });

  it('holds the last 50 screens, oldest first', async () => {
    const { runId } = await run(
      `const screen = await agent.actions.screenContent();
       for (let n = 1; n <= 60; n += 1)
         await agent.utils.outOfSteps.storeScreen(screen, 'stage ' + n, 'Home', 60 - n, ScreenshotRecord.NONE);
       ${submit("'outOfSteps'")}`,
    );
    const { screens } = await host.service.untilRecorded(runId, 'outOfSteps');
    expect(screens.map(({ max_steps }) => max_steps)).toEqual(Array.from({ length: 50 }, (_, n) => 49 - n));
  });

  it('of debug leaves out what an earlier one has shown; the others show it again', async () => {
    const { runId } = await run(
      `${store('one', 'NONE')} ${submit("'debug', 'a'")} ${store('two', 'NONE')} ${submit("'debug', 'b'")} ${submit("'outOfSteps', 'c'")}`,
    );
    const last = await host.service.untilRecorded(runId, 'outOfSteps');
    expect(last.screens.map(({ next_stage }) => next_stage)).toEqual(['one', 'two']);
    expect(last.tag).toBeNull();
    const debugs = host.service.records.of(runId).filter(({ type }) => type === 'debug');
    expect(debugs.map(({ tag, screens }) => [tag, screens.map(({ next_stage }) => next_stage)])).toEqual([
      ['a', ['one']],
      ['b', ['two']],
    ]);
  });

  it('comes of agent.utils.debug with the present screen', async () => {
    const { runId, messages } = await run(
      `console.log(JSON.stringify(await agent.utils.debug('checkout')));`,
    );
    const record = await host.service.untilRecorded(runId, 'debug');
    expect(messages).toEqual([JSON.stringify({ success: true, id: record.record_id })]);
    expect(record.tag).toBe('checkout');
    expect(record.screens).toHaveLength(1);
    expect(record.screens[0]).toMatchObject({ has_tree: true, screenshot: { width: 540 } });
  });

  it('submitted without a stored screen shows the present one', async () => {
    const { runId } = await run(submit("'outOfSteps'"));
    const { screens } = await host.service.untilRecorded(runId, 'outOfSteps');
    expect(screens).toMatchObject([{ screen_state: 'unknown', has_tree: true }]);
  });

  it('shows a tree that the host no longer has as the automation gives it back', async () => {
    const { runId } = await run(
      `const old = await agent.actions.screenContent();
       for (let n = 0; n < 6; n += 1) await agent.actions.screenContent();
       await agent.utils.outOfSteps.storeScreen(old.children[0], 'old', 'Home', 1, ScreenshotRecord.NONE);
       ${store('new', 'NONE')} ${submit("'debug'")}`,
    );
    const { screens } = await host.service.untilRecorded(runId, 'debug');
    const [old, fresh] = screens.map(({ screen_id }) => JSON.parse(host.service.records.treeOf(screen_id)));
    expect(old.source).toBe('automation');
    expect(old.root).toEqual(fresh.root);
  });

  it.each([
    ["'crash'", 'There is no record type'],
    ["'debug', ''", '1 to 64 characters'],
    ["'debug', 'x'.repeat(65)", '1 to 64 characters'],
    ["'debug', 'a' + '\\u0301'.repeat(500)", '1 to 64 characters'],
    ["'debug', 'a\\nb'", 'control characters'],
  ])('is refused with a sentence: submit(%s)', async (args, message) => {
    const { messages } = await run(submit(args));
    expect(JSON.parse(messages[0] ?? '')).toMatchObject({ success: false });
    expect(messages[0]).toContain(message);
    expect(host.service.records.list()).toEqual([]);
  });

  it('is partial where the window in front forbids pictures', async () => {
    host.phone.faults.secureWindow = true;
    const { runId } = await run(`${store('s')} ${submit("'outOfSteps'")}`);
    const { screens } = await host.service.untilRecorded(runId, 'outOfSteps');
    expect(screens).toMatchObject([{ has_tree: true, screenshot: null, screenshot_failed: true }]);
  });

  it('is submitted also when the phone is lost', async () => {
    const runId = host.launch(
      `const screen = await agent.actions.screenContent();
       const press = agent.actions.longPress(1, 1, 20_000).catch(() => {});
       await agent.actions.sleep(300); console.log('pressed'); await press;
       await agent.utils.outOfSteps.storeScreen(screen, 's', 'Lost', 1, ScreenshotRecord.LOW_QUALITY);
       ${submit("'outOfSteps'")}`,
    );
    await host.service.until(() => host.service.messages(runId).length > 0);
    await host.phone.stop();
    const { screens } = await host.service.untilRecorded(runId, 'outOfSteps');
    expect(screens).toMatchObject([{ has_tree: true, screenshot: null, screenshot_failed: true }]);
  });
});

describe('the end of a run', () => {
  it('by an uncaught error makes a crash record of the last screens and of the present one', async () => {
    const { runId } = await run(`${store('pay')} throw new Error('no such button');`);
    const { screens, tag } = await host.service.untilRecorded(runId, 'crash');
    expect(tag).toBeNull();
    expect(screens).toMatchObject([
      { next_stage: 'pay', screen_state: 'Home', max_steps: 7 },
      { next_stage: 'pay', screen_state: 'unknown', has_tree: true, screenshot: { width: 540 } },
    ]);
  });

  it('by the death of its sandbox makes a crash record', async () => {
    const { runId } = await run(`${store('boom')} 'x'.repeat(2 ** 28).split('');`);
    expect(host.service.runs.get(runId)?.error?.code).toBe('sandbox_crashed');
    const { screens } = await host.service.untilRecorded(runId, 'crash');
    expect(screens[0]?.next_stage).toBe('boom');
  });

  it('by its time limit makes a timeout record', async () => {
    await host.stop();
    await host.reopen({ PHALANX_RUN_TIME_LIMIT_SECONDS: '2' });
    const { runId } = await run(`${store('wait')} ${endless}`);
    const { screens } = await host.service.untilRecorded(runId, 'timeout');
    expect(screens.map(({ next_stage }) => next_stage)).toEqual(['wait', 'wait']);
  });

  it('with a lost phone makes a record that tells of the missing screen', async () => {
    await host.stop();
    await host.reopen({ PHALANX_PHONE_GRACE_SECONDS: '1' });
    const runId = host.launch(
      `${store('s')} console.log('begun'); for (;;) await agent.actions.screenContent();`,
    );
    await host.service.until(() => host.service.messages(runId).length > 0);
    await host.phone.stop();
    const { screens } = await host.service.untilRecorded(runId, 'crash');
    expect(screens).toHaveLength(2);
    expect(screens[1]).toMatchObject({ has_tree: false, screenshot: null, screenshot_failed: true });
  });

  it('by a stop or by its own end makes none', async () => {
    const stopped = host.launch(`${store('s')} ${endless}`);
    await host.service.until(() => host.service.messages(stopped).length > 0);
    host.service.send({ type: 'stop', run_ids: [stopped] });
    await host.service.untilEnded(stopped);
    await run(store('s'));
    const { runId } = await run("throw new Error('the last one');");
    await host.service.untilRecorded(runId, 'crash');
    expect(host.service.records.list().map(({ run_id }) => run_id)).toEqual([runId]);
  });

  it('on a phone that is not ready makes none', async () => {
    await host.phone.stop();
    await host.service.until(() => host.lastStateOf(serial) !== 'ready');
    await run("console.log('never');");
    expect(await host.filesOf('records')).toEqual([]);
  });
});

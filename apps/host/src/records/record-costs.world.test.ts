/** Limits on the costs of records, including against hostile code. */
import { describe, expect, it } from 'vitest';

import { useTestHost } from '../testing/test-host.ts';

const host = useTestHost();

async function run(code: string): Promise<{ runId: string; messages: string[] }> {
  const runId = host.launch(code);
  await host.service.untilEnded(runId);
  return { runId, messages: host.service.messages(runId) };
}

async function reopen(limits: Parameters<typeof host.reopen>[1]): Promise<void> {
  await host.stop();
  await host.reopen({}, limits);
}

const store = (quality: string, times = 1) => `
  for (let n = 0; n < ${times}; n += 1) {
    await agent.utils.outOfSteps.storeScreen(
      await agent.actions.screenContent(), 's', 'Home', n, ScreenshotRecord.${quality});
    await agent.actions.sleep(${quality === 'NONE' ? 0 : 400});
  }`;
const submit = (args = "'outOfSteps'") =>
  `console.log(JSON.stringify(await agent.utils.outOfSteps.submit(${args})));`;

describe('records cost', () => {
  it('at most so many submits a run; the record of its bad end comes all the same', async () => {
    await reopen({ runRecords: { atOnce: 2, perMinute: 1 } });
    const { runId, messages } = await run(
      `${store('NONE')} ${submit()} ${submit()} ${submit()} throw new Error('end');`,
    );
    expect(messages.slice(0, 3).map((text) => text.slice(0, 15))).toEqual([
      '{"success":true',
      '{"success":true',
      '{"success":fals',
    ]);
    expect(messages[2]).toMatch(
      /One run may submit 2 records at once and 1 a minute after that: the next is allowed in \d\d s\./,
    );
    await host.service.untilRecorded(runId, 'crash');
    expect(host.service.records.of(runId)).toHaveLength(3);
  });

  it('as many debug records at once as the service keeps of a tag', async () => {
    const { messages } = await run(
      `let made = 0;
       for (let n = 0; n < 200; n += 1) {
         await agent.utils.outOfSteps.storeScreen(await agent.actions.screenContent(), 's', 'Home', n, ScreenshotRecord.NONE);
         if ((await agent.utils.outOfSteps.submit('debug', 'many')).success) made += 1;
       }
       console.log(made);
       ${submit("'debug', 'many'")}`,
    );
    expect(messages[0]).toBe('200');
    expect(messages[1]).toContain('One run may submit 200 records at once and 1 a minute after that');
  });

  it('at most so many bytes of disk a run', async () => {
    await reopen({ runDiskBytes: { atOnce: 2000, perMinute: 1000 } });
    const { messages } = await run(`${store('LOW_QUALITY')} ${submit()} ${submit()}`);
    expect(messages[0]).toContain('"success":true');
    expect(messages[1]).toContain(
      'may take 1 MB at once and 1 MB a minute after that: the next is allowed in ',
    );
  });

  it('at most so much memory: the oldest pictures go, and the record says so', async () => {
    await reopen({ runMemoryBytes: 100_000 });
    const { runId } = await run(`${store('HIGH_QUALITY', 4)} ${submit()}`);
    const { screens } = await host.service.untilRecorded(runId, 'outOfSteps');
    const failed = screens.map(({ screenshot_failed }) => screenshot_failed);
    expect(failed[0]).toBe(true);
    expect(failed.at(-1)).toBe(false);
    expect(screens.every(({ has_tree }) => has_tree)).toBe(true);
  });

  it('no step of the automation, however slow pictures are: those that come too late are left out', async () => {
    await reopen({ pictureMs: 100 });
    host.phone.faults.slowMs = 5000;
    const { runId } = await run(
      `const screen = { children: [] };
       for (let n = 0; n < 4; n += 1)
         await agent.utils.outOfSteps.storeScreen(screen, 's', 'Home', n, ScreenshotRecord.LOW_QUALITY);
       ${submit()}`,
    );
    const { screens } = await host.service.untilRecorded(runId, 'outOfSteps');
    expect(screens.map(({ screenshot_failed }) => screenshot_failed)).toEqual([true, true, true, true]);
  });
});

describe('hostile code', () => {
  it('gets no huge text into a record', async () => {
    const { runId } = await run(
      `const text = 'a' + '\\u0301'.repeat(100_000) + '\\0' + '\\ud800';
       await agent.utils.outOfSteps.storeScreen(await agent.actions.screenContent(), text, '\\0\\ud800', 1e300, ScreenshotRecord.NONE);
       ${submit()}`,
    );
    const [screen] = (await host.service.untilRecorded(runId, 'outOfSteps')).screens;
    expect(screen?.next_stage).toHaveLength(500);
    expect(screen?.screen_state).toBe('\uFFFD\uFFFD');
    expect(screen?.max_steps).toBe(Number.MAX_SAFE_INTEGER);
  });

  it.each([
    ['no tree', '{ children: [] }'],
    ['a tree of a million nodes', 'deep(1, 30_000)'],
    ['a very deep tree', 'deep(1000, 1)'],
    ['a huge tree', '{ ...fake, text: "x".repeat(2_000_000) }'],
    ['a tree with wrong types', '{ ...fake, boundsInScreen: 5 }'],
  ])('that stores %s gets a screen without a tree', async (_, screen) => {
    const { runId } = await run(
      `const real = await agent.actions.screenContent();
       const fake = {}; for (const name in real) fake[name] = real[name]; fake.children = []; fake.parent = null;
       function deep(levels, width) {
         let node = fake;
         for (let n = 0; n < levels; n += 1) node = { ...fake, children: Array.from({ length: width }, () => node) };
         return node;
       }
       await agent.utils.outOfSteps.storeScreen(${screen}, 's', 'Home', 1, ScreenshotRecord.NONE);
       ${submit()}`,
    );
    const { screens } = await host.service.untilRecorded(runId, 'outOfSteps');
    expect(screens).toMatchObject([{ has_tree: false }]);
  });

  it('that stores a made-up tree gets only the fields of nodes into it', async () => {
    const { runId } = await run(
      `const real = await agent.actions.screenContent();
       const fake = { className: null, packageName: 'a.b', hintText: null, index: 0, boundsInScreen: { left: 0, top: 0, right: 1, bottom: 1, evil: 1 },
         maxTextLength: -1, inputType: '', children: [] };
       for (const name of Object.keys(real)) if (typeof real[name] === 'boolean') fake[name] = false;
       await agent.utils.outOfSteps.storeScreen({ ...fake, evil: 1 }, 's', 'Home', 1, ScreenshotRecord.NONE);
       ${submit()}`,
    );
    const { screens } = await host.service.untilRecorded(runId, 'outOfSteps');
    const tree = host.service.records.treeOf(screens[0]?.screen_id ?? '');
    expect(JSON.parse(tree)).toMatchObject({ packageName: 'a.b', source: 'automation' });
    expect(tree).not.toContain('evil');
  });

  it('that floods stays within its window, and holds up no other run', async () => {
    const flood = host.launch(
      `const screen = await agent.actions.screenContent();
       console.log('begun');
       for (;;) await Promise.all(Array.from({ length: 60 }, (_, n) =>
         agent.utils.outOfSteps.storeScreen(screen, 'flood', 'Home', n, ScreenshotRecord.LOW_QUALITY)));`,
    );
    await host.service.until(() => host.service.messages(flood).length > 0);
    const { runId } = await run(`${store('LOW_QUALITY')} ${submit()}`);
    const { screens } = await host.service.untilRecorded(runId, 'outOfSteps');
    expect(screens).toMatchObject([{ next_stage: 's', has_tree: true, screenshot: { width: 540 } }]);
    host.service.send({ type: 'stop', run_ids: [flood] });
    await host.service.untilEnded(flood);
  });
});

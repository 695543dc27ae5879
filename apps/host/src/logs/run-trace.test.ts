/** Traces steps from a line of the automation to the service's store: real sandbox, real driver, simulated phone. */
import type { WireStep } from '@phalanx/protocol';
import { describe, expect, it } from 'vitest';

import { serial, useTestHost } from '../testing/test-host.ts';

const host = useTestHost();

async function run(code: string): Promise<{ runId: string; steps: ReturnType<typeof host.service.steps> }> {
  const runId = host.launch(code);
  await host.service.untilEnded(runId);
  return { runId, steps: host.service.steps(runId) };
}

const toForm = `await agent.actions.launchApp('dev.phalanx.sample.form');
await agent.actions.waitForText('Registration');`;

const inOrder = (steps: readonly WireStep[]): WireStep[] =>
  steps.toSorted((one, other) => one.step - other.step);

describe('a step', () => {
  it('is each call of user code, with what it acted on and its line, and not the calls below it', async () => {
    const { steps } = await run(`${toForm}
const password = await agent.actions.waitForId('password');
await password.writeText('hunter2');
await agent.actions.swipe(500, 1500, 500, 900);
await agent.info.device();`);
    expect(steps.map(({ step, name, target, line, outcome }) => [step, name, target, line, outcome])).toEqual(
      [
        [1, 'launchApp', 'dev.phalanx.sample.form', 1, 'ok'],
        [2, 'waitForText', '"Registration"', 2, 'ok'],
        [3, 'waitForId', '#password', 3, 'ok'],
        [4, 'writeText', 'EditText #password', 4, 'ok'],
        [5, 'swipe', undefined, 5, 'ok'],
        [6, 'info.device', undefined, 6, 'ok'],
      ],
    );
    expect(JSON.stringify(steps)).not.toContain('hunter2');
    expect(steps[1]?.readings).toBeGreaterThan(0);
    expect(steps[2]?.node).toEqual(steps[3]?.node);
    expect(steps[3]?.before).toBe(steps[2]?.after);
    expect(steps[4]?.swipe).toEqual([500, 1500, 500, 900]);
  });

  it('that fails says why and what was nearest, and its screens are in the record of the crash', async () => {
    const { runId, steps } = await run(`${toForm}
await agent.actions.waitForText('Registratoin', { timeoutMs: 300 });`);
    const last = steps.at(-1);
    expect(last).toMatchObject({ name: 'waitForText', outcome: 'wait_timeout', line: 3 });
    expect(last?.message).toMatch(/^Waited .* for the text "Registratoin", but it did not come/);
    expect(last?.nearest?.[0]).toBe('Registration');
    const { screens } = await host.service.untilRecorded(runId, 'crash');
    const ids = screens.map(({ screen_id }) => screen_id);
    expect(ids).toContain(last?.before);
    expect(ids).toContain(last?.after);
    expect(screens.at(-1)).toMatchObject({
      screen_id: last?.after,
      has_tree: true,
      screenshot: { width: 540 },
    });
    const tree = host.service.records.treeOf(last?.after ?? '');
    expect(tree).toContain('Registration');
  });

  it('that the end of the run cuts off is unfinished', async () => {
    const wait = "const waiting = agent.actions.waitForText('never'); console.log('waits'); await waiting;";
    const runId = host.launch(`${toForm} ${wait}`);
    await host.service.until(() => host.service.messages(runId).includes('waits'));
    host.service.send({ type: 'stop', run_ids: [runId] });
    await host.service.untilEnded(runId);
    expect(host.service.steps(runId).at(-1)).toMatchObject({ target: '"never"', outcome: 'unfinished' });
  });

  it('of runStages has the calls of its actions below it', async () => {
    const { steps } = await run(`await runStages({
  states: { Form: 'Registration' },
  stages: [{ name: 'form', reached: 'Form', on: {
    unknown: () => agent.actions.launchApp('dev.phalanx.sample.form') } }] });`);
    const [first, second] = inOrder(steps);
    expect(first).toMatchObject({ step: 1, name: 'runStages', target: '"form" · unknown' });
    expect(second).toMatchObject({ step: 2, name: 'launchApp', parent: 1 });
  });

  it('shows a screen as the automation saw it: masked', async () => {
    const runId = host.launch(
      `${toForm} await (await agent.actions.waitForId('name')).writeText('Ada Secret');
       await agent.actions.waitForText('never', { timeoutMs: 100 });`,
      serial,
      [{ viewId: 'name' }],
    );
    await host.service.untilEnded(runId);
    const { screens } = await host.service.untilRecorded(runId, 'crash');
    const trees = screens.map(({ screen_id }) => host.service.records.treeOf(screen_id));
    expect(trees.length).toBeGreaterThan(1);
    expect(trees.join('')).not.toContain('Ada Secret');
    expect(JSON.stringify(host.service.steps(runId))).not.toContain('Ada Secret');
  });
});

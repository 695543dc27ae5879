import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';

import { serial, useTestHost } from '../testing/test-host.ts';

const host = useTestHost();
const forever = "console.log('begun'); await new Promise((resolve) => setTimeout(resolve, 600_000));";

describe('a host that executes a run', () => {
  it('brings calls of the agent to the phone, under the ID that the service gave it', async () => {
    const runId = host.launch(`
      const info = await agent.info.device();
      console.log(info.deviceId, info.serial);
    `);
    const end = await host.service.untilEnded(runId);
    expect([end.error, host.service.messages(runId)]).toEqual([null, [`device-1 ${serial}`]]);
  });

  it('waits for a code by SMS where the operator allows it, and tells nobody of the messages', async () => {
    const code = `
      await agent.messages.list().catch(({ code }) => console.log(code));
      const since = Date.now();
      console.log('begun');
      const found = await agent.messages.waitForCode({ since, from: 'bank' }).catch(({ code }) => code);
      const late = await agent.messages.waitForCode({ pattern: /No\\. (\\w+)/, timeoutMs: 0 }).catch(({ code }) => code);
      agent.control.setResult([found.length, late]);
    `;
    const refused = await host.service.untilEnded(host.launch(code));
    expect(refused.result).toBe('[11,"not_allowed"]');
    await host.stop();
    await host.reopen({ PHALANX_ALLOW_SMS: 'true' });
    host.phone.android.inbox.receive('Bank', 'Your code was 1111', Date.now() - 60_000);
    const runId = host.launch(code);
    await host.service.until(() => host.service.messages(runId).includes('begun'));
    host.phone.android.inbox.receive('Other', 'Your code is 2222');
    host.phone.android.inbox.receive('Bank', 'Your code is 493857.');
    expect((await host.service.untilEnded(runId)).result).toBe('[6,"no_code"]');
    expect(JSON.stringify([host.service.steps(runId), host.service.messages(runId)])).not.toContain('493857');
  });

  it('fails when its phone does not come back, whatever the code catches', async () => {
    await host.stop();
    await host.reopen({ PHALANX_PHONE_GRACE_SECONDS: '1' });
    const runId = host.launch(`
      console.log('begun');
      for (;;) await agent.actions.tap(1, 1).catch(() => agent.actions.sleep(10));
    `);
    await host.service.until(() => host.service.messages(runId).length > 0);
    await host.phone.stop();
    const { status, error } = await host.service.untilEnded(runId);
    expect([status, error?.code]).toEqual(['failed', 'phone_lost']);
    expect(error?.message).toContain('was away for 1 s');
  });

  it('fails by its phone when the code does not catch that the phone is gone', async () => {
    const runId = host.launch(`
      const press = agent.actions.longPress(1, 1, 20_000);
      await agent.actions.sleep(300);
      console.log('begun');
      await press;
    `);
    await host.service.until(() => host.service.messages(runId).length > 0);
    await host.phone.stop();
    const { status, error } = await host.service.untilEnded(runId);
    expect([status, error?.code]).toEqual(['failed', 'phone_lost']);
    expect(error?.stack).toContain('main.js:2');
    // The error appears once, with its stack.
    expect(host.service.messages(runId)).toEqual(['begun', expect.stringContaining('Uncaught AgentError')]);
  });

  it('survives that its connection is lost and comes back, without catching anything, and touches once', async () => {
    host.phone.faults.slowMs = 300;
    const runId = host.launch(`
      console.log('begun');
      const { packageName } = await agent.actions.currentApp();
      console.log('read');
      await agent.actions.sleep(500);
      await agent.actions.tap(5, 5);
      agent.control.setResult(packageName);
    `);
    const loseLink = async (): Promise<void> => {
      host.phone.faults.offline = true;
      host.phone.faults.drop();
      host.phone.faults.slowMs = 0;
      await host.service.until(() => host.lastStateOf(serial) !== 'ready');
      await sleep(600);
      host.phone.faults.offline = false;
    };
    await host.service.until(() => host.service.messages(runId).includes('begun'));
    await loseLink();
    await host.service.until(() => host.service.messages(runId).includes('read'));
    await loseLink();
    const { status, error, result } = await host.service.untilEnded(runId);
    expect([status, error]).toEqual(['completed', null]);
    expect(result).toContain('.');
    expect(host.phone.android.inputs.list().filter(({ kind }) => kind === 'tap')).toHaveLength(1);
  });

  it('is told once when its phone was restarted before a touch, which is not done', async () => {
    const runId = host.launch(`
      console.log('begun');
      await agent.actions.sleep(500);
      const { code, message } = await agent.actions.tap(5, 5).catch((error) => error);
      await agent.actions.tap(7, 7);
      agent.control.setResult({ code, message });
    `);
    await host.service.until(() => host.service.messages(runId).includes('begun'));
    host.phone.faults.reboot();
    const { result, error } = await host.service.untilEnded(runId);
    expect(error).toBeNull();
    expect(result).toMatch(/"phone_gone".*was restarted since the last call/);
    expect(host.phone.android.inputs.list()).toMatchObject([{ kind: 'tap', at: { x: 7, y: 7 } }]);
  });

  it('logs an uncaught error once and reports it', async () => {
    const runId = host.launch("throw new TypeError('no such thing');");
    const end = await host.service.untilEnded(runId);
    expect(end).toMatchObject({ status: 'failed', error: { code: 'uncaught_error' } });
    expect(end.error?.message).toContain('no such thing');
    const entries = host.service.logs.get(runId) ?? [];
    expect(entries).toHaveLength(1);
    expect(entries[0]?.[1]).toBe(2);
    expect(entries[0]?.[3]).toContain('no such thing');
  });

  it('tells where in the user’s code an error came from, in the run, its record and its log', async () => {
    const runId = host.launch("function pay() {\n  throw new Error('declined');\n}\npay();");
    const { error } = await host.service.untilEnded(runId);
    expect(error?.stack).toBe('Error: declined\n    at pay (main.js:2:9)\n    at main.js:4:1');
    const record = await host.service.untilRecorded(runId, 'crash');
    expect(record.error).toEqual(error);
  });

  it('tells the result of a run, however it ends', async () => {
    const runs = [
      "agent.control.setResult({ a: [1, null] }); agent.control.setResult('last'); stopCurrentAutomation();",
      "agent.control.setResult(1); throw new Error('on purpose');",
      'for (let n = 0; n < 5000; n += 1) agent.control.setResult(n);',
      'agent.control.setResult("é".repeat(32_767));',
    ].map((code) => host.launch(code));
    const ends = await Promise.all(runs.map((runId) => host.service.untilEnded(runId)));
    const results = ends.map(({ status, result }) => [status, JSON.parse(result ?? 'null')]);
    const large = 'é'.repeat(32_767);
    expect(results).toEqual([
      ['completed', 'last'],
      ['failed', 1],
      ['completed', 4999],
      ['completed', large],
    ]);
  });

  it('refuses a result that is too large or no JSON', async () => {
    const code = ["'é'.repeat(32_768)", 'undefined', '() => 1', '1n'].map(
      (value) => `try { agent.control.setResult(${value}) } catch (error) { console.log(String(error)) }`,
    );
    const runId = host.launch(code.join('\n'));
    expect(await host.service.untilEnded(runId)).not.toHaveProperty('result');
    expect(host.service.messages(runId)).toEqual([
      'RangeError: The result is larger than 64 KiB of JSON: keep its rest in a file or a log.',
      'TypeError: agent.control.setResult takes what JSON can hold (null for nothing), but this is undefined.',
      'TypeError: agent.control.setResult takes what JSON can hold (null for nothing), but this is function.',
      'TypeError: Do not know how to serialize a BigInt',
    ]);
  });

  it('tells when a run ended out of steps, unless it came to its goal after all', async () => {
    const stages = (text: string): string =>
      `await runStages({ states: { There: ${text} }, stages: [{ name: 'there', reached: 'There', on: {} }],
        maxSteps: 1, pauseMs: 1, screenshotRecord: 'none' });`;
    const nowhere = stages("'no such text'");
    const arrived = stages('() => true');
    const submit = (type: string): string => `await agent.utils.outOfSteps.submit('${type}');`;
    const codes = [nowhere, nowhere + arrived, arrived + nowhere, submit('timeout'), submit('debug'), ''];
    const outcomes = [];
    for (const code of codes) {
      const { status, outcome } = await host.service.untilEnded(host.launch(code));
      outcomes.push([status, outcome]);
    }
    expect(outcomes).toEqual([
      ['completed', 'out_of_steps'],
      ['completed', undefined],
      ['completed', 'out_of_steps'],
      ['completed', 'timed_out'],
      ['completed', undefined],
      ['completed', undefined],
    ]);
  });

  it('says in the log, too, why it ended a run', async () => {
    await host.stop();
    await host.reopen({ PHALANX_RUN_TIME_LIMIT_SECONDS: '1' });
    const runId = host.launch(forever);
    expect(await host.service.untilEnded(runId)).toMatchObject({
      status: 'timed_out',
      error: { code: 'timed_out' },
    });
    expect(host.service.messages(runId)).toEqual(['begun', host.service.runs.get(runId)?.error?.message]);
  });

  it('gives up an action with its signal, and the phone is free for the next one', async () => {
    const runId = host.launch(`
      const deadline = () => ({ signal: AbortSignal.timeout(300) });
      await agent.actions.hold(500, 1200, 60_000, deadline()).catch(({ name }) => console.log(name));
      await agent.actions.tap(500, 1200);
      console.log('tapped');
    `);
    expect((await host.service.untilEnded(runId)).status).toBe('completed');
    expect(host.service.messages(runId)).toEqual(['TimeoutError', 'tapped']);
  });

  it('gives up the reading of a wait whose deadline is over, and the phone is free for the next call', async () => {
    const runId = host.launch(`
      await agent.actions.launchApp('com.android.settings');
      console.log('opened');
      await agent.actions.scrollTo('nowhere', { signal: AbortSignal.timeout(1000) }).catch(({ name }) => console.log(name));
      const { packageName } = await agent.actions.currentApp();
      console.log(packageName);
    `);
    await host.service.until(() => host.service.messages(runId).includes('opened'));
    host.phone.faults.wedgedHelper = true;
    await host.service.until(() => host.service.messages(runId).length === 3);
    expect(host.service.messages(runId)).toEqual(['opened', 'WaitTimeoutError', 'com.android.settings']);
    host.phone.faults.wedgedHelper = false;
    await host.service.untilEnded(runId);
  });

  it('ends a long action as soon as its run is stopped', async () => {
    const first = host.launch("console.log('begun'); await agent.actions.hold(500, 1200, 60_000);");
    await host.service.until(() => host.service.messages(first).length > 0);
    host.service.send({ type: 'stop', run_ids: [first] });
    expect((await host.service.untilEnded(first)).status).toBe('stopped');
    const next = host.launch('await agent.actions.tap(500, 1200);');
    expect((await host.service.untilEnded(next)).status).toBe('completed');
    expect(host.phone.android.inputs.list()).not.toContainEqual(
      expect.objectContaining({ kind: 'long-press' }),
    );
  });

  it('fails a touch that was under way with the reason when the phone is lost, and lets the code go on', async () => {
    const runId = host.launch(`
      const press = agent.actions.longPress(1, 1, 20_000).catch(({ message }) => console.log(message));
      await agent.actions.sleep(300);
      console.log('begun');
      await press;
      console.log('still here');
    `);
    await host.service.until(() => host.service.messages(runId).length > 0);
    await host.phone.stop();
    expect(await host.service.untilEnded(runId)).toMatchObject({ status: 'completed', error: null });
    const [begun, reason, last] = host.service.messages(runId);
    expect([begun, last]).toEqual(['begun', 'still here']);
    expect(reason).toContain(serial);
  });

  it('fails a run at once whose phone is not ready, and says why', async () => {
    await host.phone.stop();
    await host.service.until(() => host.lastStateOf(serial) !== 'ready');
    const end = await host.service.untilEnded(host.launch("console.log('begun');"));
    expect(end).toMatchObject({ status: 'failed', started_at: null, error: { code: 'device_unavailable' } });
    expect(end.error?.message).toMatch(/^The phone simulated-1 is not ready \([a-z_]+\): ./);
  });
});

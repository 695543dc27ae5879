/** What a run reads as a secret leaves the host nowhere, with a real sandbox and driver. */
import { gunzipSync } from 'node:zlib';

import { redactedText } from '@phalanx/protocol';
import { expect, it } from 'vitest';

import { launchOf } from '../testing/launch-of.ts';
import { serial, useTestHost } from '../testing/test-host.ts';

const host = useTestHost();
const value = 'pä"ss\\word-4711';

const code = `
  const password = await agent.secrets.get('PASSWORD');
  console.log('length', password.length, password, [password]);
  console.log(await agent.secrets.get('MISSING').catch((error) => error.code));
  agent.control.setResult({ password });
  await agent.actions.launchApp('dev.phalanx.sample.form');
  await (await agent.actions.waitForId('name')).tap();
  await agent.actions.writeText(password);
  await agent.actions.waitForText(password, { timeoutMs: 1 }).catch(() => undefined);
  const screen = await agent.actions.screenContent();
  console.log('shown', screen.findById('name').text);
  await agent.utils.outOfSteps.storeScreen(screen, password, 'Form ' + password, 1, ScreenshotRecord.NONE);
  await agent.utils.outOfSteps.submit('debug', 'with ' + password);
  throw new Error('cannot log in with ' + password);`;

function launch(secrets: Record<string, string>, runs = code): string {
  const runId = crypto.randomUUID();
  const message = launchOf(runs, [{ run_id: runId, device_id: 'device-1', serial }]);
  host.service.send({ ...message, secrets });
  return runId;
}

it('a secret is known to the code, and is in no log, result, error, record and tree', async () => {
  const runId = launch({ PASSWORD: value });
  const end = await host.service.untilEnded(runId);
  const records = [
    await host.service.untilRecorded(runId, 'debug'),
    await host.service.untilRecorded(runId, 'crash'),
  ];
  const messages = host.service.messages(runId);
  expect(messages[0]).toBe(`length ${value.length} ${redactedText} [ '${redactedText}' ]`);
  expect(messages[1]).toBe('secret_not_found');
  expect(messages[2]).toBe('shown undefined');
  expect(end.error?.message).toBe(`Error: cannot log in with ${redactedText}`);
  expect(end.result).toBe(JSON.stringify({ password: redactedText }));
  expect(records[0]?.tag).toBe(`with ${redactedText}`);
  const trees = [...host.service.records.captures.values()].map(({ body }) =>
    (body[0] === 0x1f ? gunzipSync(body) : body).toString(),
  );
  const told = JSON.stringify([end, records, messages, trees, host.service.steps(runId)]);
  expect(told).toContain('Registration');
  for (const part of ['word-4711', 'pä'])
    expect(told.includes(part), `${part} in ${told.slice(0, 2000)}`).toBe(false);
});

it('a secret is typed by its name, which is all that code, log and trace get', async () => {
  const type = `
    console.log(typeof (await agent.secrets.type('MISSING').catch((error) => error.code)));
    console.log(await agent.secrets.type('PASSWORD').catch((error) => error.code));
    await agent.actions.launchApp('dev.phalanx.sample.form');
    await (await agent.actions.waitForId('name')).tap();
    console.log(await agent.secrets.type('PASSWORD'));`;
  const runId = launch({ PASSWORD: value }, type);
  expect((await host.service.untilEnded(runId)).status).toBe('completed');
  expect(host.service.messages(runId)).toEqual(['string', 'no_focused_field', 'undefined']);
  const steps = host.service.steps(runId).filter(({ name }) => name === 'secrets.type');
  expect(steps.map(({ target }) => target)).toEqual(['MISSING', 'PASSWORD', 'PASSWORD']);
  expect(JSON.stringify(host.service.steps(runId))).not.toContain('word-4711');
  // When the run has ended, its masks have too.
  const reading = host.launch(`console.log((await agent.actions.screenContent()).findById('name').text);`);
  await host.service.untilEnded(reading);
  expect(host.service.messages(reading)).toEqual([value]);
});

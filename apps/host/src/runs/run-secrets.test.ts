/** Secrets of a run, which never leave the host, with a real sandbox and driver. */
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
  // The field stays hidden until it is empty or gone: the next user of the phone can't read the value either.
  const reading = host.launch(`console.log((await agent.actions.screenContent()).findById('name').text);`);
  await host.service.untilEnded(reading);
  expect(host.service.messages(reading)).toEqual(['undefined']);
});

it('a secret is not typed while nobody can read in which field it would stand', async () => {
  await host.stop();
  host.phone.faults.verifyAppsOverUsb = true;
  host.phone.android.packages.remove('io.appium.uiautomator2.server');
  await host.reopen({ PHALANX_HELPER: 'uiautomator2' });
  const type = `
    await agent.actions.launchApp('dev.phalanx.sample.form');
    await (await agent.actions.waitForId('name')).tap();
    console.log('the field has the focus');
    while (await agent.actions.screenContent().then(() => true, () => false));
    const told = (error) => console.log(error.code, error.message);
    await agent.secrets.type('PASSWORD').catch(told);
    await agent.actions.writeText(await agent.secrets.get('PASSWORD')).catch(told);
    console.log('tried');`;
  const runId = launch({ PASSWORD: 'hunter-4711' }, type);
  await host.service.until(() => host.service.messages(runId).includes('the field has the focus'));
  host.phone.faults.uiautomator = 'idle';
  await host.service.until(() => host.service.messages(runId).includes('tried'));
  host.phone.faults.uiautomator = undefined;
  await host.service.untilEnded(runId);
  expect(host.phone.android.findFieldText('name')).toBe('');
  const refused = expect.stringMatching(/^screen_not_readable The secret was not typed/);
  expect(host.service.messages(runId).slice(1, 3)).toEqual([refused, refused]);
});

const pem = [
  '-----BEGIN PRIVATE KEY-----',
  'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC',
  'BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj',
  'aQ==',
  '-----END PRIVATE KEY-----',
].join('\n');
const odd = `it's "4711" \`\u001B[1m\u007F\\4711`;

it('a value of several lines, or with quotes and control characters, is in nothing that a console prints', async () => {
  const prints = `
    const key = await agent.secrets.get('KEY');
    const all = { key, list: [key, [{ key }]], map: new Map([[key, new Set([key])]]) };
    const error = Object.assign(new Error('with ' + key), { key, cause: { key } });
    console.log(key, 'and', \`it's "there": \${key}\`);
    console.log(all);
    console.log([key], new Map([[{ key }, key]]), new Set([key]));
    console.error(error);
    console.log({ deep: { error } });
    console.log('%s %o %O %j', key, all, { key }, { key });
    console.table([{ key }, { key }]);
    console.dir({ a: { b: { c: { d: [key] } } } }, { depth: null, breakLength: 20 });
    console.group('group ' + key);
    console.log('in a group ' + key, { key });
    console.groupEnd();
    console.log(JSON.stringify({ key }), { body: JSON.stringify({ key }) }, [JSON.stringify(JSON.stringify(key))]);
    console.log({ long: 'x'.repeat(9990) + key });
    console.log('x'.repeat(65_440) + key + 'x'.repeat(200));
    for (const line of key.split('\\n').filter((one) => one.length > 7)) console.log(line);
    throw error;`;
  for (const key of [pem, odd]) {
    const runId = launch({ KEY: key }, prints);
    const end = await host.service.untilEnded(runId);
    const messages = host.service.messages(runId);
    expect(messages.length).toBeGreaterThan(14);
    expect(messages[0]).toBe(`${redactedText} and it's "there": ${redactedText}`);
    const told = [...messages, end.error?.message, end.error?.stack].join('\n');
    for (const part of ['MIIE', 'BKcw', 'aQ==', 'KEY-----', '4711', 'it\'s \\"'])
      expect(told.includes(part), `${part} in ${told.slice(0, 3000)}`).toBe(false);
  }
});

it('a value that is a word of the protocol changes none of it, and one of digits leaves the result JSON', async () => {
  const words = ['failed', 'error', 'screen', 'unfinished', 'uncaught_error', 'debug', '1234', 'application'];
  const runId = launch(
    Object.fromEntries(words.map((word, no) => [`S${no}`, word])),
    `agent.control.setResult({ n: 12345, 'key 1234': ['1234', '\\nerror'] });
     await agent.actions.screenContent();
     console.error('an error with ' + 'debug'.repeat(12_000));
     await agent.run.attach('data.json', '{"n":1234}', { contentType: 'application/json' });
     throw new Error('it failed');`,
  );
  const end = await host.service.untilEnded(runId);
  expect([end.status, end.error?.code, end.error?.message]).toEqual([
    'failed',
    'uncaught_error',
    `Error: it ${redactedText}`,
  ]);
  expect(JSON.parse(end.result ?? '')).toEqual({
    n: redactedText,
    [`key ${redactedText}`]: [redactedText, `\n${redactedText}`],
  });
  expect(host.service.messages(runId)[0]).toMatch(/^an \[secret\] with \[secret\]\[secret\]/);
  expect(host.service.steps(runId).map(({ name }) => name)).toContain('screenContent');
});

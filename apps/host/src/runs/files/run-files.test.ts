/** Files that a run attaches, with a real sandbox, from its code to the server. */
import { redactedText } from '@phalanx/protocol';
import { expect, it } from 'vitest';
import { launchOf } from '../../testing/launch-of.ts';
import { serial, useTestHost } from '../../testing/test-host.ts';
import { untilEmpty } from '../../testing/until.ts';

const host = useTestHost();
const quick = { firstRetryMs: 20, lastRetryMs: 50 };

const taken = (runId: string) => {
  const files = [...host.service.records.files.values()].filter((file) => file.runId === runId);
  return new Map(files.map(({ name, contentType, body }) => [name, { contentType, text: body.toString() }]));
};

/** Returns code that logs for each call its error code, or `ok`. */
const trying = (...calls: string[]): string => `
  for (const attach of [${calls.map((call) => `() => agent.run.attach(${call})`).join(', ')}])
    console.log(await attach().then(() => 'ok', (error) => error.code ?? error.name));`;

it('text, bytes and JSON arrive as they are, with a type by their name', async () => {
  const runId = host.launch(
    trying(
      `'a.csv', 'ä,b'`,
      `'b.bin', new Uint8Array([1, 2, 3])`,
      `'c', new Uint8Array([4]).buffer`,
      `'d', { a: [1] }`,
      `'e.txt', ''`,
      `'f', 'x', { contentType: 'text/x-own; charset=utf-8' }`,
      `'large.bin', new Uint8Array(3_000_000).fill(65)`,
    ),
  );
  await host.service.untilEnded(runId);
  expect(new Set(host.service.messages(runId))).toEqual(new Set(['ok']));
  const files = taken(runId);
  expect(files.get('large.bin')?.text).toBe('A'.repeat(3_000_000));
  files.delete('large.bin');
  expect(Object.fromEntries(files)).toEqual({
    'a.csv': { contentType: 'text/csv', text: 'ä,b' },
    'b.bin': { contentType: 'application/octet-stream', text: '\u0001\u0002\u0003' },
    c: { contentType: 'application/octet-stream', text: '\u0004' },
    d: { contentType: 'application/json', text: JSON.stringify({ a: [1] }, null, 2) },
    'e.txt': { contentType: 'text/plain', text: '' },
    f: { contentType: 'text/x-own; charset=utf-8', text: 'x' },
  });
  await untilEmpty(host.pathOf('files'));
});

it('a name that is none, a name again, and what no file holds are refused', async () => {
  const runId = host.launch(
    trying(
      `'../a', 'x'`,
      `'a/b', 'x'`,
      `'', 'x'`,
      `'.a', 'x'`,
      `'nul', 'x'`,
      `'x'.repeat(201), 'x'`,
      `'a', 'x', { contentType: 'text/html\\r\\nx: y' }`,
      `'a', () => 1`,
      `'a', 1n`,
      `'a', 'first'`,
      `'A', 'second'`,
    ),
  );
  await host.service.untilEnded(runId);
  const refused = 'attach_refused';
  expect(host.service.messages(runId)).toEqual([
    refused,
    refused,
    refused,
    refused,
    refused,
    refused,
    'invalid_call',
    'TypeError',
    'TypeError',
    'ok',
    refused,
  ]);
  expect(Object.fromEntries(taken(runId))).toMatchObject({ a: { text: 'first' } });
});

it('a run attaches no more than its host allows, in bytes and in number', async () => {
  await host.stop();
  await host.reopen({ PHALANX_RUN_FILES_MB: '1' });
  const runId = host.launch(`
    ${trying(`'a', 'x'.repeat(600_000)`, `'b', 'x'.repeat(600_000)`, `'b', 'x'.repeat(300_000)`)}
    let refused = 0;
    for (let n = 0; n < 110; n += 1) await agent.run.attach('n' + n, '').catch(() => (refused += 1));
    console.log('refused', refused);`);
  await host.service.untilEnded(runId);
  expect(host.service.messages(runId)).toEqual(['ok', 'attach_refused', 'ok', 'refused 12']);
  expect(taken(runId).size).toBe(100);
});

it('values of secrets are in no text, no name and no JSON, wherever the parts divide them', async () => {
  const value = 'hunter2-and-more';
  const runId = crypto.randomUUID();
  const code = `
    const secret = await agent.secrets.get('PASSWORD');
    for (let length = 360 * 1024 - 17; length <= 360 * 1024; length += 1)
      await agent.run.attach('at' + length + secret, 'x'.repeat(length) + secret + '!');
    await agent.run.attach('a.json', { secret });`;
  const message = launchOf(code, [{ run_id: runId, device_id: 'device-1', serial }]);
  host.service.send({ ...message, secrets: { PASSWORD: value } });
  await host.service.untilEnded(runId);
  const files = taken(runId);
  expect(files.size).toBe(19);
  for (const [name, { text }] of files) {
    expect(`${name} ${text}`.includes(value)).toBe(false);
    if (name !== 'a.json') expect(text.endsWith(`x${redactedText}!`)).toBe(true);
  }
  expect(files.get('a.json')?.text).toContain(redactedText);
});

it('what is not attached to its end is nothing, and what is survives an upload that fails and a host that stops', async () => {
  await host.stop();
  await host.reopen({}, quick);
  let answered = 0;
  host.service.records.answer = () => ((answered += 1) % 2 === 0 ? 200 : 500);
  const runId = host.launch(`
    await agent.run.attach('a', 'whole');
    void agent.run.attach('b', new Uint8Array(20_000_000));
    throw new Error('on purpose');`);
  await host.service.untilEnded(runId);
  await untilEmpty(host.pathOf('files'));
  expect([...taken(runId).keys()]).toEqual(['a']);

  host.service.records.answer = () => 500;
  const second = host.launch(`await agent.run.attach('kept', 'x');`);
  await host.service.untilEnded(second);
  await host.stop();
  host.service.records.answer = () => 200;
  await host.reopen({}, quick);
  await untilEmpty(host.pathOf('files'));
  expect([...taken(second).keys()]).toEqual(['kept']);
});

it('a file that the server will never take is given up', async () => {
  host.service.records.answer = () => 404;
  const runId = host.launch(`await agent.run.attach('a', 'x');`);
  await host.service.untilEnded(runId);
  await untilEmpty(host.pathOf('files'));
  expect(taken(runId).size).toBe(0);
});

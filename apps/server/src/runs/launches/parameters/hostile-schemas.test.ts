import { openConfinement } from '@phalanx/confinement';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { parseLimits } from '../../../kernel/limits/limit-settings.ts';
import { Limits } from '../../../kernel/limits/limits.ts';
import { TestProject } from '../../../code/projects/testing/test-projects.ts';
import { TestServer } from '../../../testing/test-server.ts';
import { ParameterChecker } from './parameter-checker.ts';

const turns = new Limits(parseLimits({})).turns.parameters;
const checker = new ParameterChecker({ turns, confinement: await openConfinement(), compileMs: 500 });
afterAll(() => checker.close());

const many = <Item>(count: number, item: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => item(index));
const nested = (depth: number, open: string, close: string): string =>
  `${open.repeat(depth)}true${close.repeat(depth)}`;
const json = JSON.stringify;
const kept = (index: number) => [`p${index}`, { type: 'integer', minimum: index }] as const;
const circle = many(50, (index) => [`a${index}`, { $ref: `#/$defs/a${(index + 1) % 50}` }] as const);
const both = (n: number) => many(2, () => ({ $ref: `#/$defs/a${n + 1}` }));
const doubling = Object.fromEntries(many(40, (n) => [`a${n}`, { anyOf: both(n) }]));
const slow = json({ properties: { name: { type: 'string', pattern: '^(a+)+$' } } });
const name = `${'a'.repeat(40)}!`;

/** Hostile schemas: too large, too deep, too many, too slow, too much memory. */
const forms: readonly [form: string, schema: string, parameters?: Record<string, unknown>][] = [
  ['an enum of 1 MB', `{"enum":[${'0,'.repeat(500_000)}0]}`],
  ['an enum of 250 KB', `{"enum":[${'0,'.repeat(125_000)}0]}`],
  ['brackets alone', '['.repeat(200_000)],
  ['a deep anyOf', nested(20_000, '{"anyOf":[', ']}')],
  ['a deep not', nested(30_000, '{"not":', '}')],
  ['50,000 allOf', json({ allOf: many(50_000, () => ({})) })],
  ['8,000 allOf', json({ allOf: many(8000, () => ({})) })],
  ['20,000 patterns', json({ patternProperties: Object.fromEntries(many(20_000, (n) => [`^${n}`, true])) })],
  [
    '5,000 patterns',
    json({ patternProperties: Object.fromEntries(many(5000, (n) => [`^(${n}|x)+`, true])) }),
  ],
  ['60,000 prefixItems', json({ prefixItems: many(60_000, () => ({})) })],
  ['9,000 prefixItems', json({ prefixItems: many(9000, () => true) })],
  ['30,000 properties', json({ properties: Object.fromEntries(many(30_000, kept)) })],
  ['2,500 properties', json({ properties: Object.fromEntries(many(2500, kept)) })],
  ['a circle of references', json({ $ref: '#/$defs/a0', $defs: Object.fromEntries(circle) })],
  ['references that double', json({ $ref: '#/$defs/a0', $defs: { ...doubling, a40: { type: 'string' } } })],
  ['a slow pattern', slow, { name }],
  ['a pattern of long repetitions', json({ pattern: '(?:(?:a{1,1000}){1,1000}){1,1000}$' })],
  [
    'a default in each of many items',
    json({ properties: { a: { items: { properties: { b: { default: 'x'.repeat(200_000) } } } } } }),
    { a: many(50_000, () => ({})) },
  ],
  ['unique items', json({ properties: { a: { uniqueItems: true } } }), { a: many(60_000, (n) => ({ n })) }],
  ['a name of 250 KB', json({ properties: { ['x'.repeat(250_000)]: true } })],
];

const modest = { schema: json({ properties: { a: { default: 1 } } }), answer: { a: 1 } };

test.each(forms)('%s gets an answer, and others get theirs', async (form, schema, parameters = {}) => {
  const started = performance.now();
  const answered = checker.check(schema, parameters, 'hostile').then(
    () => 'fits',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  const others = performance.now();
  expect(await checker.check(modest.schema, {}, 'modest')).toEqual(modest.answer);
  const othersMs = Math.round(performance.now() - others);
  const answer = await answered;
  const ms = Math.round(performance.now() - started);
  console.log(`${form} | ${schema.length} | ${ms} ms | others ${othersMs} ms | ${answer.slice(0, 150)}`);
  expect(answer).toMatch(/^fits$|^parameters\.schema\.json of the project|^automationParameters|invalid/i);
});

test('a schema that ends its process ends no check of another schema', async () => {
  await expect(checker.check(slow, { name }, 'hostile')).rejects.toMatchObject({
    code: 'invalid_parameter_schema',
    message: expect.stringContaining('processor time'),
  });
  const checks = many(20, () => checker.check(modest.schema, {}, 'modest'));
  await Promise.allSettled([checker.check(slow, { name }, 'hostile'), ...checks]);
  for (const checked of await Promise.all(checks)) expect(checked).toEqual(modest.answer);
});

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.dispose());

test.each([
  ['parameters.schema.json', `{"enum":[${'0,'.repeat(500_000)}0]}`, 'invalid_parameter_schema'],
  ['masks.json', `[${'{},'.repeat(350_000)}{}]`, 'invalid_masks'],
])('a launch with a %s of a MB is refused, and the server goes on', async (path, content, code) => {
  const { deviceId } = await server.connectHost();
  const project = new TestProject(await server.createProject(), server.api);
  await project.put('main.js', 'console.log(1);');
  const { body } = await project.write(path, content);
  expect(body['warnings']).toEqual([expect.stringContaining(`${path}(1,1): error TS5024: it has`)]);
  const launched = await server.api('POST', '/api/v2/devices/launchAutomation', {
    body: { device_ids: [deviceId], automationId: project.id, command: 'start' },
  });
  expect([launched.status, launched.body['code']]).toEqual([400, code]);
  expect((await server.api('GET', '/api/v2/me')).status).toBe(200);
});

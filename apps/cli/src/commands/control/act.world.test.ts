import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { TestService } from '../../testing/test-service.ts';
import { parseStep } from './act.ts';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start(1);
});
afterAll(() => service.stop());

const run = (...args: string[]) => service.run(args);
const act = (...steps: string[]) => run('act', 'SIM0001', ...steps);
const idIn = (text: string): string => /^screen (\S{15})/m.exec(text)?.[1] ?? '';
/** Returns the number of the line with these words. */
const numberIn = (text: string, words: string): string =>
  new RegExp(`^ *[+~]? ?(\\d+) .*${words}`, 'm').exec(text)?.[1] ?? '';

test('a phone is led by text, number and selector, and each answer has what is next', async () => {
  const home = await run('screen', 'SIM0001', '--compact');
  const opened = await run(
    'act',
    'SIM0001',
    `tap #${numberIn(home.stdout, '"Settings"')}`,
    '--screen',
    idIn(home.stdout),
  );
  expect(opened).toMatchObject({ code: 0, stderr: '' });
  expect(opened.stdout).toMatch(/^step 1 tap: done\nscreen \S+/);
  const bluetooth = numberIn(opened.stdout, '"Bluetooth');
  const switched = await run('act', 'SIM0001', `tap #${bluetooth}`, '--screen', idIn(opened.stdout));
  expect(switched.stdout).toMatch(/, what has changed\n~ \d+ switch .*\bon$/m);
  const other = '{"isSwitch": true, "rightOf": {"hasText": "Bluetooth"}}';
  const back = await act(
    `tap ${other}`,
    'swipe down',
    'scroll_to About phone',
    'tap About phone',
    'wait_for Build number',
  );
  expect([back.code, back.stdout]).toEqual([0, expect.stringContaining('step 5 wait_for: done')]);
  const diff = await run('screen', 'SIM0001', '--compact', '--diff', idIn(back.stdout));
  expect(diff.stdout).toMatch(/^screen \S+, what has changed\nnothing has changed\n$/);
});

test('a line of a screen is inspected: its attributes, and the code that finds it', async () => {
  await act('key home');
  const home = await run('screen', 'SIM0001', '--compact');
  const number = numberIn(home.stdout, '"Settings"');
  const inspected = await run('inspect', 'SIM0001', number, '--screen', idIn(home.stdout));
  expect(inspected).toMatchObject({ code: 0, stderr: '' });
  expect(inspected.stdout).toMatch(/^class {7}android\.widget\.\w+$/m);
  expect(inspected.stdout).toMatch(/^agent\.actions\.waitFor\w+\(.*'Settings'.*\) {2}this node alone$/m);
  await act('launch com.android.settings', 'wait_for Bluetooth');
  const gone = await run('inspect', 'SIM0001', number, '--screen', idIn(home.stdout));
  expect(gone).toMatchObject({ code: 3, stderr: expect.stringContaining('not on the screen any more') });
  const none = await run('inspect', 'SIM0001', '999', '--screen', idIn(home.stdout));
  expect(none).toMatchObject({ code: 3, stderr: expect.stringContaining('has no line 999') });
});

test('what was acted during a lease is code that runs', async () => {
  await run('lease', 'SIM0001');
  await act('launch com.android.settings', 'tap Bluetooth', 'swipe down', 'scroll_to About phone');
  const tapped = await act('--code', 'tap About phone', 'wait_for Build number');
  expect(tapped.stdout).toContain('About phone');
  const { stdout, code } = await run('lease', 'SIM0001', '--code');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^await agent\.actions\.launchApp\('com\.android\.settings'\);\n/);
  expect(stdout).toContain(tapped.stdout);
  expect(stdout).toContain('Build number');
  await writeFile(path.join(service.folder, 'acted.ts'), stdout);
  expect(await run('exec', 'acted.ts', '--device', 'SIM0001', '--follow')).toMatchObject({ code: 0 });
  await run('lease', 'SIM0001', '--end');
  expect(await run('lease', 'SIM0001', '--code')).toMatchObject({ code: 3 });
});

test('what several fit is refused with the candidates, and the exit code tells', async () => {
  await act('launch com.android.settings');
  const { code, stdout } = await act('tap a', 'back');
  expect(code).toBe(1);
  expect(stdout).toMatch(/^step 1 tap: failed \(several\) \d+ nodes fit "a"\n {2}may be \d+ /);
  expect(stdout).toMatch(/^step 2 back: skipped$/m);
  const refused = await run('act', 'SIM0001', 'tap #1', '--screen', '00000000-000000');
  expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('Read the screen again') });
  expect(await act('tip #1')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Unknown step "tip"'),
  });
});

test('with a lease for one program alone, others of the same user keep off', async () => {
  const taken = await run('lease', 'SIM0001', '--exclusive', '--json');
  const { lease_id } = JSON.parse(taken.stdout).lease;
  expect(await act('back')).toMatchObject({ code: 3, stderr: expect.stringContaining('controlled by hand') });
  expect(await run('act', 'SIM0001', 'back', '--lease', lease_id)).toMatchObject({ code: 0 });
  expect(await run('input', 'key', 'SIM0001', '3', '--lease', lease_id)).toMatchObject({ code: 0 });
  expect(await run('lease', 'SIM0001', '--end', '--lease', lease_id)).toMatchObject({ code: 0 });
  expect(await run('act', 'SIM0001', 'back', '--lease', lease_id)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('lease'),
  });
  const json = await run('act', 'SIM0001', 'key home', '--json');
  expect(JSON.parse(json.stdout)).toMatchObject({ success: true, done: true, screen: { view: 'compact' } });
});

test.each([
  ['tap #12', { type: 'tap', on: 12 }],
  ['tap Add to cart', { type: 'tap', on: 'Add to cart' }],
  ['tap "#12"', { type: 'tap', on: '#12' }],
  ['long-press id:row', { type: 'long_press', on: { hasId: 'row' } }],
  [
    'tap {"isSwitch": true, "rightOf": {"hasText": "Wi-Fi"}}',
    { type: 'tap', on: { isSwitch: true, rightOf: { hasText: 'Wi-Fi' } } },
  ],
  ['type Ada Lovelace into #3', { type: 'type', text: 'Ada Lovelace', on: 3 }],
  ['type "put it into words"', { type: 'type', text: 'put it into words' }],
  ['type "a into b" into id:x', { type: 'type', text: 'a into b', on: { hasId: 'x' } }],
  ['type secret:pin into #4', { type: 'type', secret: 'pin', on: 4 }],
  ['key enter', { type: 'key', key: 'enter' }],
  ['key 4', { type: 'key', key: 4 }],
  ['swipe down in #2', { type: 'swipe', direction: 'down', within: 2 }],
  ['scroll_to Privacy', { type: 'scroll_to', on: 'Privacy' }],
  ['launch com.android.settings', { type: 'launch', package_name: 'com.android.settings' }],
  ['open_link https://a.example/x', { type: 'open_link', url: 'https://a.example/x' }],
  ['wait_for Loading gone 20 s', { type: 'wait_for', on: 'Loading', gone: true, timeout_ms: 20_000 }],
  ['wait-for "Done 5 s"', { type: 'wait_for', on: 'Done 5 s' }],
  ['back', { type: 'back' }],
])('%s', (written, step) => {
  expect(parseStep(written)).toEqual(step);
});

test.each([
  ['touch #3', /Unknown step "touch".*tap, long_press/],
  ['tap', /"tap" is incomplete: write tap TARGET/],
  ['key nowhere', /key NAME, where NAME is enter/],
  ['tap "Add', /is not valid JSON/],
  ['tap {"isGreen": true}', /is not a selector/],
  ['constructor', /Unknown step/],
])('%s is refused', (written, message) => {
  expect(() => parseStep(written)).toThrow(message);
});

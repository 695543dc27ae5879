import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { runCli, type CliResult } from '../../testing/cli-process.ts';
import { TestService } from '../../testing/test-service.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'phalanx-golden-'));
  await mkdir(path.join(folder, 'screens/Cart'), { recursive: true });
});
afterAll(() => rm(folder, { recursive: true }));

const write = (file: string, text: string): Promise<void> => writeFile(path.join(folder, file), text);
const read = (file: string): Promise<string> => readFile(path.join(folder, file), 'utf8');
const runTest = (...args: string[]): Promise<CliResult> =>
  runCli(['test', ...args], { cwd: folder, env: { CI: '' } });

const cartFile = 'screens/Cart/pixel-8.json';
const cart = (expected: string, id = 'pay_button'): string => `{
"version": 1,
"expect": ${expected},
"screen": {"packageName":"com.shop","rotation":0,"capturedAt":1},
"tree":
{"className":"android.widget.FrameLayout","packageName":"com.shop","bounds":[0,0,1080,2400],"children":[
 {"className":"android.widget.Button","viewId":"com.shop:id/${id}","text":"Pay","clickable":true,"bounds":[0,0,100,50]}
]}
}
`;

const shop = `
await runStages({
  states: { Login: { id: 'password' }, Cart: { id: 'pay_button' } },
  stages: [{ name: 'pay', reached: 'Login', on: { Cart: (screen) => screen.findById('pay_button')?.tap() } }],
});`;

describe('"phalanx test", in a folder and without a server,', () => {
  test('says that all is as expected, or what is not and why, for people and for CI', async () => {
    await write('main.ts', shop);
    await write(cartFile, cart('{"state":"Cart","stage":"pay","handled":true}'));
    expect(await runTest()).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('1 golden screen as expected'),
    });

    await write('main.ts', shop.replaceAll('pay_button', 'pay_btn'));
    const broken = await runTest('--junit', 'report.xml');
    expect(broken).toMatchObject({
      code: 4,
      stdout: `${cartFile}: expected "Cart", got "unknown"\n    nearest sign: no id "pay_btn", but "pay_button"\n`,
      stderr: expect.stringContaining('1 of 1 golden screen is not as expected'),
    });
    expect(await read('report.xml')).toContain('<testsuite name="Cart" tests="1" failures="1"');
    const { screens } = JSON.parse((await runTest('--json')).stdout);
    expect(screens).toMatchObject([
      { file: cartFile, verdict: { state: 'unknown' }, failure: { kind: 'state' } },
    ]);

    await write(
      'main.ts',
      shop.replace('screen.findById', 'agent.arguments.jobVariables.x && screen.findById'),
    );
    expect(await runTest()).toMatchObject({
      code: 4,
      stdout: expect.stringContaining('does not handle it: it waits'),
    });
  });

  test('replays golden runs, and says where one goes otherwise', async () => {
    await mkdir(path.join(folder, 'screens/runs'));
    const tapped = `"calls":[{"name":"input.tap","x":50,"y":25}]`;
    const screen = `"screen":{"packageName":"com.shop","rotation":0,"capturedAt":1},"tree":
{"packageName":"com.shop","bounds":[0,0,1080,2400],"children":[
 {"className":"android.widget.Button","viewId":"com.shop:id/pay_button","text":"Pay","clickable":true,"bounds":[0,0,100,50]}
]}`;
    await write(
      'screens/runs/shop.json',
      `{"version":1,"ends":null,"screens":[{"state":"Cart","stage":"pay",${tapped},${screen}},{"state":"Cart","stage":"pay",${screen}}]}`,
    );
    await write('main.ts', shop);
    expect(await runTest('--filter', 'runs/')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^1 golden run as expected/),
    });
    await write('main.ts', shop.replace("screen.findById('pay_button')?.tap()", 'agent.actions.back()'));
    const other = await runTest('--filter', 'runs/', '--junit', 'runs.xml', '--json');
    expect(other).toMatchObject({ code: 4, stderr: expect.stringContaining('1 of 1 golden run') });
    expect(JSON.parse(other.stdout)).toMatchObject({ runs: [{ result: { kind: 'diverges', in: 'calls' } }] });
    expect(await read('runs.xml')).toContain('<testsuite name="runs" tests="1" failures="1"');
    expect((await runTest('--filter', 'runs/')).stdout).toBe(
      'screens/runs/shop.json: screen 1: Cart, input.tap on Button #pay_button "Pay" → Cart, navigate.back\n',
    );
    await write('main.ts', 'throw new Error("no idea");');
    expect(await runTest('--filter', 'runs/')).toMatchObject({ code: 1 });
    await write('screens/runs/shop.json', '{"version":1,"screens":[]}');
    expect(await runTest()).toMatchObject({ code: 2, stderr: expect.stringContaining('no golden run') });
    await rm(path.join(folder, 'screens/runs'), { recursive: true });
  });

  test('tells faults of the code and of its use apart', async () => {
    await write(cartFile, cart('{"state":"Cart"}'));
    await write('main.ts', '\n\nthrow new Error("no idea");');
    expect(await runTest()).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('threw Error: no idea (main.ts:3)'),
    });
    await write('main.ts', 'let a = ;');
    expect(await runTest()).toMatchObject({ code: 3, stderr: expect.stringContaining('main.ts(1,9)') });
    await write('main.ts', 'await agent.actions.tap(1, 1);');
    expect(await runTest()).toMatchObject({ code: 4, stdout: expect.stringContaining('in three ways') });
    expect(await runTest('--filter', 'Login')).toMatchObject({ code: 2 });
    await write(cartFile, '{}');
    expect(await runTest()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${cartFile} is of another version`),
    });
    expect(await runTest('screens')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no golden screen'),
    });
    expect(await runTest('missing')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is not a folder'),
    });
  });

  test('expects on demand what the code takes the screens for, but not in CI', async () => {
    await write('main.ts', shop);
    await write(cartFile, cart('{"state":"Basket","handled":true}'));
    const inCi = await runCli(['test', '--update'], { cwd: folder, env: { CI: 'true' } });
    expect(inCi).toMatchObject({ code: 2, stderr: expect.stringContaining('CI') });
    expect(await runTest('--update')).toMatchObject({ code: 0 });
    expect(JSON.parse(await read(cartFile))).toMatchObject({ expect: { state: 'Cart', handled: true } });
    expect(await runTest()).toMatchObject({ code: 0 });
  });

  test('asks screens/recognise.ts where there is one', async () => {
    await write('main.ts', 'await agent.actions.tap(1, 1);');
    await write(
      'screens/recognise.ts',
      `export default (screen: AndroidNode): string => screen.findById('pay_button') ? 'Cart' : 'unknown';`,
    );
    await write(cartFile, cart('{"state":"Cart","not":["Login"]}'));
    expect(await runTest()).toMatchObject({ code: 0 });
    await write(cartFile, cart('{"state":"Cart"}', 'other'));
    expect(await runTest()).toMatchObject({ code: 4 });
    await rm(path.join(folder, 'screens/recognise.ts'));
  });
});

test('many screens come out as each alone, also of code that remembers', async () => {
  await mkdir(path.join(folder, 'screens/Many'), { recursive: true });
  for (let index = 0; index < 250; index += 1)
    await write(
      `screens/Many/s${index}.json`,
      cart('{"state":"Cart","stage":"pay"}', index === 77 ? 'other' : 'pay_button'),
    );
  await write('main.ts', shop);
  const said = `screens/Many/s77.json: expected "Cart", got "unknown"`;
  expect(await runTest()).toMatchObject({ code: 4, stdout: expect.stringContaining(said) });
  const remembering = `
    for (let count = 0; ; count += 1) {
      const screen = await agent.actions.screenContent();
      await agent.utils.outOfSteps.storeScreen(screen, 'pay', count > 0 ? 'Cart' : 'First', 0, 'none');
    }`;
  await write('main.ts', remembering);
  expect(await runTest()).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('of 251 golden screens are not'),
  });
  await rm(path.join(folder, 'screens/Many'), { recursive: true });
});

test('a screen of a record and one of a phone become golden screens, without what a person has typed', async () => {
  const service = await TestService.start(1);
  try {
    const code = `
      await agent.actions.launchApp('dev.phalanx.sample.form');
      const field = await agent.actions.waitForId('name');
      await field.writeText('Ada Lovelace');
      const screen = await agent.actions.screenContent();
      await agent.utils.outOfSteps.storeScreen(screen, 'sign up', 'unknown', 0, ScreenshotRecord.NONE);
      await agent.utils.outOfSteps.submit('outOfSteps');`;
    await writeFile(path.join(service.folder, 'try.ts'), code);
    const run = await service.run(['exec', 'try.ts', '--device', 'SIM0001', '--follow']);
    expect(run.code).toBe(4);
    const { records } = JSON.parse((await service.run(['records', 'list', '--json'])).stdout);
    const [{ out_of_steps_id: id }] = records;

    await write(
      'main.ts',
      `await runStages({ states: { Form: { id: 'name' } }, stages: [{ name: 'sign up', reached: 'Form', on: {} }] });`,
    );
    await rm(path.join(folder, 'screens'), { recursive: true });
    const here = { cwd: folder };
    expect(await service.run(['records', 'keep', id], here)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--state'),
    });
    const kept = await service.run(['records', 'keep', id, '--state', 'Form', '--name', 'Pixel 8'], here);
    expect(kept).toMatchObject({ code: 0, stdout: 'screens/Form/Pixel-8.json\n' });
    const text = await read('screens/Form/Pixel-8.json');
    expect(text).toContain('"Xxx Xxxxxxxx"');
    expect(text).not.toContain('Ada');
    expect(JSON.parse(text)).toMatchObject({
      expect: { state: 'Form', stage: 'sign up', handled: true },
      from: { record: id },
    });
    const again = await service.run(['records', 'keep', id, '--state', 'Form', '--name', 'Pixel 8'], here);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('--force') });

    const known = await read('main.ts');
    await write('main.ts', known.replace(`{ id: 'name' }`, `{ text: 'Ada Lovelace' }`));
    const needed = await service.run(['records', 'keep', id, '--state', 'Form', '--name', 'typed'], here);
    expect(needed.stderr).toContain('needs this text, so it stays in the file: "Ada Lovelace"');
    expect(await read('screens/Form/typed.json')).toContain('"Ada Lovelace"');
    expect(await runTest('--filter', 'typed')).toMatchObject({ code: 0 });
    await rm(path.join(folder, 'screens/Form/typed.json'));
    await write('main.ts', known);

    await write('masks.json', '[{ "viewId": "name" }]');
    const live = await service.run(['screen', 'SIM0001', '--keep', 'Form/live'], here);
    expect(live).toMatchObject({ code: 0, stdout: 'screens/Form/live.json\n' });
    expect(await read('screens/Form/live.json')).not.toMatch(/Ada|Xxx/);
    expect(await runTest()).toMatchObject({ code: 0, stdout: expect.stringContaining('2 golden screens') });
  } finally {
    await service.stop();
  }
});

// Checks the hints for names of other tools, which agents try first: compiler and run suggest our names.
import { explainMessage } from '@phalanx/automation/name-hints';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';

import { createSandboxPool, type SandboxPool } from '../../apps/host/src/sandbox/pool/sandbox-pool.ts';
import { runCode, testMemoryMb } from '../../apps/host/src/sandbox/testing/code-runs.ts';
import type { Compiler } from '../../apps/server/src/code/compile/compiler.ts';
import {
  createTestCompiler,
  filesOf,
  linesOf,
} from '../../apps/server/src/code/compile/testing/files-in-memory.ts';

const strict = { 'tsconfig.json': '{"compilerOptions":{"strict":true}}' };
const screen = '(await agent.actions.screenContent())';

/** Lines of code with the names that the hint suggests. */
const lines: [code: string, ours: string][] = [
  ['await agent.click(1, 2);', 'agent.actions.tap(x, y)'],
  [`await agent.tapOn('Log in');`, 'agent.actions.tap(x, y)'],
  ['await agent.tap(1, 2);', 'agent.actions.tap()'],
  ['await agent.actions.click(1, 2);', 'agent.actions.tap(x, y)'],
  ['await agent.actions.touch(1, 2);', 'agent.actions.tap(x, y)'],
  ['await agent.actions.long_press(1, 2);', 'agent.actions.longPress'],
  [`await agent.device.findElement('id');`, 'findTextOne, findById or filterOne'],
  [`await agent.find('text');`, 'findTextOne, findById or filterOne'],
  [`await agent.actions.findElements('id');`, 'findText, findAllById or filterAdvanced'],
  ['await agent.screenshot();', 'agent.actions.screenshot()'],
  ['await agent.actions.takeScreenshot();', 'agent.actions.screenshot()'],
  ['await agent.getPageSource();', 'agent.actions.screenContent()'],
  ['await agent.actions.dumpHierarchy();', 'agent.actions.screenContent()'],
  ['await agent.sleep(100);', 'agent.actions.sleep()'],
  ['await agent.wait(100);', 'agent.actions.sleep(durationMs)'],
  [`await agent.actions.waitForElement('x');`, 'agent.actions.waitForText(text)'],
  [`await agent.type('hello');`, 'agent.actions.writeText(text)'],
  [`await agent.actions.inputText('hello');`, 'agent.actions.writeText(text)'],
  ['await agent.swipeUp();', 'agent.actions.swipe('],
  ['await agent.actions.scrollDown();', 'agent.actions.scrollTo(target)'],
  [`await agent.actions.scrollIntoView('x');`, 'agent.actions.scrollTo(target)'],
  ['await agent.pressBack();', 'agent.actions.back()'],
  [`await agent.actions.pressKey('ENTER');`, 'agent.actions.inputKey(key)'],
  [`await agent.openApp('com.a');`, 'agent.actions.launchApp(packageName)'],
  [`await agent.actions.startApp('com.a');`, 'agent.actions.launchApp(packageName)'],
  [`await agent.actions.forceStop('com.a');`, 'agent.actions.stopApp(packageName)'],
  [`await agent.apps.launch('com.a');`, 'agent.actions.launchApp(packageName)'],
  [`await agent.adb('shell ls');`, 'agent.shell(command)'],
  [`agent.log('x');`, 'console.log(…)'],
  ['agent.params.name;', 'agent.arguments.automationParameters'],
  [`await agent.actions.waitForTxt('x');`, 'waitForText'],
  [`await agent.setResult(1);`, 'agent.control.setResult()'],
  [`await ${screen}.click();`, 'tap() of a node'],
  [`${screen}.findElement('x');`, 'findTextOne, findById or filterOne'],
  [`await ${screen}.children[0]!.sendKeys('x');`, 'writeText(text) of a node'],
  [`${screen}.getText();`, 'text or description of a node'],
  [`await driver.findElement('id');`, 'agent.actions.screenContent()'],
  [`await page.click('#a');`, 'agent.actions.screenContent()'],
  [`await device.press('home');`, 'agent.actions.screenContent()'],
  [`await sleep(100);`, 'agent.actions.sleep(durationMs)'],
  [`Buffer.from('x').toString('base64');`, 'use Uint8Array for bytes, TextEncoder'],
  ['process.env.HOME;', 'agent.arguments or agent.secrets instead of process.env'],
  [`require('fs');`, 'use import and export between the files'],
  ['document.title;', 'agent.actions.screenContent()'],
  [`localStorage.setItem('a', 'b');`, 'agent.files to keep data'],
  ['new XMLHttpRequest();', 'use fetch'],
  [`new WebSocket('ws://x');`, 'use fetch'],
  ['__dirname.length;', 'agent.files for files of the phone'],
  [`new URLPattern({ pathname: '/x' });`, 'use URL and a regular expression'],
  ['setTimeout(() => {}, 1).unref();', 'a timer is a number here'],
];

/** Code without a hint: the engine only reports undefined, and "name" could belong to anything. */
const harmless = ['agent.params.name;'];

let compiler: Compiler;
let pool: SandboxPool;
beforeAll(async () => {
  [compiler, pool] = await Promise.all([
    createTestCompiler(),
    createSandboxPool({
      size: 0,
      memoryMb: testMemoryMb,
      fetchPolicy: { allowPrivateAddresses: false },
    }),
  ]);
});
afterAll(() => Promise.all([compiler.close(), pool.close()]));

const root = {
  className: 'x',
  boundsInScreen: { left: 0, top: 0, right: 1, bottom: 1 },
  children: [{ className: 'y', boundsInScreen: { left: 0, top: 0, right: 1, bottom: 1 }, children: [] }],
};
const onCall = async (): Promise<never> => ({ root }) as never;

describe('a name of another tool', () => {
  it('is answered by the compiler with ours', async () => {
    const files = Object.fromEntries(lines.map(([code], index) => [`line-${index}.ts`, code]));
    const told = await linesOf(compiler.compileProject(filesOf('foreign', { ...strict, ...files })));
    const wrong = lines.flatMap(([code, ours], index) => {
      const own = told.filter((line) => line.startsWith(`line-${index}.ts(1,`));
      return own.length === 1 && own[0]?.includes(ours) === true ? [] : [[code, ...own]];
    });
    expect(wrong).toEqual([]);
  });

  it('is answered by the error of the run with ours', async () => {
    const steps = lines.map(
      ([code]) =>
        `await (async () => { ${code.replace('!', '')} console.log('ran'); })().catch((e) => console.log(String(e)));`,
    );
    const { messages } = await runCode(pool, steps.join('\n'), { onCall });
    const wrong = lines.flatMap(([code, ours], index) => {
      const told = explainMessage(messages[index] ?? '');
      const isTold = told.toLowerCase().includes(ours.toLowerCase());
      return isTold || harmless.includes(code) ? [] : [[code, told]];
    });
    expect(wrong).toEqual([]);
  });

  it('is told in the log and in the error of a run, also by a promise that nobody awaits', async () => {
    for (const code of ['\nagent.click(1, 2);', '\nvoid (async () => agent.click(1, 2))();']) {
      const { end, logs } = await runCode(pool, code);
      const told =
        'TypeError: agent.click is not a function. Use agent.actions.tap(x, y), or tap() of a node.';
      expect(end).toMatchObject({ outcome: 'failed', error: { message: told } });
      expect(logs.at(-1)?.message).toContain(`Uncaught ${told}\n    at `);
    }
  });
});

test.for<[message: string]>([
  ['TypeError: list.map is not a function'],
  ['ReferenceError: myVariable is not defined'],
  ['Error: agent.click is not a function'],
  [`TypeError: Cannot read properties of undefined (reading 'name')`],
  ['TypeError: agent.actions.zzzzzzzzz is not a function'],
])('an error of nobody’s name stays as it is: %s', ([message]) => {
  expect(explainMessage(message)).toBe(message);
});

test.for<[specifier: string, hint: string]>([
  ['fs', 'packages do not exist here; use agent.files for files of the phone.'],
  ['node:crypto', 'packages do not exist here; use the global crypto'],
  ['axios', 'packages do not exist here; use fetch.'],
  ['playwright', 'agent.actions.screenContent()'],
  ['left-pad', 'packages do not exist here, only files of the project can be imported, by relative paths.'],
])('an import of %s says what to use', async ([specifier, hint]) => {
  const content = `import x from '${specifier}'; x;`;
  const told = await linesOf(compiler.compileFile(filesOf('imports', strict), { path: 'main.ts', content }));
  expect(told.join()).toContain(hint);
});

test('the names that hints look in are all that agent and its nodes have', async () => {
  const { agentPaths, nodeMethods } = await import('@phalanx/automation/our-names');
  const code = `const paths = (value, place) => Object.keys(value).flatMap((key) => typeof value[key] === 'function' ? [place + key] : typeof value[key] === 'object' && key !== 'arguments' ? paths(value[key], place + key + '.') : []);
    const s = await agent.actions.screenContent();
    console.log(JSON.stringify([paths(agent, ''), Object.getOwnPropertyNames(Object.getPrototypeOf(s)).filter((n) => n !== 'constructor' && typeof s[n] === 'function')]));`;
  const { messages } = await runCode(pool, code, { onCall });
  const [paths, methods] = JSON.parse(messages[0] ?? '[]');
  expect([...agentPaths].sort()).toEqual(paths.sort());
  expect([...nodeMethods].sort()).toEqual(methods.sort());
});

/** Compares the types of the globals for users' editors with the globals of the sandbox. */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createSandboxPool } from '../pool/sandbox-pool.ts';
import { runCode, testMemoryMb } from '../testing/code-runs.ts';

const typeFolder = dirname(fileURLToPath(import.meta.resolve('@phalanx/automation/types/agent.d.ts')));
const typeFiles = readdirSync(typeFolder).map((name) => join(typeFolder, name));
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'phalanx-user-types-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Returns the messages of the TypeScript compiler on a user's file; empty without any. */
async function complaints(code: string, strict: boolean): Promise<string> {
  const file = join(folder, `${strict ? 'strict' : 'loose'}-${Math.random()}.ts`);
  await writeFile(file, code);
  const compiler = join(
    dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
    'bin/tsc',
  );
  const options = ['--noEmit', '--target', 'es2020', '--lib', 'es2020', '--types', '', '--module', 'esnext'];
  return promisify(execFile)(
    process.execPath,
    [compiler, ...options, '--ignoreConfig', '--strict', String(strict), file, ...typeFiles],
    { cwd: folder },
  ).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  );
}

const automation = `
export {};
enum ScreenState { Login = 'Login', Unknown = 'Unknown' }
interface Account { name: string; tags?: string[] }
const { accounts, limit = 3 } = agent.arguments.automationParameters as { accounts: Account[]; limit?: number };
const { loose } = agent.arguments.automationParameters;
console.log(loose.anything, agent.arguments.jobVariables.id);
const screen = await agent.actions.screenContent();
function detect(node: AndroidNode): ScreenState {
  return node.findTextOne('Login') ? ScreenState.Login : ScreenState.Unknown;
}
const [first] = screen.filterAdvanced((f) => f.isEditText().isEnabled().not((g) => g.isPassword()));
if (detect(screen) === ScreenState.Login && first) {
  const { left, top, right, bottom } = first.boundsInScreen;
  await agent.actions.tap((left + right) / 2, (top + bottom) / 2);
  await first.writeText(accounts[0]?.name ?? '', { clear: true });
}
await agent.actions.swipe(1, 2, 3, 4);
await agent.actions.inputKey('ENTER');
await agent.actions.inputKey(66);
await agent.actions.dpad('down');
const found: string = await agent.actions.waitFor((s) => s.findById('x')?.text, { timeoutMs: limit, description: 'x' });
const shot = await agent.actions.screenshot(ScreenshotRecord.LOW_QUALITY);
console.log(found, shot.base64.length, shot.width);
try { await agent.actions.waitForText(/x/, { intervalMs: 10 }); } catch (error) {
  if (error instanceof WaitTimeoutError) console.log(error.nearest, error.seen[0]?.title);
  if (error instanceof AgentError) console.log(error.code);
}
await agent.utils.outOfSteps.storeScreen(screen, 'login', detect(screen), 50, ScreenshotRecord.NONE);
const submitted = await agent.utils.outOfSteps.submit('debug', 'tag');
console.log(submitted.success === true ? submitted.id : submitted.error, await agent.utils.debug());
const stages = await runStages<ScreenState>({
  states: detect,
  stages: [{ name: 'in', reached: ScreenState.Unknown, on: { [ScreenState.Login]: (s) => s.tap(), unknown: () => agent.actions.back() } }],
  dialogs: [{ name: 'crash', when: { id: 'android:id/aerr_close' }, do: (s, step) => console.log(s.text, step.remainingSteps) }],
});
if (!stages.success) console.log(stages.reason, stages.error, stages.recordId);
const table = await runStages({
  states: { Login: 'Log in', Home: { id: 'home' }, Done: /done/ },
  stages: [{ name: 'home', reached: ['Home', 'Done'], on: { Login: async (s) => { await s.tap(); } } }],
});
console.log(table.usedSteps, table.screenState);
const response = await fetch('https://example.com', { method: 'POST', body: new URLSearchParams({ a: '1' }), signal: AbortSignal.timeout(5) });
const data = await response.json();
console.log(data.x, response.headers.get('a'), [...response.headers], new URL('http://x').searchParams.get('a'));
const id = setTimeout((a: string) => console.log(a), 5, 'a'); clearTimeout(id);
console.log(new TextDecoder().decode(new TextEncoder().encode('x')), crypto.randomUUID(), structuredClone(new Map([[1, 2]])));
agent.control.stopCurrentAutomation();
`;

describe('the types for users', () => {
  it.each([true, false])('let an automation compile, strict: %s', async (strict) => {
    expect(await complaints(automation, strict)).toBe('');
  });

  it.each([
    [`agent.actions.tap('1', 2)`, 'not assignable'],
    [`agent.actions.inputKey('NO_KEY')`, 'not assignable'],
    [`agent.actions.noSuch()`, 'does not exist'],
    [`agent.utils.outOfSteps.submit('crash')`, 'not assignable'],
    [`agent.utils.noSuch`, 'does not exist'],
    [`runStages({ states: { A: 'a' }, stages: [{ name: 'b', reached: 'B', on: {} }] })`, 'not assignable'],
    [`process.exit()`, `Cannot find name 'process'`],
    [`document.title`, `Cannot find name 'document'`],
  ])('refuse %s', async (code, complaint) => {
    expect(await complaints(`export {};\n${code};`, false)).toContain(complaint);
  });

  it('declare every global of the sandbox and no other', async () => {
    const texts = await Promise.all(typeFiles.map((file) => readFile(file, 'utf8')));
    const declared = texts.flatMap((text) =>
      [...text.matchAll(/^declare (?:const|var|function|class) (\w+)/gm)].map(([, name]) => name),
    );
    const pool = await createSandboxPool({
      size: 0,
      memoryMb: testMemoryMb,
      fetchPolicy: { allowPrivateAddresses: false },
    });
    const { messages } = await runCode(
      pool,
      `console.log(JSON.stringify(Object.getOwnPropertyNames(globalThis)))`,
    );
    await pool.close();
    const present: string[] = JSON.parse(messages[0] ?? '[]');
    expect(declared.filter((name) => name !== undefined && !present.includes(name))).toEqual([]);
    const ofLanguage = new Set(Object.getOwnPropertyNames(globalThis));
    const ours = present.filter((name) => !ofLanguage.has(name));
    expect(ours.filter((name) => !declared.includes(name))).toEqual([]);
  });

  it('name members of agent and of nodes that are there', async () => {
    const text = (await Promise.all(typeFiles.map((file) => readFile(file, 'utf8')))).join('\n');
    const members = (name: string): string[] => {
      const body = new RegExp(`interface ${name} [^{]*\\{([\\s\\S]*?)\\n\\}`).exec(text)?.[1] ?? '';
      return [...body.matchAll(/^ {2}(?:readonly )?(\w+)(?:<[^>]*>)?[(?:]/gm)].map(
        ([, member]) => member ?? '',
      );
    };
    const actions = [...members('AgentActions'), ...members('AgentWaits')];
    const records = members('OutOfStepsUtils').filter((name) => name !== 'screen');
    const filters = members('AndroidNodeFilter');
    const node = members('AndroidNode');
    const pool = await createSandboxPool({
      size: 0,
      memoryMb: testMemoryMb,
      fetchPolicy: { allowPrivateAddresses: false },
    });
    const uiNode = {
      text: 't',
      description: 'd',
      viewId: 'a:id/b',
      className: 'x',
      tooltipText: null,
      boundsInScreen: { left: 0, top: 0, right: 1, bottom: 1 },
      children: [],
    };
    const { messages } = await runCode(
      pool,
      `const s = await agent.actions.screenContent(); let f; s.filterAdvanced((g) => (f = g));
       console.log(JSON.stringify([Object.keys(agent.utils.outOfSteps), ${JSON.stringify(actions)}.filter((n) => typeof agent.actions[n] !== 'function'), ${JSON.stringify(filters)}.filter((n) => typeof f[n] !== 'function'), ${JSON.stringify(node)}.filter((n) => !(n in s)), Object.keys(agent.actions).length, Object.keys(f).length]))`,
      { onCall: async () => ({ root: uiNode }) as never },
    );
    await pool.close();
    expect(JSON.parse(messages[0] ?? '')).toEqual([records, [], [], [], actions.length, filters.length]);
  });
});

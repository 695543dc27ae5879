import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { SignsToAdd } from '../../compile-process.ts';
import type { Compiler } from '../../compiler.ts';
import { createTestCompiler, filesOf } from '../../testing/files-in-memory.ts';

let compiler: Compiler;
beforeAll(async () => {
  compiler = await createTestCompiler();
});
afterAll(() => compiler.close());

const strict = '{"compilerOptions":{"strict":true,"noUnusedLocals":true,"noImplicitReturns":true}}';
const wanted: SignsToAdd = {
  name: 'PayWall',
  as: 'state',
  signs: [[{ by: 'id', id: 'pay_now' }]],
  button: null,
  claimedBy: '',
  stage: '',
};

/** Returns the changed files. Expects that the checker compiles the project before and after. */
async function added(
  contents: Record<string, string>,
  given: Partial<SignsToAdd> = {},
): Promise<{ files: Record<string, string>; diff: string }> {
  const all = { 'tsconfig.json': strict, ...contents };
  expect(await compiler.compileProject(filesOf('before', all))).toMatchObject({ ok: true });
  const [fix] = await compiler.addSigns(filesOf('shop', all), { ...wanted, ...given });
  expect(fix?.problem).toBe('');
  const files = Object.fromEntries((fix?.files ?? []).map((file) => [file.path, file.content]));
  expect(await compiler.compileProject(filesOf('after', { ...all, ...files }))).toMatchObject({ ok: true });
  return { files, diff: (fix?.files ?? []).map(({ diff }) => diff).join('') };
}

async function problemOf(contents: Record<string, string>, given: Partial<SignsToAdd> = {}): Promise<string> {
  const [fix] = await compiler.addSigns(filesOf('shop', contents), { ...wanted, ...given });
  expect(fix?.files).toEqual([]);
  return fix?.problem ?? '';
}

const addedLines = (diff: string): string[] =>
  diff.split('\n').filter((line) => /^[+-](?![+-]{2} )/.test(line));

const readSample = (name: string): Promise<string> =>
  readFile(new URL(`../../../../../../cli/samples/${name}.ts`, import.meta.url), 'utf8');
const readTutorial = async (): Promise<string> => {
  const page = await readFile(new URL('../../../../../../../docs/tutorial.md', import.meta.url), 'utf8');
  return /```ts\n([^]*?)```/.exec(page)?.[1] ?? '';
};

describe('a function that recognises screens', () => {
  it('gets a member of its enum, and a question before its last return', async () => {
    const { diff } = await added({ 'main.ts': await readSample('out-of-steps') });
    expect(addedLines(diff)).toEqual([
      "+  PayWall = 'PayWall',",
      "+  if (screen.findById('pay_now')) return ScreenState.PayWall;",
    ]);
  });

  it('asks that first when it takes the screens for another state', async () => {
    const { diff } = await added({ 'main.ts': await readTutorial() }, { claimedBy: 'Taps' });
    expect(diff).toContain(
      " function recognise(screen: AndroidNode): State {\n+  if (screen.findById('pay_now')) return State.PayWall;\n",
    );
  });

  it('may stand in another file than the enum and the plan', async () => {
    const { files } = await added({
      'main.ts': `import { recognise } from './recognise.ts';
import { State } from './states.ts';
await runStages<State>({ states: (screen) => recognise(screen), stages: [{ name: 'in', reached: State.Home, on: {} }] });
`,
      'recognise.ts': `import { State } from './states.ts';
export const recognise = (seen: AndroidNode): State => {
  if (seen.findById('home')) return State.Home;
  return State.Unknown;
};
`,
      'states.ts': "export enum State { Unknown = 'unknown', Home = 'home' }\n",
    });
    expect(files['states.ts']).toBe(
      "export enum State { Unknown = 'unknown', Home = 'home', PayWall = 'PayWall' }\n",
    );
    expect(files['recognise.ts']).toContain(
      "  if (seen.findById('pay_now')) return State.PayWall;\n  return State.Unknown;",
    );
    expect(Object.keys(files)).toHaveLength(2);
  });

  it('may return the texts of a union, and be asked in a loop of the automation', async () => {
    const { files } = await added(
      {
        'main.ts': `type State =
  | 'home' // the launcher
  | 'unknown';
function detectScreenState(screen: AndroidNode): State {
  return screen.findById('home') ? 'home' : 'unknown';
}
for (;;) {
  const screen = await agent.actions.screenContent();
  const state = detectScreenState(screen);
  await agent.utils.outOfSteps.storeScreen(screen, 'in', state, 3, ScreenshotRecord.NONE);
  if (state === 'home') break;
}
`,
      },
      {
        signs: [
          [
            { by: 'id', id: 'pay_now' },
            { by: 'text', texts: ["Don't pay", 'Später/nie'] },
          ],
        ],
      },
    );
    expect(files['main.ts']).toContain("  | 'unknown'\n  | 'PayWall';");
    expect(files['main.ts']).toContain(
      String.raw`screen.findById('pay_now') && screen.findTextOne(/^(?:Don't pay|Später\/nie)$/u) ? 'PayWall' : 'unknown'`,
    );
  });

  it('may use an object in the place of an enum', async () => {
    const { files } = await added({
      'main.ts': `const State = { Home: 'Home', Unknown: 'Unknown' } as const;
type State = (typeof State)[keyof typeof State];
const recognise = (screen: AndroidNode): State => {
  if (screen.findById('home')) return State.Home;
  return State.Unknown;
};
await runStages({ states: recognise, stages: [{ name: 'in', reached: 'Home', on: {} }] });
`,
    });
    expect(files['main.ts']).toContain("Unknown: 'Unknown', PayWall: 'PayWall' } as const");
  });

  it('may be a question in the code of a project that somebody has just begun', async () => {
    const starter = new URL('../../../../../../../packages/automation/starter/main.ts', import.meta.url);
    const { diff } = await added({
      'main.ts': await readFile(starter, 'utf8'),
      'parameters.d.ts': 'interface AutomationParameters { greeting?: string }',
    });
    expect(addedLines(diff)[1]).toContain("'Home' : screen.findById('pay_now') ? 'PayWall' : 'unknown';");
  });
});

describe('a table of states', () => {
  it('gets one more sign at its end', async () => {
    const { diff } = await added(
      {
        'main.ts': `await runStages({
  states: {
    About: 'Serial number', // of the phone
    Settings: { packageName: 'com.android.settings' },
  },
  stages: [{ name: 'about', reached: 'About', on: {} }],
});
`,
      },
      {
        signs: [
          [
            { by: 'id', id: 'pay' },
            { by: 'absent', id: 'cart' },
          ],
        ],
      },
    );
    expect(addedLines(diff)).toEqual([
      "+    PayWall: (screen) => screen.findById('pay') && !screen.findById('cart'),",
    ]);
  });

  it('gets it before the sign that holds on the screens so far', async () => {
    const { files } = await added(
      {
        'main.ts': `const states = { Settings: { packageName: 'x' }, About: 'Serial number' };
await runStages({ states, stages: [{ name: 'about', reached: 'About', on: {} }] });
`,
      },
      {
        claimedBy: 'Settings',
        signs: [
          [
            { by: 'id', id: 'a' },
            { by: 'text', texts: ['B'] },
          ],
        ],
      },
    );
    expect(files['main.ts']).toContain("{ PayWall: { id: 'a', text: 'B' }, Settings:");
  });

  it('whose names are members of an enum gets one of those', async () => {
    const { files } = await added({
      'main.ts': `import * as all from './states.ts';
await runStages<all.State>({
  states: {
    [all.State.Home]: { id: 'home' }
  },
  stages: [{ name: 'in', reached: all.State.Home, on: {} }],
});
`,
      'states.ts': "export enum State {\n  Home = 'Home'\n}\n",
    });
    expect(files['states.ts']).toBe("export enum State {\n  Home = 'Home',\n  PayWall = 'PayWall'\n}\n");
    expect(files['main.ts']).toContain(
      "    [all.State.Home]: { id: 'home' },\n    [all.State.PayWall]: { id: 'pay_now' }\n",
    );
  });

  it('whose names are a union lets that have the name', async () => {
    const { files } = await added({
      'main.ts': `await runStages<'Home' | 'Pay'>({ states: { Home: 'a', Pay: 'b' }, stages: [{ name: 'in', reached: 'Pay', on: {} }] });\n`,
    });
    expect(files['main.ts']).toContain(
      "runStages<'Home' | 'Pay' | 'PayWall'>({ states: { Home: 'a', Pay: 'b', PayWall: {",
    );
  });
});

describe('a dialog', () => {
  const dialog = { as: 'dialog', button: { by: 'id', id: 'android:id/button2' } } as const;

  it('stands behind the other ones, named as they are', async () => {
    const { diff } = await added({ 'main.ts': await readSample('out-of-steps') }, dialog);
    expect(addedLines(diff)).toEqual([
      "+  PayWall = 'PayWall',",
      '+    {',
      '+      name: ScreenState.PayWall,',
      "+      when: { id: 'pay_now' },",
      "+      do: (screen) => screen.findById('android:id/button2')?.tap(),",
      '+    },',
    ]);
  });

  it('is the first one of a plan', async () => {
    const { diff } = await added({ 'main.ts': await readTutorial() }, { ...dialog, button: null });
    expect(diff).toContain(`   states: recognise,
+  dialogs: [
+    {
+      name: 'PayWall',
+      when: { id: 'pay_now' },
+      do: () => agent.actions.back(),
+    },
+  ],
   stages: [`);
  });
});

it('the diff can be applied by git', async () => {
  const before = (await readSample('out-of-steps')).replaceAll('\n\n', '\n');
  const { files, diff } = await added({ 'main.ts': before });
  const folder = mkdtempSync(path.join(tmpdir(), 'diff-'));
  try {
    writeFileSync(`${folder}/main.ts`, before);
    const applied = spawnSync('git', ['apply', '-'], { cwd: folder, input: diff, encoding: 'utf8' });
    expect(applied.stderr).toBe('');
    expect(readFileSync(`${folder}/main.ts`, 'utf8')).toBe(files['main.ts']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe('no file changes, and the reason is told, for', () => {
  it.each([
    ['code without states', "await agent.actions.waitForText('Pay');", 'No file calls storeScreen.'],
    ['a state that is there', "await runStages({ states: { PayWall: 'x' }, stages: [] });", 'already'],
    [
      'a function that ends otherwise',
      `function f(screen: AndroidNode): string { for (;;) if (screen.findById('a')) return 'a'; }
await runStages({ states: f, stages: [] });`,
      'does not end with a return',
    ],
    [
      'a change that would not compile',
      `const states: Record<'a', ScreenSign> = { a: 'x' };
await runStages({ states, stages: [] });`,
      'would not compile: main.ts:',
    ],
  ])('%s', async (_, code, problem) => {
    expect(await problemOf({ 'main.ts': code })).toContain(problem);
  });

  it('a function that only calls itself', async () => {
    const main = `
const detect = (screen: AndroidNode): string => detect(screen);
const screen = await agent.actions.screenContent();
await agent.utils.outOfSteps.storeScreen(screen, 'home', detect(screen), 1);
export {};`;
    expect(await problemOf({ 'main.ts': main })).toContain('No function was found that returns');
  });

  it('code that is nested too deeply', async () => {
    const deep = `runStages({ states: ${'['.repeat(2000)}1${']'.repeat(2000)}, stages: [] });`;
    expect(await problemOf({ 'main.ts': deep })).toContain('No file calls');
  });
});

it('leaves what the compiler holds of the project as it was', async () => {
  const files = filesOf('kept', { 'main.ts': "await runStages({ states: { Home: 'x' }, stages: [] });\n" });
  const [first] = await compiler.addSigns(files, wanted);
  const [second] = await compiler.addSigns(files, wanted);
  expect(second).toEqual(first);
  expect(first?.files[0]?.content).toContain('PayWall');
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { parseLimits } from '../../kernel/limits/limit-settings.ts';
import { Limits } from '../../kernel/limits/limits.ts';
import { compileInTurns } from './compile-in-turns.ts';
import type { Compiler } from './compiler.ts';
import { createTestCompiler, filesOf, linesOf } from './testing/files-in-memory.ts';
import { listProcessesFromNow } from './testing/list-processes.ts';

const listProcesses = listProcessesFromNow();
let compiler: Compiler | undefined;
afterEach(async () => {
  await compiler?.close();
  compiler = undefined;
});

/** Limits of a small compiler. A fresh process compiles a typical file in a quarter of this CPU time. */
const limited = { processorMs: 2_000, maxMemoryMb: 1_500 };

const write = (target: Compiler, projectId: string, content: string): Promise<string[]> =>
  linesOf(target.compileFile(filesOf(projectId, {}), { path: 'main.ts', content }));

/** Counts to 2^40 in types. */
const endlessTypes = `
type Bits<N extends 0[]> = N['length'] extends 40 ? 1 : [Bits<[...N, 0]>, Bits<[0, ...N]>, { [K in N['length']]: N }];
type Split<S extends string> = S extends \`\${infer A}\${infer B}\` ? Split<B> | \`\${A}\${Split<B>}\` | A : '';
type D = '0'|'1'|'2'|'3'|'4'|'5'|'6'|'7'|'8'|'9';
type Hard<A, B> = A extends [infer H, ...infer R] ? B extends [infer I, ...infer S] ? [Hard<R, [...S, H]>, Hard<[...R, I], S>] : 1 : 2;
declare const x: Hard<[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20],[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]>;
const y: string = x;
let z: Bits<[]> = y;
`;

/** Depth above all limits, which would overflow the stack of a recursive function. */
const nested = 20_000;

/** Code in which each step triples the work of the checker. */
const neverReady = [
  'let a0 = 1;',
  ...Array.from({ length: 300 }, (_, n) => `let a${n + 1} = () => [a${n}, a${n}, a${n}] as const;`),
  'let q: string = a300;',
].join('\n');

describe('hostile code ends in a line', () => {
  let target: Compiler;
  beforeAll(async () => {
    target = await createTestCompiler(limited);
  });
  afterAll(() => target.close());

  test.for<[name: string, content: string]>([
    ['parentheses without end', `let a = ${'('.repeat(nested)}1${')'.repeat(nested)};`],
    ['arrays in arrays', `let a = ${'['.repeat(nested)}1${']'.repeat(nested)};`],
    ['types that never end', endlessTypes],
    [
      'recursion in types',
      'type T<N> = { a: T<[N]> }; declare let a: T<1>; declare let b: T<2>; a = b; type U<A> = A extends 1 ? 2 : U<[A]>; let c: U<0>;',
    ],
  ])('%s', async ([, content]) => {
    const lines = await write(target, 'hostile', content);
    for (const line of lines) expect(line).toMatch(/^main\.ts\(\d+,\d+\): error TS\d+: [^\n]*$/);
    // Compiles the next project, regardless of what this one did to the process.
    expect(await write(target, 'next', 'let a: string = 1;')).toHaveLength(1);
  });

  test('that stands in one another, wherever it is read', async () => {
    const content = `let a =\n${'b ? c : '.repeat(nested)}1;`;
    const refused = (path: string) => [
      expect.stringMatching(new RegExp(`^${path}\\(2,\\d+\\): error TS2589: More than 5000 operators`)),
    ];
    expect(await write(target, 'nested', content)).toEqual(refused('main.ts'));
    expect(await linesOf(target.bundleDirectCode('owner', content))).toEqual(refused('main.ts'));
    const files = filesOf('library', { 'main.ts': `import './library.js';`, 'library.js': content });
    expect(await linesOf(target.bundleProject(files))).toEqual(refused('library.js'));
    expect(await linesOf(target.compileFile(files, { path: 'main.ts', content: 'let a = 1;' }))).toEqual([]);
    const assisted = { path: 'main.ts', content, position: 100, of: 'completions' } as const;
    expect(await target.assist(files, assisted)).toMatchObject({ completions: [] });
  });

  test('that takes too much processor time', async () => {
    expect(await write(target, 'endless', neverReady)).toEqual([
      'main.ts(1,1): error TS2589: Compiling took more than 2 s of processor time. Simplify the types or split the file.',
    ]);
    expect(await write(target, 'endless', 'let a = 1;')).toEqual([]);
  });

  test('and its user does not hold up another', async () => {
    const inTurns = compileInTurns(target, new Limits(parseLimits({})).turns.compile);
    const finished: string[] = [];
    const compile = async (projectId: string, index: number): Promise<void> => {
      await write(inTurns, projectId, `let a = ${index};`);
      finished.push(projectId);
    };
    await Promise.all([
      ...Array.from({ length: 10 }, (_, index) => compile('greedy', index)),
      compile('modest', 0),
    ]);
    expect(finished.indexOf('modest')).toBeLessThan(3);
  });
});

test('what takes too long is stopped with a clear line, and holds up no other project', async () => {
  const target = await createTestCompiler({ timeoutMs: 12_000, processes: 2 });
  compiler = target;
  expect(await write(target, 'stuck', 'let a = 1;')).toEqual([]);
  const [stuck] = listProcesses();
  if (stuck === undefined) throw new Error('There is no compile process');
  // Suspends the process. It then uses no CPU time, so the CPU time limit does not end it.
  process.kill(stuck, 'SIGSTOP');
  const finished: string[] = [];
  const endless = write(target, 'stuck', 'let b = 1;').finally(() => finished.push('stuck'));
  const others = Array.from({ length: 8 }, async (_, index) => {
    const lines = await write(target, `p${index % 4}`, `let a: string = ${index};`);
    finished.push('other');
    return lines;
  });
  expect(await endless).toEqual([
    'main.ts(1,1): error TS2589: Compiling took longer than 12 s. Simplify the types or split the file.',
  ]);
  for (const lines of await Promise.all(others)) expect(lines).toHaveLength(1);
  expect(finished.indexOf('stuck')).toBe(8);
  expect(await write(target, 'stuck', 'let a = 1;')).toEqual([]);
});

test('what takes too much memory is stopped with a clear line', async () => {
  compiler = await createTestCompiler({ maxMemoryMb: 300 });
  const numbers = `let a = [${'[1,"x",{b:2}],'.repeat(1_000_000)}];`;
  expect(await write(compiler, 'large', numbers)).toEqual([
    'main.ts(1,1): error TS2589: Compiling took more than 300 MB of memory. Simplify the types or split the file.',
  ]);
});

test('a process that is killed costs no compilation', async () => {
  const target = await createTestCompiler({ processes: 2 });
  compiler = target;
  await write(target, 'warm', '');
  const working = Array.from({ length: 12 }, (_, index) =>
    write(target, `p${index % 5}`, `let a: string = ${index};`),
  );
  for (const id of listProcesses()) process.kill(id, 'SIGKILL');
  for (const lines of await Promise.all(working))
    expect(lines).toEqual(["main.ts(1,5): error TS2322: Type 'number' is not assignable to type 'string'."]);
});

test('many projects do not take more and more memory', async () => {
  const target = await createTestCompiler({ maxWarmProjects: 5, maxMemoryMb: 1_000 });
  compiler = target;
  for (let index = 0; index < 60; index++)
    expect(await write(target, `p${index}`, `export const a${index}: string = ${index};`)).toHaveLength(1);
  expect(await target.memoryUse()).toBeLessThan(700 * 1024 * 1024);
  expect(listProcesses()).not.toEqual([]);
});

test('no process is left after closing', async () => {
  const target = await createTestCompiler({ processes: 2 });
  await Promise.all([write(target, 'a', ''), write(target, 'b', '')]);
  expect(listProcesses()).not.toEqual([]);
  await target.close();
  expect(listProcesses()).toEqual([]);
  await expect(write(target, 'a', '')).rejects.toThrow('closed');
});

/** Whether any process of the group still runs. */
function isGroupAlive(processId: number): boolean {
  try {
    return process.kill(-processId, 0);
  } catch {
    return false;
  }
}

test('a compile process at work does not outlive a server that is killed', async () => {
  const script = `
    import { createTestCompiler, filesOf } from ${JSON.stringify(new URL('testing/files-in-memory.ts', import.meta.url).href)};
    const compiler = await createTestCompiler();
    await compiler.compileFile(filesOf('a', {}), { path: 'main.ts', content: '' });
    void compiler.compileFile(filesOf('a', {}), { path: 'main.ts', content: ${JSON.stringify(neverReady)} });
    setTimeout(() => console.log('at work'), 500);`;
  const server = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await Promise.race([once(server.stdout, 'data'), once(server, 'exit')]);
  const [worker] = listProcesses(server.pid);
  if (worker === undefined) throw new Error('There is no compile process');
  expect(isGroupAlive(worker)).toBe(true);
  server.kill('SIGKILL');
  await expect.poll(() => isGroupAlive(worker)).toBe(false);
});

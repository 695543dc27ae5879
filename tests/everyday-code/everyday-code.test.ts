// Checks that code as tutorials and language models write it compiles unchanged and prints what Node prints.
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createSandboxPool } from '../../apps/host/src/sandbox/pool/sandbox-pool.ts';
import { runCode, testMemoryMb } from '../../apps/host/src/sandbox/testing/code-runs.ts';
import type { Compiler } from '../../apps/server/src/code/compile/compiler.ts';
import {
  createTestCompiler,
  filesOf,
  linesOf,
} from '../../apps/server/src/code/compile/testing/files-in-memory.ts';
import { readSnippets, type Snippet } from './read-snippets.ts';
import { startEchoServer, type EchoServer } from './start-echo-server.ts';

const starter = fileURLToPath(import.meta.resolve('@phalanx/automation/starter/tsconfig'));
const older = '{"compilerOptions":{"strict":true,"target":"es2018","lib":["es2018"],"module":"commonjs"}}';

let compiler: Compiler;
let server: EchoServer;
let snippets: Snippet[];
beforeAll(async () => {
  [compiler, server, snippets] = await Promise.all([createTestCompiler(), startEchoServer(), readSnippets()]);
});
afterAll(() => Promise.all([compiler.close(), server.close()]));

/** Snippets that need "strict": without it the compiler can't discriminate a union by a boolean. */
const strictAlone = ['waits-and-errors: a result type'];

const pathOf = (index: number): string => `snippet-${index}.ts`;

/** Returns one project with each snippet as a module, which runs them one after the other. */
function projectOf(tsconfig: string | undefined): Record<string, string> {
  const steps = snippets.map(
    ({ name }, index) =>
      `console.log(${JSON.stringify(`#### ${name}`)}); await import('./snippet-${index}').catch((e) => console.log('FAILED', String(e)));`,
  );
  return {
    'main.ts': [`globalThis.server = '${server.url}';`, ...steps].join('\n'),
    'server.d.ts': 'declare var server: string;',
    ...Object.fromEntries(snippets.map(({ code }, index) => [pathOf(index), code])),
    ...(tsconfig === undefined ? {} : { 'tsconfig.json': tsconfig }),
  };
}

/** Replaces paths in error lines with the names of the snippets. */
const named = (lines: readonly string[]): string[] =>
  lines.map((line) =>
    line.replace(/^snippet-(\d+)\.ts/, (_, index) => snippets[Number(index)]?.name ?? line),
  );

/** Returns the lines that each snippet printed. */
function bySnippet(printed: string): Record<string, string> {
  const [, ...parts] = printed.split(/^#### /m);
  return Object.fromEntries(
    parts.map((part) => {
      const end = part.indexOf('\n');
      return [part.slice(0, end), part.slice(end + 1).trimEnd()];
    }),
  );
}

async function printedByNode(code: string): Promise<string> {
  const node = spawn(process.execPath, ['-'], { env: { TZ: 'UTC' } });
  node.stdin.end(`(async () => {${code}\n})().then(() => process.exit());`);
  const [printed, complained] = await Promise.all([text(node.stdout), text(node.stderr)]);
  expect(complained).toBe('');
  return printed;
}

async function printedBySandbox(code: string): Promise<string> {
  const pool = await createSandboxPool({
    size: 0,
    memoryMb: testMemoryMb,
    fetchPolicy: { allowPrivateAddresses: true },
  });
  const { end, messages } = await runCode(pool, code);
  await pool.close();
  expect(end).toEqual({ outcome: 'completed', error: null });
  return messages.join('\n');
}

describe('two hundred pieces of everyday code', () => {
  it('are there', () => expect(snippets.length).toBeGreaterThanOrEqual(200));

  it.each<[project: string, readConfig: () => Promise<string | undefined>]>([
    ['without a tsconfig.json', async () => undefined],
    ['as "phalanx project create" makes it', () => readFile(starter, 'utf8')],
    ['with an older target and library', async () => older],
  ])('compile in a project %s', async (_, readConfig) => {
    const config = await readConfig();
    const files = filesOf('everyday', projectOf(config));
    const lines = named(await linesOf(compiler.compileProject(files)));
    const isStrict = config?.includes('"strict"') === true;
    expect(lines.filter((line) => isStrict || !strictAlone.some((name) => line.startsWith(name)))).toEqual(
      [],
    );
  });

  it('compile as direct code', async () => {
    const lines = await Promise.all(
      snippets.map(async ({ name, code }) =>
        (await linesOf(compiler.bundleDirectCode('ada', code))).map((line) => `${name}: ${line}`),
      ),
    );
    expect(lines.flat()).toEqual([]);
  });

  it('print in the sandbox what they print in Node', async () => {
    const bundled = await compiler.bundleProject(filesOf('everyday', projectOf(undefined)));
    if (!bundled.ok) throw new Error(bundled.errors.join('\n'));
    const expected = bySnippet(await printedByNode(bundled.code));
    expect(Object.entries(expected).filter(([, printed]) => /^FAILED|^$/.test(printed))).toEqual([]);
    expect(bySnippet(await printedBySandbox(bundled.code))).toEqual(expected);
  });
});

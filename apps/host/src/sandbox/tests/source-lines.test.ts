import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createSandboxPool, type SandboxPool } from '../pool/sandbox-pool.ts';
import { runCode, testMemoryMb, type TestResult } from '../testing/code-runs.ts';

let pool: SandboxPool;
beforeAll(async () => {
  pool = await createSandboxPool({
    size: 1,
    memoryMb: testMemoryMb,
    fetchPolicy: { allowPrivateAddresses: false },
  });
});
afterAll(() => pool.close());

/** Runs files in the form of a bundled project: TypeScript modules in one script, with a map to the user's files. */
async function runFiles(files: Record<string, string>, minify = false): Promise<TestResult> {
  const { outputFiles } = await build({
    entryPoints: ['main.ts'],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2023',
    minify,
    sourcemap: 'external',
    sourcesContent: false,
    outfile: 'main.js',
    plugins: [
      {
        name: 'files',
        setup(builder) {
          builder.onResolve({ filter: /.*/ }, ({ path }) => ({
            path: path.replace('./', ''),
            namespace: 'project',
          }));
          builder.onLoad({ filter: /.*/ }, ({ path }) => ({ contents: files[path] ?? '', loader: 'ts' }));
        },
      },
    ],
  });
  const text = (end: string): string => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? '';
  const map = JSON.parse(text('.js.map')) as { sources: string[] };
  const sources = map.sources.map((source) => source.replace('project:', ''));
  return runCode(pool, text('main.js'), { sourceMap: JSON.stringify({ ...map, sources }) });
}

const files = {
  'main.ts': `// a comment
import { fail, say } from './steps.ts';

interface Unused {
  a: string;
}

say('from main');
console.log('here');
await null;
for (const x of [1, 2] as number[]) {
  console.warn('loop', x);
}
fail(5 as unknown as Unused);
`,
  'steps.ts': `export function say(text: string): void {
  console.log(text);
}


export function fail(value: unknown): never {
  throw new TypeError(\`failed with \${value}\`);
}
`,
};

describe.each([false, true])('with minified code: %s', (minify) => {
  it('log entries have the line of the file the user wrote', async () => {
    const { logs } = await runFiles(files, minify);
    expect(logs.slice(0, 4).map(({ message, path, lineNumber }) => [message, path, lineNumber])).toEqual([
      ['from main', 'steps.ts', 2],
      ['here', 'main.ts', 9],
      ['loop 1', 'main.ts', 12],
      ['loop 2', 'main.ts', 12],
    ]);
  });

  it('an uncaught error has its stack in the user’s files', async () => {
    const { logs, end } = await runFiles(files, minify);
    const places = [...(end.error?.stack ?? '').matchAll(/\w+\.ts:\d+/g)].map(([place]) => place);
    expect(places).toEqual(['steps.ts:7', 'main.ts:14']);
    expect(logs.at(-1)).toMatchObject({ level: 'error', path: 'steps.ts', lineNumber: 7 });
    expect(end.error?.message).toBe('TypeError: failed with 5');
  });
});

it('a printed error has its stack in the user’s files', async () => {
  const { messages } = await runFiles({ 'main.ts': `type A = 1;\n\nconsole.log(new Error('shown'));` });
  expect(messages[0]).toMatch(/^Error: shown\n {4}at main\.ts:3:13$/);
});

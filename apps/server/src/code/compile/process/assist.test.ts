import { readFile } from 'node:fs/promises';
import type { CodePlace } from '@phalanx/protocol';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import type { Compiler, PlaceInCode } from '../compiler.ts';
import type { Assistance } from './messages.ts';
import { createTestCompiler, filesOf } from '../testing/files-in-memory.ts';

const log = { warn: vi.fn<() => void>() };
let compiler: Compiler;
beforeAll(async () => {
  compiler = await createTestCompiler({ log });
});
afterAll(() => compiler.close());

const files = {
  'lib.ts': `/** Pays an amount. */
export function pay(amount: number, to?: string): boolean { return amount > 0 && to !== ''; }
export const sides: { side: 'left' | 'right' } = { side: 'left' };`,
  'data.json': '{"price": 3}',
};

/** Asks about the cursor position, marked by `|` in the code. */
const ask = (code: string, of: PlaceInCode['of']): Promise<Assistance> => {
  const change = { path: 'main.ts', content: code.replace('|', ''), position: code.indexOf('|'), of };
  return compiler.assist(filesOf('shop', files), change);
};
const symbolAt = async (code: string) => (await ask(code, 'symbol')).symbol;
const namesAt = async (code: string) => (await ask(code, 'completions')).completions.map(({ name }) => name);

describe('what stands at a place', () => {
  it('is told with its type, its documentation and how it is called', async () => {
    expect(await symbolAt(`import { pay } from './lib.ts';\np|ay(1);`)).toEqual({
      name: 'pay',
      type: '(amount: number, to?: string) => boolean',
      documentation: 'Pays an amount.',
      signatures: [{ parameters: ['amount: number', 'to?: string'], returns: 'boolean' }],
    });
    const found = await symbolAt(`const node = await agent.actions.waitForT|ext('Pay',`);
    expect(found).toMatchObject({
      documentation: expect.stringContaining('Waits for a node'),
      signatures: [{ parameters: ['text: string | RegExp', 'options?: WaitOptions'] }],
    });
    expect(await symbolAt(`import data from './data.json';\ndata.pri|ce;`)).toMatchObject({ type: 'number' });
  });

  it('never tells where things lie on the server', async () => {
    const code = "import * as lib from './lib.ts';\nimport * as all from '.';\nconsole.log(li|b, all);";
    expect(await symbolAt(code)).toMatchObject({ name: 'lib', type: 'typeof import("lib")' });
  });

  it.each(['|', '// wo|rd', '1 |+ 1;', "const text = 'wo|rd';"])('is nothing in %s', async (code) => {
    expect(await symbolAt(code)).toBe(null);
  });
});

it('has an answer at every place of a text, also of one that is cut', async () => {
  const sample = new URL('../../../../../cli/samples/out-of-steps.ts', import.meta.url);
  const whole = await readFile(sample, 'utf8');
  const found: Assistance[] = [];
  // Steps by an odd number, so that every other text is cut.
  for (let position = 0; position <= whole.length; position += 35)
    for (const of of ['symbol', 'completions'] as const) {
      const content = position % 2 === 0 ? whole : whole.slice(0, position);
      found.push(await compiler.assist(filesOf('shop', {}), { path: 'main.ts', content, position, of }));
    }
  expect(found.filter(({ symbol }) => symbol !== null).length).toBeGreaterThan(20);
  const { warn } = log;
  expect(warn).not.toHaveBeenCalled();
});

describe('what could stand at a place', () => {
  it('are the members of what stands before the dot, with type and documentation', async () => {
    const { completions } = await ask(
      'const screen = await agent.actions.screenContent();\nscreen.ta|',
      'completions',
    );
    expect(completions.find(({ name }) => name === 'tap')).toMatchObject({
      kind: 'method',
      documentation: expect.stringContaining('Taps'),
    });
  });

  it('are the words of a union, and the keys of an object', async () => {
    expect(await namesAt(`import { sides } from './lib.ts';\nsides.side = '|';`)).toEqual(['left', 'right']);
    expect(await namesAt(`import { sides } from './lib.ts';\nconst { | } = sides;`)).toContain('side');
  });

  it('are the names that every file sees, where one stands alone', async () => {
    expect(await namesAt('age|')).toEqual(expect.arrayContaining(['agent', 'runStages']));
  });

  it('leaves what is saved as it is', async () => {
    const saved = filesOf('kept', { 'main.ts': 'export const x = 1;' });
    const draft = { path: 'main.ts', content: "export const x = 'text';", position: 14 };
    const { symbol } = await compiler.assist(saved, { ...draft, of: 'symbol' });
    expect(symbol?.type).toBe("'text'".replaceAll("'", '"'));
    const change = { path: 'other.ts', content: "import { x } from './main.ts';\nx.toFixed();" };
    expect(await compiler.compileFile(saved, change)).toMatchObject({ ok: true, warnings: [] });
  });
});

describe('where a name stands', () => {
  const textAt = (sources: Readonly<Record<string, string>>, { path, start, end }: CodePlace): string =>
    `${path}: ${sources[path]?.slice(start, end)}`;

  it('is told for the whole project, with the definition first of all', async () => {
    const main = "import { pay } from './lib.ts';\np|ay(1);\npay(2);";
    const { references } = await ask(main, 'references');
    const sources = { ...files, 'main.ts': main.replace('|', '') };
    expect(references.references.map((place) => textAt(sources, place)).toSorted()).toEqual([
      'lib.ts: pay',
      ...Array.from({ length: 3 }, () => 'main.ts: pay'),
    ]);
    expect(references.definition?.path).toBe('lib.ts');
    expect(references.definition && textAt(sources, references.definition)).toMatch(/^lib.ts: .*pay/);
  });

  it('is nowhere in the project for what the service declares, and for what is no name', async () => {
    expect((await ask('await agent.actions.ba|ck();', 'references')).references.definition).toBe(null);
    expect((await ask('1 |+ 1;', 'references')).references).toEqual({ definition: null, references: [] });
  });
});
